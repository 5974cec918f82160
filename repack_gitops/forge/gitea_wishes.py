"""Labels, reviewers and assignees on Gitea.

Each is wished for alone, so that one unknown name costs only itself, and once: Gitea answers 500 for some names, and what
is still missing is wished for again by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from repack_gitops.errors import ForgeFailed, TryAgain
from repack_gitops.forge.gitea_json import understood
from repack_gitops.forge.http import HttpSession
from repack_gitops.forge.interface import Shortfall

_LABEL_COLOUR = "#5319e7"
_LONGEST_LABEL = 50

Shortfalls = tuple[Shortfall, ...]


class GiteaWishes:
    """What is nice to have on a pull request.

    Parameters
    ----------
    session
        Speaks with the forge.
    root
        Path of the repository in the API.
    """

    def __init__(self, session: HttpSession, root: str) -> None:
        self._session, self._root = session, root

    def set_labels(self, number: int, add: Iterable[str], remove: Iterable[str]) -> Shortfalls:
        """Add and remove labels; see ``Forge.set_labels``."""
        path = f"{self._root}/issues/{number}/labels"
        present = self._ids_by_name(path)
        missing = [name for name in _once(add) if name not in present]
        known = self._ids_by_name(f"{self._root}/labels") if missing else {}
        adding = [(name, partial(self._add_label, path, name, known)) for name in missing]
        obsolete = [name for name in _once(remove) if name in present]
        removing = [(name, partial(self._remove_label, f"{path}/{present[name]}")) for name in obsolete]
        return _tried([(f"label {name!r} was not set", act) for name, act in [*adding, *removing]])

    def request_reviewers(self, number: int, users: Iterable[str]) -> Shortfalls:
        """Ask for reviews; see ``Forge.request_reviewers``. Who was asked or has answered is not asked again."""
        path = f"{self._root}/pulls/{number}"
        asked = self._asked(path, number)
        asking = [(name, partial(self._ask, path, name)) for name in _once(users) if _key(name) not in asked]
        return _tried([(f"{name!r} was not asked for a review", act) for name, act in asking])

    def set_assignees(self, number: int, users: Iterable[str]) -> Shortfalls:
        """Add assignees; see ``Forge.set_assignees``."""
        # Gitea answers 500 for an unknown user below /issues, and 422 below /pulls.
        path = f"{self._root}/pulls/{number}"
        pull = self._session.get(path).content
        with understood(f"the assignees of pull request {number}"):
            present = [str(user["login"]) for user in pull["assignees"] or ()]
        known = {name.lower() for name in present}
        adding = [(name, partial(self._assign, path, name, present)) for name in _once(users) if name.lower() not in known]
        return _tried([(f"{name!r} was not made an assignee", act) for name, act in adding])

    def _ids_by_name(self, path: str) -> dict[str, int]:
        labels = list(self._session.pages(path))
        with understood("labels"):
            return {str(label["name"]): int(label["id"]) for label in labels}

    def _add_label(self, path: str, name: str, known: dict[str, int]) -> None:
        if len(name) > _LONGEST_LABEL:
            raise ForgeFailed(f"it has more than {_LONGEST_LABEL} characters")
        if name not in known:
            answer = self._session.write("POST", f"{self._root}/labels", {"name": name, "color": _LABEL_COLOUR}).content
            with understood("the new label"):
                known[name] = int(answer["id"])
        self._session.write("POST", path, {"labels": [known[name]]})

    def _remove_label(self, path: str) -> None:
        # Somebody else may have removed it, or deleted the label, meanwhile.
        self._session.write("DELETE", path, expect=(404, 422), repeatable=False)

    def _asked(self, path: str, number: int) -> set[str]:
        pull, reviews = self._session.get(path).content, list(self._session.pages(f"{path}/reviews"))
        with understood(f"the reviewers of pull request {number}"):
            people = [*(pull["requested_reviewers"] or ()), *(review["user"] for review in reviews)]
            teams = [*(pull.get("requested_reviewers_teams") or ()), *(review.get("team") for review in reviews)]
            names = [user["login"] for user in people if user] + [f"team/{team['name']}" for team in teams if team]
            return {_key(name) for name in names}

    def _ask(self, path: str, name: str) -> None:
        organization, _, team = name.rpartition("/")
        content = {"team_reviewers": [team]} if organization else {"reviewers": [name]}
        self._session.write("POST", f"{path}/requested_reviewers", content)

    def _assign(self, path: str, name: str, present: list[str]) -> None:
        self._session.write("PATCH", path, {"assignees": [*present, name]}, repeatable=False)
        present.append(name)


def _key(name: str) -> str:
    organization, _, own = name.lower().rpartition("/")
    return f"team/{own}" if organization else own


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _tried(wishes: list[tuple[str, Callable[[], None]]]) -> Shortfalls:
    shortfalls = []
    for text, act in wishes:
        try:
            act()
        except (ForgeFailed, TryAgain) as error:
            shortfalls.append(Shortfall(f"{text}: {error.message}"))
    return tuple(shortfalls)
