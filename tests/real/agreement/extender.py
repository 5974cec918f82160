"""Where both schedulers tell us what their filters let through: an HTTP extender that notes, and mostly refuses, nodes.

kube-scheduler asks once per attempt, with the names of all nodes that passed its own filters. Volcano's ``extender``
plugin, last in its tiers, asks once per node that passed its resource check and the predicates of every plugin before it,
and says when a session ends. So one pending probe shows the verdict on every node, and nothing has to be bound for it.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any, Self

from tests.testbed.nodes import Object

#: (namespace, name)
Key = tuple[str, str]
REFUSED = "the agreement test only looks"
#: Volcano's code for "this node will not do".
UNSCHEDULABLE = 2


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
        #: Of Volcano, by probe: those of the nodes on which some pod is on its way out.
        self.releasing: dict[Key, set[str]] = {}
        self._allowed: dict[Key, str] = {}
        #: The probes that kube-scheduler may bind, each with the number of the node to take, modulo how many there are.
        self.kube_may_bind: dict[Key, int] = {}

    def allow(self, probe: Key, node: str) -> None:
        """Let Volcano have ``node``, and no other, for ``probe``."""
        with self._change:
            self._allowed[probe] = node

    def volcano_asks(self, probe: Key, node: str, releasing: bool) -> bool:
        """Note that a node passed; say whether it may be used."""
        with self._change:
            self._session.setdefault(probe, set()).add(node)
            if releasing:
                self.releasing.setdefault(probe, set()).add(node)
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    notes: Notes

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A scheduler that ends drops its connections; anything else is worth a traceback."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer a scheduler."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"/filter": self._filter, "/predicate": self._predicate, "/close": self._close}[self.path](body)
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet."""

    def _filter(self, body: Object) -> Object:
        meta = body["Pod"]["metadata"]
        kept = self.server.notes.kube_asks((meta["namespace"], meta["name"]), body["NodeNames"])
        return {"NodeNames": kept, "FailedNodes": {n: REFUSED for n in body["NodeNames"] if n not in kept}}

    def _predicate(self, body: Object) -> Object:
        task, node = body["task"], body["node"]
        leaving = any(found["Pod"]["metadata"].get("deletionTimestamp") for found in (node["Tasks"] or {}).values())
        may = self.server.notes.volcano_asks((task["Namespace"], task["Name"]), node["Name"], leaving)
        return {} if may else {"status": REFUSED, "code": UNSCHEDULABLE}

    def _close(self, body: Object) -> Object:
        self.server.notes.session_ends()
        return {}
