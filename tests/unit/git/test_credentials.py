"""The token reaches the one server it is for, and nothing else: no URL, no argument, no file, no other host."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, InvalidInput
from repack_gitops.git.credentials import Credentials, safe_url
from repack_gitops.git.repository import GitRepository
from tests.unit.git.scratch import NO_WAIT, fake_git

TOKEN = "sesame-open-0123"


@dataclass
class Doorkeeper:
    """A server that asks everybody for a password, lets nobody in, and writes down what it was told."""

    redirect_to: str = ""
    told: list[str] = field(default_factory=list)
    url: str = ""

    def handler(self) -> type[BaseHTTPRequestHandler]:
        keeper = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                keeper.told.append(self.headers.get("Authorization", ""))
                if keeper.redirect_to:
                    self.send_response(302)
                    self.send_header("Location", keeper.redirect_to + self.path)
                else:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name is the base class's)
                pass

        return Handler


@pytest.fixture
def doorkeepers() -> Iterator[list[Doorkeeper]]:
    keepers = [Doorkeeper(), Doorkeeper()]
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), keeper.handler()) for keeper in keepers]
    for keeper, server in zip(keepers, servers, strict=True):
        keeper.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield keepers
    for server in servers:
        server.shutdown()
        server.server_close()


def basic(user: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{TOKEN}".encode()).decode()


def test_the_server_it_is_for_gets_the_token(doorkeepers: list[Doorkeeper]) -> None:
    url = f"{doorkeepers[0].url}/o/r.git"
    with pytest.raises(GitFailed, match="Authentication failed"):
        GitRepository.clone(url, branch="main", credentials=Credentials.for_url(url, TOKEN, "bot"), settings=NO_WAIT)
    assert doorkeepers[0].told[0] == ""
    assert set(doorkeepers[0].told[1:]) == {basic("bot")}


def test_another_server_gets_nothing(doorkeepers: list[Doorkeeper]) -> None:
    credentials = Credentials.for_url(doorkeepers[0].url, TOKEN)
    with pytest.raises(GitFailed):
        GitRepository.clone(f"{doorkeepers[1].url}/o/r.git", branch="main", credentials=credentials, settings=NO_WAIT)
    assert set(doorkeepers[1].told) == {""}


def test_a_redirect_does_not_carry_the_token_away(doorkeepers: list[Doorkeeper]) -> None:
    doorkeepers[0].redirect_to = doorkeepers[1].url
    url = f"{doorkeepers[0].url}/o/r.git"
    with pytest.raises(GitFailed):
        GitRepository.clone(url, branch="main", credentials=Credentials.for_url(url, TOKEN), settings=NO_WAIT)
    assert doorkeepers[1].told
    assert set(doorkeepers[1].told) == {""}


def test_the_token_is_in_no_argument_no_file_and_only_in_network_calls(
    doorkeepers: list[Doorkeeper], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    log, grep = tmp_path / "argv", tmp_path / "files"
    script = f"""
        printf '%s\\n' "$*" >> {log}
        tr '\\0' ' ' < /proc/$$/cmdline >> {log}
        grep -r {TOKEN} {private} "$HOME" >> {grep}
        case " $* " in *ls-remote*) "$REAL" "$@"; code=$?; grep -r {TOKEN} {private} "$HOME" >> {grep}; exit $code ;; esac
        env | grep {TOKEN} >> {grep}
        exec "$REAL" "$@" """
    settings = replace(NO_WAIT, executable=fake_git(tmp_path, script))
    url = f"{doorkeepers[0].url}/o/r.git"
    with pytest.raises(GitFailed):
        GitRepository.clone(url, branch="main", credentials=Credentials.for_url(url, TOKEN), settings=settings)
    assert basic("x-access-token") in doorkeepers[0].told
    assert "ls-remote" in log.read_text()
    assert TOKEN not in log.read_text()
    assert grep.read_text() == ""


def test_a_representation_hides_the_token() -> None:
    assert TOKEN not in repr(Credentials.for_url("https://h/x", TOKEN))


@pytest.mark.parametrize(("url", "token", "user"), [
    ("ssh://h/x", TOKEN, "bot"),
    ("/path", TOKEN, "bot"),
    ("https://h/x", "", "bot"),
    ("https://h/x", "a\nb", "bot"),
    ("https://h/x", TOKEN, "a b"),
])  # fmt: skip
def test_unusable_credentials(url: str, token: str, user: str) -> None:
    with pytest.raises(InvalidInput):
        Credentials.for_url(url, token, user)


@pytest.mark.parametrize("url", ["https://h/o/r.git", "http://h:3/r", "ssh://git@h/r", "file:///r", "/r", "git@h:o/r.git"])
def test_usable_urls(url: str) -> None:
    assert safe_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        f"https://bot:{TOKEN}@h/r",
        f"https://{TOKEN}@h/r",
        f"ssh://git:{TOKEN}@h/r",
        "ext::sh -c evil",
        "git://h/r",
        "--upload-pack=evil",
        "relative/path",
        "",
        "fd::3",
        "a@b::c",
        "https://h/r\nx",
    ],
)
def test_unusable_urls(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        safe_url(url)
    assert TOKEN not in str(caught.value)
