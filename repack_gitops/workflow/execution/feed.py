"""Changes of pods as they happen, from a thread that only reads; everything that decides or writes stays on one thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import Protocol

from repack_gitops.errors import ClusterUnavailable, RepackError
from repack_gitops.kube.interface import Cluster, PodEvent, PodList, WatchExpired

WATCH_SECONDS = 300
#: Seconds before another attempt when the API server cannot be reached; after the last one it is given up.
PAUSES = (1.0, 2.0, 4.0, 8.0, 8.0)
#: Seconds between two watches, so that a server that ends each at once is not asked without pause.
BETWEEN_WATCHES = 0.1

#: A change, or everything anew (at the start and after the server forgot our version).
Change = PodEvent | PodList


class Feed(Protocol):
    """A source of pod changes; the first change is always a PodList."""

    def poll(self, seconds: float) -> list[Change]:
        """Return what has arrived; waits at most ``seconds`` for the first."""

    def stop(self) -> None:
        """End the feed."""


class WatchFeed:
    """A Feed over the cluster's watch; the thread lists, watches, and lists again when it must."""

    def __init__(self, cluster: Cluster, pauses: Sequence[float] = PAUSES, between: float = BETWEEN_WATCHES) -> None:
        self._cluster, self._pauses, self._between = cluster, pauses, between
        self._changes: queue.Queue[Change | RepackError] = queue.Queue()
        self._stopped = threading.Event()
        self._version, self._failures = "", 0
        self._thread = threading.Thread(target=self._run, name="pod-feed", daemon=True)
        self._thread.start()

    def poll(self, seconds: float) -> list[Change]:
        """Return what has arrived; an error of the thread is raised here."""
        found: list[Change] = []
        try:
            found.append(self._checked(self._changes.get(timeout=seconds)))
            while True:
                found.append(self._checked(self._changes.get_nowait()))
        except queue.Empty:
            return found

    def stop(self) -> None:
        """Ask the thread to end; it is a daemon and holds nothing that must be closed."""
        self._stopped.set()

    @staticmethod
    def _checked(change: Change | RepackError) -> Change:
        if isinstance(change, RepackError):
            raise change
        return change

    def _run(self) -> None:
        """Feed until stopped. Whatever ends this thread is raised in ``poll``: a silent feed looks like a quiet cluster."""
        try:
            while not self._stopped.is_set():
                self._follow()
        except RepackError as error:
            self._changes.put(error)
        except Exception as error:
            self._changes.put(RepackError(f"the feed of pods broke: {error!r}", hint="Please report this."))

    def _follow(self) -> None:
        """List if need be, then watch until the watch ends."""
        try:
            if not self._version:
                listed = self._cluster.list_pods()
                self._put(listed, listed.resource_version)
            for event in self._cluster.watch_pods(self._version, WATCH_SECONDS):
                if self._stopped.is_set():
                    return
                self._put(event, event.resource_version)
            self._stopped.wait(self._between)
        except WatchExpired:
            self._version = ""
        except ClusterUnavailable:
            if self._failures >= len(self._pauses):
                raise
            self._stopped.wait(self._pauses[self._failures])
            self._failures += 1

    def _put(self, change: Change, version: str) -> None:
        self._changes.put(change)
        self._version, self._failures = version or self._version, 0
