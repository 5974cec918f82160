"""The private bare repository that all work is done in.

Nothing but this project writes its config, so nothing in it can start a program. A checkout of somebody else lends
its objects through ``alternates`` and its refs are copied once; its own config takes part in no further command, and
its refs, index and working tree are never written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git.command import DEFAULT_OUTPUT_LIMIT, Answer, Git, brief
from repack_gitops.git.refs import is_object_id, split_revision

_ABBREVIATED = re.compile(r"[0-9a-f]{7,64}")
_LENT_REFS = ("refs/heads", "refs/remotes", "refs/tags", "refs/pull")


@dataclass(frozen=True)
class Store:
    """A private git directory and the git that works in it.

    Parameters
    ----------
    git
        Runs git.
    directory
        The bare repository.
    area
        A private directory for temporary files.
    timeout
        Seconds that one local command may take.
    """

    git: Git
    directory: Path
    area: Path
    timeout: float

    def run(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> Answer:
        """Run git in the store, whatever its exit code."""
        return self.git.run(*args, directory=self.directory, env=self._env(env), stdin=stdin, timeout=self.timeout)

    def check(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        limit: int = DEFAULT_OUTPUT_LIMIT,
    ) -> Answer:
        """Run git in the store; a non-zero exit code raises GitFailed."""
        return self.git.check(
            *args, directory=self.directory, env=self._env(env), stdin=stdin, timeout=self.timeout, limit=limit
        )

    def resolve(self, ref: str) -> str | None:
        """Return the commit that ``ref`` names, or None."""
        name, walk = split_revision(ref)
        for candidate in _candidates(name):
            answer = self.run("rev-parse", "--verify", "--quiet", f"{candidate}{walk}^{{commit}}")
            if answer.code == 0 and is_object_id(answer.text.strip()):
                return answer.text.strip()
        return None

    def require(self, ref: str) -> str:
        """Return the commit that ``ref`` names; raise GitFailed if there is none."""
        commit = self.resolve(ref)
        if commit is None:
            raise GitFailed(f"the repository has no commit {ref!r}", hint="Fetch the branch first, with its whole history.")
        return commit

    def _env(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {"GIT_DIR": str(self.directory), **(env or {})}


@dataclass(frozen=True, slots=True)
class Lender:
    """What a checkout lends: where its objects are, what its refs point at, where it was cloned from."""

    object_format: str
    objects: Path
    shallow: Path
    refs: tuple[tuple[str, str], ...]
    head: str | None
    origin: str | None


def _candidates(name: str) -> Iterator[str]:
    # Full names only: by git's own order a tag called `main` would win over the branch.
    if name == "HEAD" or name.startswith("refs/") or is_object_id(name):
        yield name
        return
    if name.startswith("origin/"):
        yield f"refs/remotes/{name}"
    yield from (f"refs/heads/{name}", f"refs/remotes/origin/{name}", f"refs/tags/{name}")
    if _ABBREVIATED.fullmatch(name):
        yield name


def create_store(git: Git, directory: Path, area: Path, object_format: str, timeout: float) -> Store:
    """Create an empty private store in ``directory``, which must not exist or be empty."""
    if directory.exists() and any(directory.iterdir()):
        raise InvalidInput(f"{directory} is not empty", hint="Give a new or an empty directory to clone into.")
    # No template: one could bring hooks and config along.
    git.check("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", str(directory), directory=area)
    return Store(git, directory, area, timeout)


def borrow(store: Store, lender: Lender) -> None:
    """Make the objects, refs and HEAD of ``lender`` visible in ``store``."""
    (store.directory / "objects/info/alternates").write_text(f"{lender.objects}\n", encoding="utf-8")
    if lender.shallow.is_file():
        (store.directory / "shallow").write_bytes(lender.shallow.read_bytes())
    if lender.head:
        store.check("update-ref", "--no-deref", "HEAD", lender.head)
    lines = "".join(f"update {name} {commit}\n" for name, commit in lender.refs)
    store.check("update-ref", "--stdin", stdin=lines.encode("utf-8", "surrogateescape"))


def look_at(git: Git, path: Path) -> Lender:
    """Return what the repository at ``path`` lends.

    These are the only commands that run under that repository's config. None of them reads its index, its working
    tree or a missing object, none talks to a network, and no transport is allowed.
    """
    env = {"GIT_ALLOW_PROTOCOL": "none"}
    trusted = ("-c", f"safe.directory={path.resolve()}")

    def ask(*args: str) -> Answer:
        return git.run(*trusted, *args, directory=path, env=env)

    where = ask("rev-parse", "--show-object-format", "--path-format=absolute", "--git-path", "objects", "--git-path", "shallow")
    if where.code != 0:
        raise InvalidInput(f"{path} is not a usable git repository: {brief(where.err)}", hint=_hint(where.err))
    object_format, objects, shallow = _three_lines(path, where.text)
    head = ask("rev-parse", "--verify", "--quiet", "HEAD").text.strip()
    origin = ask("config", "--local", "--get", "remote.origin.url").text.strip()
    refs = ask("for-each-ref", "--format=%(objectname) %(refname)", *_LENT_REFS).text
    return Lender(object_format, Path(objects), Path(shallow), _refs(refs), head or None, origin or None)


def _three_lines(path: Path, text: str) -> tuple[str, str, str]:
    lines = text.splitlines()
    if len(lines) != 3:
        raise InvalidInput(f"the path of {path} contains a line break", hint="Move the repository.")
    return lines[0], lines[1], lines[2]


def _refs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = re.findall(r"^([0-9a-f]{40,64}) (refs/.+)$", text, re.MULTILINE)
    return tuple((name, commit) for commit, name in pairs)


def _hint(err: str) -> str:
    if "dubious ownership" in err or "safe.directory" in err:
        return "The directory belongs to another user; run as its owner."
    return "Give the path of a clone."
