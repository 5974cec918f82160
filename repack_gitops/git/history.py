"""Reading commits."""

from __future__ import annotations

from datetime import datetime

from repack_gitops.git.interface import Commit, Identity
from repack_gitops.git.store import Store
from repack_gitops.model.trailers import parse_trailers

# NUL cannot occur in a commit message, so no name and no message can forge a field.
_FIELDS = ("%H", "%P", "%an", "%ae", "%aI", "%cn", "%ce", "%cI", "%B")


def commits(store: Store, base: str, tip: str) -> tuple[Commit, ...]:
    """Return the commits that ``tip`` has and ``base`` has not, newest first."""
    out = store.check(
        "log", "--no-show-signature", "--no-mailmap", "--topo-order", "-z", f"--format={'%x00'.join(_FIELDS)}", f"{base}..{tip}"
    ).out.decode("utf-8", "replace")
    fields = out.split("\0")
    size = len(_FIELDS)
    return tuple(_commit(fields[at : at + size]) for at in range(0, len(fields) - size + 1, size))


def merge_base(store: Store, left: str, right: str) -> str | None:
    """Return the newest common ancestor; of several the one with the smallest id, so that the answer is stable."""
    answer = store.run("merge-base", "--all", left, right)
    return min(answer.text.split(), default=None) if answer.code == 0 else None


def _commit(fields: list[str]) -> Commit:
    commit, parents, author, author_email, authored, committer, committer_email, committed, message = fields
    subject, _, body = message.strip("\n").partition("\n")
    return Commit(
        id=commit,
        parents=tuple(parents.split()),
        author=Identity(author, author_email),
        authored_at=datetime.fromisoformat(authored),
        committer=Identity(committer, committer_email),
        committed_at=datetime.fromisoformat(committed),
        subject=subject,
        body=body.strip("\n"),
        trailers=parse_trailers(body),
    )
