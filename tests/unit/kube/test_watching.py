"""Watches: events as they come, 410 in both of its forms, and broken connections (row 44)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from typing import Any

import pytest

from repack_gitops.errors import ClusterUnavailable, Forbidden
from repack_gitops.kube import watching
from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import PodEvent, WatchExpired
from tests.unit.kube.fake_api import FakeApi, Reply, refusal, status


def line(kind: str, name: str = "p", version: int = 1, **spec: Any) -> bytes:
    meta = {"name": name, "namespace": "team", "resourceVersion": str(version), "annotations": {"secret": "x"}}
    pod = {"kind": "Pod", "metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}
    return json.dumps({"type": kind, "object": pod}).encode() + b"\n"


BOOKMARK = b'{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"5"},"spec":{"containers":null}}}\n'


def seen(events: Any) -> list[tuple[str, str, str]]:
    return [(e.type, e.pod.name, e.resource_version) for e in events]


def test_events_are_handed_over_and_bookmarks_consumed(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(pieces=[line("ADDED"), BOOKMARK, line("MODIFIED", version=6, nodeName="n"), line("DELETED", version=7)]))
    events = list(cluster.watch_pods("3", 30))
    assert seen(events) == [("ADDED", "p", "1"), ("MODIFIED", "p", "6"), ("DELETED", "p", "7")]
    assert events[1].pod.node == "n"
    assert (fake.seen[0].path, fake.seen[0].query) == (
        "/api/v1/pods",
        {"watch": "true", "resourceVersion": "3", "timeoutSeconds": "30", "allowWatchBookmarks": "true"},
    )


def test_lines_may_be_split_and_joined_anyhow(cluster: LiveCluster, fake: FakeApi) -> None:
    text = line("ADDED", "a") + line("ADDED", "b") + b"\n" + line("ADDED", "c")
    fake.answer(Reply(pieces=[text[:5], text[5:300], text[300:]]))
    assert [e.pod.name for e in cluster.watch_pods("3", 30)] == ["a", "b", "c"]


def test_an_event_is_handed_over_before_the_next_piece_arrives(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(pieces=[line("ADDED")], end="silent"))
    started = time.monotonic()
    events = cluster.watch_pods("3", 30)
    assert next(iter(events)).pod.name == "p"
    assert time.monotonic() - started < 5
    events.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "reply",
    [
        refusal(410, "too old resource version: 3 (9)", "Expired"),
        Reply(pieces=[json.dumps({"type": "ERROR", "object": status(410, "too old", "Expired")}).encode() + b"\n"]),
        Reply(pieces=[json.dumps({"type": "ERROR", "object": status(0, "too old", "Gone")}).encode() + b"\n"]),
    ],
    ids=["as HTTP status", "as an event", "as an event without code"],
)
def test_row_44_an_expired_version_is_a_signal(cluster: LiveCluster, fake: FakeApi, reply: Reply) -> None:
    fake.answer(reply)
    with pytest.raises(WatchExpired):
        list(cluster.watch_pods("3", 30))
    assert len(fake.seen) == 1


def test_row_44_events_before_the_expiry_are_not_lost(cluster: LiveCluster, fake: FakeApi) -> None:
    expired = json.dumps({"type": "ERROR", "object": status(410, "too old")}).encode() + b"\n"
    fake.answer(Reply(pieces=[line("ADDED"), expired]))
    events: list[PodEvent] = []
    with pytest.raises(WatchExpired):
        collect(cluster.watch_pods("3", 30), events)
    assert [e.pod.name for e in events] == ["p"]


def collect(source: Iterable[PodEvent], into: list[PodEvent]) -> None:
    for event in source:
        into.append(event)


def test_a_connection_that_breaks_later_ends_the_watch(
    cluster: LiveCluster, fake: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SOON", 0.0)
    fake.answer(Reply(pieces=[line("ADDED"), line("ADDED", "q")[:20]], end="broken"))
    assert [e.pod.name for e in cluster.watch_pods("3", 30)] == ["p"]


def test_a_connection_that_breaks_at_once_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    """Otherwise a caller that watches again at once would spin."""
    fake.answer(Reply(pieces=[], end="broken"))
    with pytest.raises(ClusterUnavailable, match="cannot watch pods: no answer"):
        list(cluster.watch_pods("3", 30))


def test_a_silent_server_is_given_up(cluster: LiveCluster, fake: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "GRACE", 0.2)
    monkeypatch.setattr(watching, "SOON", 0.0)
    fake.answer(Reply(pieces=[line("ADDED")], end="silent"))
    assert [e.pod.name for e in cluster.watch_pods("3", 0)] == ["p"]


def test_a_server_that_never_ends_the_watch_is_left() -> None:
    pieces = watching._until(iter([line("ADDED"), line("ADDED", "q")]), time.monotonic() - 1)
    events = list(watching._events(pieces))
    assert [e.pod.name for e in events] == ["p"]


ODD = {
    "HTML": [b"<html>\n"],
    "an unknown type": [line("EATEN")],
    "no version": [b'{"type":"ADDED","object":{"metadata":{"name":"p"},"spec":{"containers":[]}}}\n'],
    "another error": [json.dumps({"type": "ERROR", "object": status(500, "etcd is ill")}).encode() + b"\n"],
}


@pytest.mark.parametrize("case", ODD)
def test_what_is_no_event_is_an_error(cluster: LiveCluster, fake: FakeApi, case: str) -> None:
    fake.answer(Reply(pieces=ODD[case]))
    with pytest.raises(ClusterUnavailable, match="cannot watch pods"):
        list(cluster.watch_pods("3", 30))


def test_a_line_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_LINE", 100)
    with pytest.raises(ClusterUnavailable, match="an event does not end"):
        list(watching._events([b"x" * 60, b"x" * 60]))


def test_a_refused_watch_is_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(403, "forbidden"))
    with pytest.raises(Forbidden, match="not allowed to watch pods"):
        list(cluster.watch_pods("3", 30))


def test_opening_is_tried_again(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(503, "starting"), Reply(pieces=[line("ADDED")]))
    assert [e.pod.name for e in cluster.watch_pods("3", 30)] == ["p"]


def test_a_watch_and_other_calls_go_on_at_the_same_time(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(pieces=[line("ADDED")], end="silent"), refusal(404, "not found"))
    events = cluster.watch_pods("3", 30)
    next(iter(events))
    found: list[Any] = []
    other = threading.Thread(target=lambda: found.append(cluster.get_pod("team", "w")))
    other.start()
    other.join(5)
    assert found == [None]
    events.close()  # type: ignore[attr-defined]
