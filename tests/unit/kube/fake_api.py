"""An HTTP server that says what a test wants an API server to say, in order, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import urllib3

from repack_gitops.kube.api_server import ApiServer, Timeouts
from repack_gitops.kube.client import LiveCluster

QUICK = Timeouts(connect=2.0, read=0.4, whole=2.0)


@dataclass
class Reply:
    """One answer: ``body`` is bytes, or an object sent as JSON.

    ``pieces`` are sent chunk by chunk instead, and ``end`` says how the answer ends: in order, by a broken connection
    half-way, or by silence until the client gives up.
    """

    code: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Sequence[bytes] | None = None
    end: Literal["well", "broken", "silent"] = "well"


@dataclass
class Seen:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class FakeApi:
    """The server; ``replies`` are given in order, and the last one again and again."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.seen: list[Seen] = []
        self.slept: list[float] = []
        self.stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[FakeApi]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def answer(self, *replies: Reply) -> None:
        """Forget everything, and answer like this from now on."""
        self.replies, self.seen, self.slept = list(replies), [], []

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def api(self, credentials: Any = None, timeouts: Timeouts = QUICK) -> ApiServer:
        """Return an ApiServer that talks to this server and sleeps into ``slept``."""
        pool = urllib3.PoolManager()
        return ApiServer(pool, self.address, credentials or Nobody(), timeouts=timeouts, sleep=self.slept.append)

    def cluster(self) -> LiveCluster:
        return LiveCluster(self.api())


class Nobody:
    """Credentials of nobody."""

    def headers(self) -> dict[str, str]:
        return {}

    def renew(self) -> bool:
        return False


def status(code: int, message: str = "no", reason: str = "", **details: Any) -> dict[str, Any]:
    """Return a meta/v1 Status as the API server sends it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return body | ({"reason": reason} if reason else {}) | ({"details": details} if details else {})


def refusal(code: int, message: str = "no", reason: str = "", **details: Any) -> Reply:
    """Return a Reply that refuses with a Status."""
    return Reply(code, status(code, message, reason, **details))


def _handler(fake: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve()

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server's names

        def handle(self) -> None:
            with suppress(OSError):  # the client closed the connection
                super().handle()

        def log_message(self, *args: object) -> None: ...

        def _serve(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            fake.seen.append(Seen(self.command, url.path, dict(parse_qsl(url.query)), headers, body))
            self._send(fake.next_reply())

        def _send(self, reply: Reply) -> None:
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.code)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.pieces is None:
                self._send_whole(body, reply.end)
            else:
                self._send_pieces(reply.pieces, reply.end)

        def _send_whole(self, body: bytes, end: str) -> None:
            self.send_header("Content-Length", str(len(body) if end == "well" else len(body) + 1000))
            self.end_headers()
            self.wfile.write(body)
            self._finish(end)

        def _send_pieces(self, pieces: Sequence[bytes], end: str) -> None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if end == "well":
                self.wfile.write(b"0\r\n\r\n")
            self._finish(end)

        def _finish(self, end: str) -> None:
            self.wfile.flush()
            if end == "silent":
                fake.stopping.wait(10)
            if end != "well":
                self.close_connection = True

    return Handler
