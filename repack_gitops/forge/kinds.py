"""The kinds of forge there are, and how each is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from repack_gitops.errors import InvalidInput
from repack_gitops.forge.gitea import NEEDS, GiteaForge
from repack_gitops.forge.http import HttpSession
from repack_gitops.forge.interface import Forge
from repack_gitops.forge.none import NoForge
from repack_gitops.forge.patience import Patience
from repack_gitops.model.redaction import Redactor

_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class _Address:
    kind: str
    url: str
    repository: str
    token: str = field(repr=False)
    redactor: Redactor
    patience: Patience
    ca_file: Path | None


def open_forge(
    kind: str,
    url: str,
    repository: str,
    token: str,
    *,
    redactor: Redactor | None = None,
    patience: Patience | None = None,
    ca_file: Path | None = None,
) -> Forge:
    """Return the forge that a repository is on; nothing is sent yet.

    Parameters
    ----------
    kind
        ``gitea``, ``forgejo`` or ``none``.
    url
        The forge's root; for ``none``, the URL that git clones from.
    repository
        ``owner/name``; ignored for ``none``.
    token
        Belongs to the bot user; ignored for ``none``.
    redactor
        Knows further secrets; ``token`` is always hidden.
    patience
        Time limits and retries.
    ca_file
        Certificate authorities to trust instead of the system's.

    Raises
    ------
    InvalidInput
        The kind is unknown, or an argument cannot be used.
    """
    known = (redactor or Redactor()).also(token)
    if kind not in KINDS:
        raise InvalidInput(f"{kind!r} is not a kind of forge", hint=f"Use one of {', '.join(sorted(KINDS))}.")
    return KINDS[kind](_Address(kind, url.rstrip("/"), repository, token, known, patience or Patience(), ca_file))


def _open_gitea(address: _Address) -> Forge:
    _check(address)
    session = HttpSession(
        f"{address.url}/api/v1",
        token_header=("Authorization", f"token {address.token}"),
        needs=NEEDS,
        redactor=address.redactor,
        patience=address.patience,
        ca_file=address.ca_file,
    )
    return GiteaForge(address.kind, address.url, address.repository, session)


def _open_none(address: _Address) -> Forge:
    return NoForge(address.url)


def _check(address: _Address) -> None:
    parts = urlsplit(address.url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(
            f"{address.redactor(address.url)!r} is not the URL of a forge",
            hint="Give its root, such as https://git.example.com; credentials go into the token.",
        )
    if not _REPOSITORY.fullmatch(address.repository) or ".." in address.repository:
        raise InvalidInput(f"{address.repository!r} is not the name of a repository", hint="Write it as owner/name.")
    if not address.token or not address.token.isascii() or not address.token.isprintable() or " " in address.token:
        raise InvalidInput("the forge's token is empty or contains odd characters", hint="Check the secret's content.")
    if address.ca_file and not address.ca_file.is_file():
        raise InvalidInput(f"the CA file {address.ca_file} does not exist", hint="Check the mount of the CA file.")


KINDS: Mapping[str, Callable[[_Address], Forge]] = {"forgejo": _open_gitea, "gitea": _open_gitea, "none": _open_none}
