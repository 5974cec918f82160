"""The token reaches git through GIT_ASKPASS and the environment of one call: never a URL, an argument or a config."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from repack_gitops.errors import InvalidInput

_SCHEMES = ("https", "http", "ssh", "file")
_SCP_LIKE = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:(?!:)[^\s]+")

# The prompt names the server that asks ("Password for 'https://bot@git.example.com': "). Only the one server the
# token was issued for gets an answer, so a redirect or a rewritten URL cannot carry it elsewhere.
_ASKPASS = """\
#!/bin/sh
case "$1" in
  "Username for '$REPACK_ASKPASS_SCHEME://$REPACK_ASKPASS_HOST': ") printf '%s\\n' "$REPACK_ASKPASS_USERNAME" ;;
  "Password for '$REPACK_ASKPASS_SCHEME://$REPACK_ASKPASS_USERNAME@$REPACK_ASKPASS_HOST': ")
    printf '%s\\n' "$REPACK_ASKPASS_TOKEN" ;;
  *) exit 1 ;;
esac
"""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and a token, valid for one server only.

    Parameters
    ----------
    username
        GitHub: ``x-access-token``; GitLab: ``oauth2``; Gitea and Forgejo: any.
    token
        The secret; it never appears in a representation of this object.
    scheme, host
        The server it is for; ``host`` includes the port if the URL does.
    """

    username: str
    token: str = field(repr=False)
    scheme: str
    host: str

    @staticmethod
    def for_url(url: str, token: str, username: str = "x-access-token") -> Credentials:
        """Return credentials that only the server of ``url`` gets to see."""
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise InvalidInput(f"a token needs an http(s) URL, not {url!r}", hint="Give the https URL of the repository.")
        if not token.strip() or not token.isprintable():
            raise InvalidInput("the token is empty or contains control characters", hint="Check the secret's content.")
        if not re.fullmatch(r"[A-Za-z0-9._-]+", username):
            raise InvalidInput(f"{username!r} cannot be a user name for a token", hint="Use letters, digits and . _ -")
        return Credentials(username, token, parts.scheme, parts.netloc.rpartition("@")[2])

    def environment(self, askpass: Path, url: str) -> dict[str, str]:
        """Return what git needs to authenticate to ``url``; empty if that is not the server of this token."""
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc) != (self.scheme, self.host):
            return {}
        return {
            "GIT_ASKPASS": str(askpass),
            "REPACK_ASKPASS_SCHEME": self.scheme,
            "REPACK_ASKPASS_HOST": self.host,
            "REPACK_ASKPASS_USERNAME": self.username,
            "REPACK_ASKPASS_TOKEN": self.token,
        }


def write_askpass(directory: Path) -> Path:
    """Write the askpass program into a private directory; it contains no secret."""
    script = directory / "askpass"
    script.write_text(_ASKPASS, encoding="utf-8")
    script.chmod(0o700)
    return script


def safe_url(url: str) -> str:
    """Return ``url`` if git may be given it: a known scheme or an absolute path, and no password inside."""
    scheme, separator, _ = url.partition("://")
    known = scheme in _SCHEMES if separator else (url.startswith("/") or bool(_SCP_LIKE.fullmatch(url)))
    if not known or not url.isprintable():
        raise InvalidInput(
            f"git may not use the URL {_without_userinfo(url)!r}", hint=f"Use one of {', '.join(_SCHEMES)}, or a path."
        )
    userinfo = urlsplit(url).netloc.rpartition("@")[0] if separator else ""
    if ":" in userinfo or (userinfo and scheme != "ssh"):
        raise InvalidInput(
            f"the URL {_without_userinfo(url)!r} contains credentials",
            hint="Remove them from the URL and pass the token separately; it would end in logs and in git's config.",
        )
    return url


def remote_of_checkout(origin: str | None) -> str | None:
    """Return the URL to use for the ``origin`` found in somebody's clone, without userinfo; None if it is no server."""
    bare = re.sub(r"^(https?://)[^/\s]*@", r"\1", origin or "")
    is_server = bare.startswith(("https://", "http://", "ssh://")) or _SCP_LIKE.fullmatch(bare)
    return bare if is_server and bare.isprintable() else None


def _without_userinfo(url: str) -> str:
    return re.sub(r"(://)[^/\s]*@", r"\1***@", url)
