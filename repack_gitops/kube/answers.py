"""What the API server answered, and which error of ours an unexpected answer is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from repack_gitops.errors import ClusterUnavailable, Forbidden, InvalidInput, RepackError
from repack_gitops.model.kubernetes import UNREADABLE, Wire

T = TypeVar("T")

_MAX_SHOWN = 500
_TRUNCATED = "The answer was cut short or changed on its way; check proxies between here and the API server."


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; header names are in lower case."""

    code: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Cause(Wire, frozen=True):
    """One entry of a Status' ``details.causes``."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(Wire, frozen=True):
    """A Status' ``details``."""

    name: str = ""
    group: str = ""
    kind: str = ""
    causes: list[Cause] | None = None
    retry_after_seconds: int = 0


class Status(Wire, frozen=True):
    """A meta/v1 Status, as every refusal is; what is none has an empty ``kind`` and its text as the message."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None

    @property
    def text(self) -> str:
        """The message, followed by those of its causes that say more."""
        causes = [c.message for c in self.causes if c.message and c.message not in self.message]
        return ": ".join([self.message.rstrip("."), *causes]) if causes else self.message

    @property
    def causes(self) -> list[Cause]:
        """The causes; often none."""
        return (self.details.causes or []) if self.details else []


def read_status(answer: Answer) -> Status:
    """Return the Status in ``answer``, or its text as one: proxies and overloaded servers answer in plain text."""
    try:
        status = msgspec.json.decode(answer.body, type=Status)
    except UNREADABLE:
        text = " ".join(answer.body.decode(errors="replace").split())
        return Status(message=text[:_MAX_SHOWN] or "(no message)", code=answer.code)
    return status if status.kind == "Status" else Status(message="(no message)", code=answer.code)


def retry_after(answer: Answer, status: Status) -> int:
    """Return the seconds the server asks to wait, 0 where it does not say."""
    header = answer.headers.get("retry-after", "")
    return (status.details.retry_after_seconds if status.details else 0) or (int(header) if header.isdecimal() else 0)


def decode(answer: Answer, decoder: msgspec.json.Decoder[T], what: str) -> T:
    """Return the body of a successful answer.

    Raises
    ------
    ClusterUnavailable
        The body is not what it must be: HTML of a proxy, or cut short.
    """
    try:
        return decoder.decode(answer.body)
    except UNREADABLE as error:
        raise ClusterUnavailable(f"cannot {what}: the answer is unreadable: {error}", hint=_TRUNCATED) from error


class PassingFailure(ClusterUnavailable):
    """A failure that may be over in a moment; reads are tried again."""

    def __init__(self, message: str, *, hint: str = "", wait: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.wait = wait


class Expired(ClusterUnavailable):
    """410: the API server no longer knows the version that a list or a watch goes on from."""


class NotServed(ClusterUnavailable):
    """404 where something should be: the resource is not installed, or its namespace is not there."""


class NoAnswer(PassingFailure):
    """The connection broke or timed out: a write may or may not have happened."""


def failure(answer: Answer, what: str) -> RepackError:
    """Return the error for an answer that ``what`` does not expect.

    Parameters
    ----------
    what
        Verb and object: ``list pods``, ``update leases repack/executor``.
    """
    status = read_status(answer)
    said = f"{status.text} (HTTP {answer.code})"
    match answer.code:
        case 401:
            return Forbidden(
                f"cannot {what}: the API server does not accept the credentials: {said}",
                hint="The token or certificate is expired or of another cluster; renew the kubeconfig or service account.",
            )
        case 403:
            return Forbidden(
                f"not allowed to {what}: {said}", hint="Grant this verb on this resource to the account in use, then repeat."
            )
        case 404:
            return NotServed(f"cannot {what}: {said}", hint="Is it installed in this cluster, and is the namespace there?")
        case 410:
            return Expired(f"cannot {what}: {said}", hint="List again from the beginning.")
        case 429 | 500 | 502 | 503 | 504:
            hint = "The API server or a webhook is overloaded or restarting; try again, and look at its health."
            return PassingFailure(f"cannot {what}: {said}", hint=hint, wait=retry_after(answer, status))
        case 400 | 413 | 415 | 422:
            return InvalidInput(f"cannot {what}: {said}", hint="The API server finds the request invalid; see its message.")
        case _:
            hint = "Is this the address of a Kubernetes API server, and is its version supported?"
            return ClusterUnavailable(f"cannot {what}: {said}", hint=hint)
