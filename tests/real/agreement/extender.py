"""Where both schedulers tell us what their filters let through: an HTTP extender that notes, and mostly refuses, nodes.

kube-scheduler asks once per attempt, with the names of all nodes that passed its own filters. Volcano's ``extender``
plugin, last in its tiers, asks once per node that passed its resource check and the predicates of every plugin before it,
and says when a session ends. So one pending probe shows the verdict on every node, and nothing has to be bound for it.
"""

from __future__ import annotations

import json
import re
import sys
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Condition, Thread
from typing import Any, Self

from tests.testbed.nodes import Object

#: (namespace, name)
Key = tuple[str, str]
REFUSED = "the agreement test only looks"
#: Volcano's code for "this node will not do".
UNSCHEDULABLE = 2
_TASK_NAME = re.compile(rb'"Name":"([^"]+)"')
_TASK_NAMESPACE = re.compile(rb'"Namespace":"([^"]+)"')
#: More is charged to the node than it has: a pod without requests passes the filters, and then its binding fails.
_OVERDRAWN = re.compile(rb'"Idle":{[^}]*:-\d')
_NODE_NAME = re.compile(rb'"Name":"([^"]+)"')


class Notes:
    """What was heard, and which node a probe may really have; safe for many threads."""

    def __init__(self) -> None:
        self._change = Condition()
        self._session: dict[Key, set[str]] = {}
        #: Of Volcano, by probe: the nodes let through in the session that ended last.
        self.volcano: dict[Key, frozenset[str]] = {}
        self._sessions = 0
        #: Of kube-scheduler, by probe: the nodes let through in the last attempt.
        self.kube: dict[Key, frozenset[str]] = {}
        #: Of Volcano, by probe: those of the nodes about which being let through does not tell whether it would bind.
        self.doubtful: dict[Key, set[str]] = {}
        self._allowed: dict[Key, str] = {}
        #: The probes that kube-scheduler may bind, each with the number of the node to take, modulo how many there are.
        self.kube_may_bind: dict[Key, int] = {}

    def allow(self, probe: Key, node: str) -> None:
        """Let Volcano have ``node``, and no other, for ``probe``."""
        with self._change:
            self._allowed[probe] = node

    def allow_nothing(self, probe: Key) -> None:
        """Let Volcano have no node for ``probe`` again."""
        with self._change:
            self._allowed.pop(probe, None)

    def volcano_asks(self, probe: Key, node: str, doubtful: bool) -> bool:
        """Note that a node passed; say whether it may be used."""
        with self._change:
            self._session.setdefault(probe, set()).add(node)
            if doubtful:
                self.doubtful.setdefault(probe, set()).add(node)
            return self._allowed.get(probe) == node

    def session_ends(self) -> None:
        """Volcano is through with one round over all pods."""
        with self._change:
            self.volcano = {probe: frozenset(nodes) for probe, nodes in self._session.items()}
            self._session = {}
            self._sessions += 1
            self._change.notify_all()

    def wait_for_sessions(self, count: int, seconds: float = 60) -> None:
        """Wait until ``count`` sessions ended after this call.

        Raises
        ------
        TimeoutError
            They did not.
        """
        with self._change:
            goal = self._sessions + count
            if not self._change.wait_for(lambda: self._sessions >= goal, seconds):
                raise TimeoutError(f"Volcano ended {self._sessions + count - goal} of {count} sessions in {seconds:.0f} s")

    def kube_asks(self, probe: Key, nodes: list[str]) -> list[str]:
        """Note the nodes that passed; return those that may be used."""
        with self._change:
            self.kube[probe] = frozenset(nodes)
            number = self.kube_may_bind.get(probe)
            return [] if number is None or not nodes else [sorted(nodes)[number % len(nodes)]]


class Extender:
    """The HTTP server; a context manager."""

    def __init__(self, notes: Notes) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.notes = notes
        self._thread = Thread(target=self._server.serve_forever, name="extender", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    notes: Notes

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A scheduler that ends drops its connections; anything else is worth a traceback."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(StreamRequestHandler):
    """Just enough HTTP for Go's client, on kept-alive connections.

    Volcano sends the whole node with all its pods for every question, thousands of times a minute, so that is searched
    and not parsed.
    """

    server: _Server
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer questions until the scheduler hangs up."""
        while start := self.rfile.readline():
            length = 0
            while (line := self.rfile.readline()) not in {b"\r\n", b""}:
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            answer = json.dumps(self._answer(start.split()[1], self.rfile.read(length))).encode()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))

    def _answer(self, path: bytes, body: bytes) -> Object:
        if path == b"/filter":
            return self._filter(json.loads(body))
        if path == b"/predicate":
            return self._predicate(body)
        self.server.notes.session_ends()
        return {}

    def _filter(self, body: Object) -> Object:
        meta = body["Pod"]["metadata"]
        kept = self.server.notes.kube_asks((meta["namespace"], meta["name"]), body["NodeNames"])
        return {"NodeNames": kept, "FailedNodes": {n: REFUSED for n in body["NodeNames"] if n not in kept}}

    def _predicate(self, body: bytes) -> Object:
        task, _, node = body.partition(b',"node":{')
        name, namespace, on = _TASK_NAME.search(task), _TASK_NAMESPACE.search(task), _NODE_NAME.match(node)
        if name is None or namespace is None or on is None:
            raise ValueError(f"Volcano asks in words that are new: {body[:500]!r}")
        doubtful = b'"deletionTimestamp":' in node or _OVERDRAWN.search(node) is not None
        may = self.server.notes.volcano_asks((namespace[1].decode(), name[1].decode()), on[1].decode(), doubtful)
        return {} if may else {"status": REFUSED, "code": UNSCHEDULABLE}
