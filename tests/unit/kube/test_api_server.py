"""How requests are sent: bounded in time, reads tried again, writes never, and errors that say what to do."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3

from repack_gitops.errors import ClusterUnavailable, Forbidden, InvalidInput, RepackError
from repack_gitops.kube.api_server import ApiServer, Request, Timeouts
from repack_gitops.kube.credentials import RELOAD_SECONDS, TokenFile
from tests.unit.kube.fake_api import QUICK, FakeApi, Nobody, Reply, refusal

READ = Request("get things", "GET", "/api/v1/things", {"a": "b c"})
OK = Reply(200, {"ok": True})


def test_a_request_says_who_asks(fake: FakeApi) -> None:
    fake.answer(OK)
    assert fake.api().read(READ).body == b'{"ok": true}'
    (seen,) = fake.seen
    assert (seen.path, seen.query) == ("/api/v1/things", {"a": "b c"})
    assert seen.headers["user-agent"].startswith("repack-gitops/")
    assert seen.headers["accept"] == "application/json"


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_reads_are_tried_again_with_growing_pauses(fake: FakeApi, code: int) -> None:
    fake.answer(refusal(code), refusal(code), refusal(code), OK)
    assert fake.api().read(READ).code == 200
    assert len(fake.slept) == 3
    assert 0.25 <= fake.slept[0] < fake.slept[2] <= 2.0


def test_retry_after_is_obeyed_within_a_bound(fake: FakeApi) -> None:
    fake.answer(Reply(429, b"slow", {"Retry-After": "4"}), refusal(503, retryAfterSeconds=3600), OK)
    fake.api().read(READ)
    assert fake.slept == [4.0, 10.0]


def test_reads_are_tried_four_times_in_all(fake: FakeApi) -> None:
    fake.answer(refusal(503, "the server is shutting down"))
    with pytest.raises(ClusterUnavailable, match=r"cannot get things: the server is shutting down \(HTTP 503\)"):
        fake.api().read(READ)
    assert len(fake.seen) == 4


ERRORS: dict[int, type[RepackError]] = {
    301: ClusterUnavailable,
    400: InvalidInput,
    401: Forbidden,
    403: Forbidden,
    404: ClusterUnavailable,
    410: ClusterUnavailable,
    418: ClusterUnavailable,
    422: InvalidInput,
}


@pytest.mark.parametrize("code", ERRORS)
def test_an_unexpected_answer_is_not_asked_for_again(fake: FakeApi, code: int) -> None:
    fake.answer(refusal(code, "no way"))
    with pytest.raises(ERRORS[code], match=r"get things: .*no way") as caught:
        fake.api().read(READ)
    assert len(fake.seen) == 1
    assert caught.value.hint


def test_a_redirect_is_not_followed(fake: FakeApi) -> None:
    """A login page must not receive our token, nor be taken for an API server."""
    fake.answer(Reply(302, b"", {"Location": f"{fake.address}/login"}))
    with pytest.raises(ClusterUnavailable, match="HTTP 302"):
        fake.api().read(READ)
    assert len(fake.seen) == 1


def test_a_slow_server_times_out(fake: FakeApi) -> None:
    fake.answer(Reply(end="silent"))
    with pytest.raises(ClusterUnavailable, match=r"no answer from the API server http://127.0.0.1:\d+: .*timed out") as caught:
        fake.api(timeouts=Timeouts(connect=1.0, read=0.1, whole=1.0)).read(READ)
    assert len(fake.seen) == 4
    assert "object at" not in caught.value.message


def test_a_server_that_trickles_is_given_up(fake: FakeApi) -> None:
    fake.answer(Reply(pieces=[b"x"] * 20))
    with pytest.raises(ClusterUnavailable, match="the answer took longer than -1 s"):
        fake.api(timeouts=Timeouts(connect=1.0, read=1.0, whole=-1.0)).read(READ)


def test_a_name_that_does_not_resolve_says_so() -> None:
    api = ApiServer(urllib3.PoolManager(), "http://nowhere.invalid:1", Nobody(), timeouts=QUICK, sleep=lambda _: None)
    with pytest.raises(ClusterUnavailable, match=r"http://nowhere.invalid:1: Failed to resolve") as caught:
        api.read(READ)
    assert "NO_PROXY" in caught.value.hint


def test_an_address_may_have_a_path(fake: FakeApi) -> None:
    fake.answer(OK)
    ApiServer(urllib3.PoolManager(), f"{fake.address}/k8s/clusters/c1/", Nobody(), timeouts=QUICK).read(READ)
    assert fake.seen[0].path == "/k8s/clusters/c1/api/v1/things"


def test_a_certificate_that_is_not_trusted_is_not_tried_again(tmp_path: Path) -> None:
    with tls_server(tmp_path) as port:
        slept: list[float] = []
        pool = urllib3.PoolManager()
        api = ApiServer(pool, f"https://127.0.0.1:{port}", Nobody(), timeouts=QUICK, sleep=slept.append)
        with pytest.raises(ClusterUnavailable, match=r"certificate of https://127.0.0.1.* is not accepted") as caught:
            api.read(READ)
    assert slept == []
    assert "certificate-authority" in caught.value.hint


@contextmanager
def tls_server(folder: Path) -> Iterator[int]:
    """A server with a certificate that nobody trusts."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=shake_hands, args=(listening, context))
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


def shake_hands(listening: socket.socket, context: ssl.SSLContext) -> None:
    connection, _ = listening.accept()
    with connection:
        try:
            context.wrap_socket(connection, server_side=True).close()
        except OSError:
            return


def test_a_rotated_token_is_read_again_after_401(fake: FakeApi, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old\n")
    credentials = TokenFile(file)
    file.write_text("new\n")
    fake.answer(refusal(401), Reply(201, {}))
    assert fake.api(credentials).send(Request("create x", "POST", "/x", body={})).code == 201
    assert [s.headers["authorization"] for s in fake.seen] == ["Bearer old", "Bearer new"]


def test_a_token_that_is_the_same_is_not_sent_twice(fake: FakeApi, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("same")
    fake.answer(refusal(401, "Unauthorized"))
    with pytest.raises(Forbidden, match="does not accept the credentials: Unauthorized"):
        fake.api(TokenFile(file)).read(READ)
    assert len(fake.seen) == 1


def test_a_token_file_is_read_again_each_minute(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    now = [0.0]
    credentials = TokenFile(file, lambda: now[0])
    file.write_text("second")
    now[0] = RELOAD_SECONDS - 1
    assert credentials.headers() == {"authorization": "Bearer first"}
    now[0] = RELOAD_SECONDS
    assert credentials.headers() == {"authorization": "Bearer second"}


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Forbidden, match="the token file"):
        TokenFile(file)


def test_the_room_does_not_load_the_official_client_before_it_is_needed() -> None:
    code = "import sys, repack_gitops.kube.client; sys.exit('kubernetes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
