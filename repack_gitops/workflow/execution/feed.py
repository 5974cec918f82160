"""Changes of pods as they happen, from a thread that only reads; everything that decides or writes stays on one thread."""

from __future__ import annotations

import queue
import threading
from typing import Protocol

from repack_gitops.errors import RepackError
from repack_gitops.kube.interface import Cluster, PodEvent, PodList, WatchExpired

WATCH_SECONDS = 300

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

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._changes: queue.Queue[Change | RepackError] = queue.Queue()
        self._stopped = threading.Event()
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
        version = ""
        while not self._stopped.is_set():
            try:
                if not version:
                    listed = self._cluster.list_pods()
                    self._changes.put(listed)
                    version = listed.resource_version
                version = self._follow(version)
            except WatchExpired:
                version = ""
            except RepackError as error:
                self._changes.put(error)
                return

    def _follow(self, version: str) -> str:
        for event in self._cluster.watch_pods(version, WATCH_SECONDS):
            if self._stopped.is_set():
                break
            self._changes.put(event)
            version = event.resource_version or version
        return version
