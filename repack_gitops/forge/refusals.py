"""A forge's refusals, with what to do about them."""

from __future__ import annotations

from typing import Any

from repack_gitops.errors import ForgeFailed, RepackError, TryAgain

_TELLING = 500


def told(content: Any, text: str) -> str:
    """Return what the forge said in an answer, as one line."""
    said = content.get("message") or content.get("error") if isinstance(content, dict) else None
    details = content.get("errors") if isinstance(content, dict) else None
    parts = [_flat(said) if said else "" if isinstance(content, dict | list) else text, _flat(details) if details else ""]
    line = " ".join(" ".join(part for part in parts if part).split())
    return line if len(line) <= _TELLING else line[: _TELLING - 1] + "…"


def refusal(status: int, request: str, message: str, needs: str) -> RepackError:
    """Return the error to raise.

    Parameters
    ----------
    status
        HTTP status, 400 or more.
    request
        Method and URL.
    message
        What the forge said, scrubbed.
    needs
        The permissions that the token needs on this kind of forge.
    """
    what = f"{request} was refused: {status} {message}".rstrip()
    match status:
        case 401:
            return ForgeFailed(f"{what}: the token is expired or wrong", hint="Create a new token and put it into the secret.")
        case 403:
            return ForgeFailed(f"{what}: the token lacks a permission", hint=f"The token needs {needs}.")
        case 404:
            return ForgeFailed(
                f"{what}: it does not exist, or the token may not see it; forges answer 404 for both",
                hint=f"Check the repository's name in repack.yaml. The token needs {needs}.",
            )
        case 409 | 412:
            return TryAgain(f"{what}: it changed meanwhile", hint="The next run looks at it again.")
        case _:
            return ForgeFailed(what, hint="The forge does not accept what was sent; its message says why.")


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(_flat(part) for part in value)
    if isinstance(value, dict):
        return str(value.get("message") or ", ".join(f"{key}: {_flat(part)}" for key, part in value.items()))
    return str(value)
