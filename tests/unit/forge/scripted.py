"""A small HTTP server that answers what a test tells it to, and writes down what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from repack_gitops.forge.http import HttpSession
from repack_gitops.forge.patience import Patience
from repack_gitops.model.redaction import Redactor

TOKEN = "sesame-open-0123"


@dataclass(frozen=True)
class Answer:
    """One answer; ``raw`` replaces the JSON of ``content``, ``cut`` closes the connection that many bytes early."""

    status: int = 200
    content: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: int = 0
    hold: threading.Event | None = None


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    content: Any


@dataclass
class Script:
    """Answers in order, whatever is asked; the last one is repeated. Answers by method and path go first."""

    answers: list[Answer] = field(default_factory=list)
    routes: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def next_for(self, request: Asked) -> Answer:
        """Return the answer to give now."""
        self.asked.append(request)
        name = f"{request.method} {request.path.partition('?')[0]}"
        answers = self.routes.get(name, self.answers)
        if not answers:
            return Answer(404, {"message": f"nothing scripted for {name}"})
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @property
    def lines(self) -> list[str]:
        """What was asked, as ``METHOD path``."""
        return [f"{one.method} {one.path}" for one in self.asked]


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, json.loads(body) if body else None)
            self._send(script.next_for(asked))

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def _send(self, answer: Answer) -> None:
            if answer.hold:
                answer.hold.wait(30)
            body = answer.raw if answer.raw is not None else json.dumps(answer.content).encode()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
            self.send_response(answer.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) - answer.cut])
            self.close_connection = self.close_connection or bool(answer.cut)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name is the base class's)
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that hang up are what these tests are about."""


@contextmanager
def serving(script: Script) -> Iterator[ThreadingHTTPServer]:
    """Serve a script on a loopback port while the context lasts."""
    server = _Server(("127.0.0.1", 0), _handler(script))
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Clock:
    """A clock that only moves when somebody sleeps."""

    time: float = 1_000_000.0
    sleeps: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Move on at once."""
        self.sleeps.append(seconds)
        self.time += seconds

    def patience(self, **changes: Any) -> Patience:
        """Return patience that lives by this clock, without jitter and without a gap between writes."""
        chosen: dict[str, Any] = {"write_gap": 0.0, "read": 5.0, "jitter": lambda: 1.0, **changes}
        return Patience(sleep=self.sleep, clock=lambda: self.time, now=lambda: self.time, **chosen)


def session_for(url: str, patience: Patience, *secrets: str, **options: Any) -> HttpSession:
    """Return a session with the token of these tests."""
    header = ("Authorization", f"token {TOKEN}")
    return HttpSession(
        url, token_header=header, needs="this and that", redactor=Redactor([TOKEN, *secrets]), patience=patience, **options
    )
