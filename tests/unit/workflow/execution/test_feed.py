"""The reading thread: lists, watches, lists again when it must, and never goes silent."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from repack_gitops.errors import ClusterUnavailable, Forbidden, RepackError
from repack_gitops.kube.interface import PodEvent, PodList, WatchExpired
from repack_gitops.workflow.execution.feed import Change, WatchFeed
from tests.unit.planner.build import pod
from tests.unit.workflow.execution.clock import VirtualClock
from tests.unit.workflow.execution.fakes import FakeCluster
from tests.unit.workflow.execution.world import World


def event(name: str, version: str) -> PodEvent:
    return PodEvent("ADDED", pod(name, None, 1), version)


class Scripted(FakeCluster):
    """Lists and watches as scripted; the last watch stays open until the test ends."""

    def __init__(self, lists: list[PodList | Exception], watches: list[list[PodEvent | Exception]]) -> None:
        super().__init__(World(VirtualClock()))
        self._lists, self._watches, self.done = lists, watches, threading.Event()
        self.asked: list[str] = []

    def list_pods(self) -> PodList:
        self.asked.append("list")
        found = self._lists.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def watch_pods(self, resource_version: str, seconds: int) -> Iterator[PodEvent]:
        self.asked.append(f"watch {resource_version}")
        if not self._watches:
            self.done.wait(10)
            return
        for found in self._watches.pop(0):
            if isinstance(found, Exception):
                raise found
            yield found


def changes(cluster: Scripted, number: int, pauses: tuple[float, ...] = (0, 0)) -> list[Change]:
    """Return the first ``number`` changes of a feed."""
    feed, found = WatchFeed(cluster, pauses, between=0), list[Change]()
    try:
        while len(found) < number:
            found += feed.poll(5)
    finally:
        feed.stop()
        cluster.done.set()
    return found


EMPTY = PodList((), "10")


def test_list_comes_first_then_events() -> None:
    cluster = Scripted([EMPTY], [[event("a", "11"), event("b", "12")]])
    assert changes(cluster, 3) == [EMPTY, event("a", "11"), event("b", "12")]


def test_next_watch_goes_on_where_the_last_one_ended() -> None:
    cluster = Scripted([EMPTY], [[event("a", "11")], [], [event("b", "12")]])
    changes(cluster, 3)
    assert cluster.asked[:4] == ["list", "watch 10", "watch 11", "watch 11"]


def test_forgotten_version_lists_again() -> None:
    again = PodList((pod("a", None, 1),), "50")
    cluster = Scripted([EMPTY, again], [[event("a", "11"), WatchExpired()]])
    assert changes(cluster, 3) == [EMPTY, event("a", "11"), again]
    assert cluster.asked[:3] == ["list", "watch 10", "list"]


def test_short_outage_is_survived_without_a_new_list() -> None:
    broken: list[PodEvent | Exception] = [ClusterUnavailable("reset")]
    cluster = Scripted([EMPTY], [broken, broken, [event("a", "11")], broken, broken, [event("b", "12")]])
    assert changes(cluster, 3) == [EMPTY, event("a", "11"), event("b", "12")]
    assert cluster.asked.count("list") == 1


def test_outage_of_the_first_list() -> None:
    cluster = Scripted([ClusterUnavailable("reset"), EMPTY], [])
    assert changes(cluster, 1) == [EMPTY]


def test_long_outage_is_an_error() -> None:
    cluster = Scripted([EMPTY], [[ClusterUnavailable("reset")]] * 3)
    with pytest.raises(ClusterUnavailable, match="reset"):
        changes(cluster, 2)


@pytest.mark.parametrize("error", [Forbidden("no"), ValueError("a bug")])
def test_whatever_ends_the_thread_is_told(error: Exception) -> None:
    """A silent feed looks like a quiet cluster: every replacement would time out although it runs."""
    cluster = Scripted([EMPTY], [[event("a", "11"), error]])
    with pytest.raises(RepackError, match=r"no|a bug"):
        changes(cluster, 3)


def test_poll_returns_when_nothing_comes() -> None:
    cluster = Scripted([EMPTY], [])
    feed = WatchFeed(cluster)
    assert feed.poll(5) == [EMPTY]
    assert feed.poll(0) == []
    feed.stop()
    cluster.done.set()


def test_stopped_feed_ends() -> None:
    cluster = Scripted([EMPTY], [])
    feed = WatchFeed(cluster, between=0)
    feed.poll(5)
    feed.stop()
    cluster.done.set()
    feed._thread.join(5)
    assert not feed._thread.is_alive()
