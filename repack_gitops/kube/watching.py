"""Changes of pods as they happen; each is handed over as soon as its line arrived."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from repack_gitops.errors import ClusterUnavailable
from repack_gitops.kube.answers import Expired, NoAnswer, Status
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.interface import PodEvent, WatchExpired
from repack_gitops.kube.resources import PODS
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.decode_pod import PodDecoder
from repack_gitops.model.kept_annotations import keep_annotations

#: How much longer than its ``timeoutSeconds`` a watch may stay silent before it counts as broken.
GRACE = 5.0
#: Longer lines are no pods: etcd takes no objects above 1.5 MiB by default.
MAX_LINE = 16 * 2**20
#: A watch that breaks sooner than this is reported as an error.
SOON = 1.0


class _Event(msgspec.Struct, frozen=True):
    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: msgspec.Raw


class _Version(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str


class _Versioned(msgspec.Struct, frozen=True):
    metadata: _Version


_event = msgspec.json.Decoder(_Event)
_pod = msgspec.json.Decoder(wire.Pod)
_versioned = msgspec.json.Decoder(_Versioned)
_status = msgspec.json.Decoder(Status)


def watch_pods(api: ApiServer, resource_version: str, seconds: int) -> Iterator[PodEvent]:
    """Yield changes of all pods since ``resource_version`` for about ``seconds``.

    A connection that breaks ends the iteration like its time does: nothing is lost, since a next watch goes on from the
    version of the last event.

    Raises
    ------
    WatchExpired
        The server no longer knows that version.
    ClusterUnavailable
        No watch could be opened, or it sent what is no event.
    """
    opened = time.monotonic()
    try:
        with api.stream(_request(resource_version, seconds), seconds + GRACE) as pieces:
            opened = time.monotonic()
            yield from _events(_until(pieces, opened + seconds + GRACE))
    except Expired as error:
        raise WatchExpired(str(error)) from error
    except NoAnswer:
        if time.monotonic() - opened < SOON:
            raise  # a caller that opened the next watch at once would spin


def _request(resource_version: str, seconds: int) -> Request:
    query = {"watch": "true", "resourceVersion": resource_version, "timeoutSeconds": str(seconds)}
    return Request("watch pods", "GET", PODS.path(), {**query, "allowWatchBookmarks": "true"})


def _until(pieces: Iterable[bytes], deadline: float) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        if time.monotonic() > deadline:
            return


def _events(pieces: Iterable[bytes]) -> Iterator[PodEvent]:
    decoder = PodDecoder()
    try:
        for line in _lines(pieces):
            event = _event.decode(line)
            if event.type == "ERROR":
                raise _failed(_status.decode(event.object))
            if event.type != "BOOKMARK":
                yield _pod_event(event, decoder)
    except wire.UNREADABLE as error:
        raise ClusterUnavailable(f"cannot watch pods: an event is unreadable: {error}", hint="Check proxies.") from error


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield complete lines; half a line at the end belongs to a connection that broke."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line for line in lines if line.strip())
        if len(rest) > MAX_LINE:
            raise ClusterUnavailable("cannot watch pods: an event does not end", hint="Check proxies.")


def _pod_event(event: _Event, decoder: PodDecoder) -> PodEvent:
    item = _pod.decode(event.object)
    keep_annotations(item.metadata)
    version = _versioned.decode(event.object).metadata.resource_version
    return PodEvent(event.type, decoder.pod(item), version)  # type: ignore[arg-type]


def _failed(status: Status) -> Exception:
    if status.code == 410 or status.reason in ("Expired", "Gone"):
        return WatchExpired(status.message)
    return ClusterUnavailable(f"cannot watch pods: {status.text}", hint="Watch again in a moment.")
