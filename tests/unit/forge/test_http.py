"""What the session makes of each kind of answer, and of none."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from email.utils import formatdate
from pathlib import Path

import pytest

from repack_gitops.errors import ForgeFailed, RepackError, TryAgain
from repack_gitops.forge.http import HttpSession
from tests.unit.forge.scripted import TOKEN, Answer, Clock, Script, serving, session_for

FINE = Answer(200, {"ok": True})


def test_an_answer(script: Script, session: HttpSession) -> None:
    script.answers = [FINE]
    reply = session.get("/x", {"q": "a b", "n": 1})
    assert (reply.status, reply.content) == (200, {"ok": True})
    (asked,) = script.asked
    assert asked.path == "/x?q=a+b&n=1"
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert asked.headers["user-agent"] == "repack-gitops"


def test_an_empty_answer(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(204, raw=b"")]
    assert session.write("DELETE", "/x").content is None


@pytest.mark.parametrize(
    ("status", "error", "texts"),
    [
        (400, ForgeFailed, ("400 Said so", "message says why")),
        (401, ForgeFailed, ("the token is expired or wrong", "Create a new token")),
        (403, ForgeFailed, ("the token lacks a permission", "The token needs this and that")),
        (404, ForgeFailed, ("forges answer 404 for both", "The token needs this and that")),
        (409, TryAgain, ("changed meanwhile", "next run")),
        (422, ForgeFailed, ("422 Said so name: is bad", "message says why")),
    ],
)
def test_refusals_say_what_to_do(
    script: Script, session: HttpSession, status: int, error: type[RepackError], texts: tuple[str, str]
) -> None:
    script.answers = [Answer(status, {"message": "Said\nso", "errors": [{"name": "is bad"}]})]
    with pytest.raises(error) as caught:
        session.write("PATCH", "/x", {})
    assert texts[0] in caught.value.message
    assert texts[1] in caught.value.hint
    assert f"PATCH {script.url}/x was refused" in caught.value.message
    assert len(script.asked) == 1


def test_expected_refusals_are_answers(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(422, {"message": "already exists"})]
    reply = session.write("POST", "/x", {}, expect=(422,))
    assert (reply.status, reply.message) == (422, "already exists")


# Rate limits.


LIMITS = [
    (Answer(429, None, {"Retry-After": "7"}), 7.0),
    (Answer(429, None, {"Retry-After": "0"}), 1.0),
    (Answer(429, None, {"Retry-After": formatdate(1_000_030, usegmt=True)}), 30.0),
    (Answer(429, None, {"Retry-After": "soon"}), 60.0),
    (Answer(429, None, {"Retry-After": "nan"}), 60.0),
    (Answer(429), 60.0),
    (Answer(429, None, {"RateLimit-Remaining": "0", "RateLimit-Reset": "999990"}), 1.0),
    (Answer(403, {"message": "You have exceeded a secondary rate limit"}, {"Retry-After": "3"}), 3.0),
    (Answer(403, {"message": "x"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000042"}), 42.0),
    (Answer(403, {"message": "You have triggered an abuse detection mechanism"}), 60.0),
]


@pytest.mark.parametrize(("limit", "wait"), LIMITS)
def test_limits_are_waited_for(script: Script, session: HttpSession, clock: Clock, limit: Answer, wait: float) -> None:
    script.answers = [limit, FINE, limit, FINE]
    assert session.get("/x").content == {"ok": True}
    assert clock.sleeps == [wait]
    clock.time = 1_000_000.0
    # A refused write has not been carried out, so it may be repeated whatever it is.
    assert session.write("POST", "/x", {}).content == {"ok": True}
    assert clock.sleeps == [wait, wait]


def test_a_longer_wait_is_left_to_the_next_run(script: Script, session: HttpSession, clock: Clock) -> None:
    script.answers = [Answer(429, {"message": "Slow down"}, {"Retry-After": "3600"})]
    with pytest.raises(TryAgain, match=r"tried 1 times: 429 rate limit: Slow down; the forge asks to wait 3600 s"):
        session.get("/x")
    assert clock.sleeps == []


def test_waits_add_up_to_a_bound(script: Script, session: HttpSession, clock: Clock) -> None:
    script.answers = [Answer(429, None, {"Retry-After": "50"})]
    with pytest.raises(TryAgain):
        session.get("/x")
    assert clock.sleeps == [50.0, 50.0]


# Failures that pass.


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_reading_is_repeated_when_the_server_fails(script: Script, session: HttpSession, clock: Clock, status: int) -> None:
    script.answers = [Answer(status, {"message": "x"}), Answer(status, raw=b"<html>"), FINE]
    assert session.get("/x").content == {"ok": True}
    assert clock.sleeps == [1.0, 2.0]


def test_a_server_that_says_when_it_is_back(script: Script, session: HttpSession, clock: Clock) -> None:
    script.answers = [Answer(503, None, {"Retry-After": "20"}), FINE]
    session.get("/x")
    assert clock.sleeps == [20.0]


def test_repeating_is_bounded(script: Script, session: HttpSession, clock: Clock) -> None:
    script.answers = [Answer(502, {"message": "Bad gateway"})]
    with pytest.raises(TryAgain, match=r"GET .*/x failed, tried 4 times: 502 Bad gateway"):
        session.get("/x")
    assert (len(script.asked), clock.sleeps) == (4, [1.0, 2.0, 4.0])


@pytest.mark.parametrize(("method", "times"), [("POST", 1), ("PUT", 4), ("PATCH", 4), ("DELETE", 4)])
def test_only_repeatable_writes_are_repeated(script: Script, session: HttpSession, method: str, times: int) -> None:
    script.answers = [Answer(500)]
    with pytest.raises(TryAgain) as caught:
        session.write(method, "/x", {})
    assert len(script.asked) == times
    assert ("may have been carried out" in caught.value.message) is (times == 1)


def test_a_write_may_be_declared_repeatable(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(500), FINE]
    assert session.write("POST", "/x", {}, repeatable=True).status == 200


def test_a_truncated_body(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(200, {"ok": "x" * 100}, cut=50), FINE]
    assert session.get("/x").content == {"ok": True}
    script.answers = [Answer(200, {"ok": "x" * 100}, cut=50)]
    with pytest.raises(TryAgain, match="may have been carried out"):
        session.write("POST", "/x", {})


def test_truncated_json(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(200, raw=b'{"ok": tr'), FINE]
    assert session.get("/x").content == {"ok": True}


def test_a_page_instead_of_json(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(200, raw=b"<html>Log in</html>", headers={"Content-Type": "text/html"})]
    with pytest.raises(ForgeFailed, match="did not answer with JSON") as caught:
        session.get("/x")
    assert "URL in repack.yaml" in caught.value.hint


def test_an_answer_that_never_comes(script: Script, clock: Clock) -> None:
    hold = threading.Event()
    script.answers = [Answer(200, {}, hold=hold)]
    session = session_for(script.url, clock.patience(read=0.05, attempts=2))
    try:
        with pytest.raises(TryAgain, match=r"tried 2 times: .*[Rr]ead ?timed? ?out"):
            session.get("/x")
    finally:
        hold.set()
        session.close()


def test_an_answer_that_drips(script: Script, clock: Clock) -> None:
    ticking = iter(range(0, 100_000, 100))
    patience = clock.patience(attempts=1, whole_answer=150)
    object.__setattr__(patience, "clock", lambda: float(next(ticking)))
    script.answers = [Answer(200, {"x": "y" * 1_000_000})]
    session = session_for(script.url, patience)
    with pytest.raises(TryAgain, match="took longer than 150 s"):
        session.get("/x")
    session.close()


def test_an_answer_that_is_too_large(script: Script, clock: Clock) -> None:
    script.answers = [Answer(200, {"x": "y" * 5000})]
    session = session_for(script.url, clock.patience(largest_answer=1000))
    with pytest.raises(ForgeFailed, match="more than 1000 bytes"):
        session.get("/x")
    session.close()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nobody_listening_is_repeated_for_every_method(clock: Clock, method: str) -> None:
    with serving(Script()) as server:
        url = f"http://127.0.0.1:{server.server_port}"
    session = session_for(url, clock.patience(attempts=3))
    with pytest.raises(TryAgain, match="tried 3 times"):
        session.get("/x") if method == "GET" else session.write("POST", "/x", {})
    assert clock.sleeps == [1.0, 2.0]
    session.close()


# Writes are spaced.


def test_writes_keep_their_distance_and_reads_need_none(script: Script, clock: Clock) -> None:
    script.answers = [FINE]
    session = session_for(script.url, clock.patience(write_gap=1.0))
    session.get("/x")
    session.write("POST", "/x", {})
    session.get("/x")
    assert clock.sleeps == []
    session.write("POST", "/x", {})
    clock.time += 0.25
    session.write("PATCH", "/x", {})
    clock.time += 5
    session.write("PATCH", "/x", {})
    assert clock.sleeps == [1.0, 0.75]
    session.close()


# The token and other secrets.


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_the_token_is_not_carried_to_another_server(script: Script, session: HttpSession, status: int) -> None:
    other = Script([FINE])
    with serving(other):
        script.answers = [Answer(status, None, {"Location": f"{other.url}/x"})]
        with pytest.raises(ForgeFailed, match="redirects to another server") as caught:
            session.get("/x")
    assert other.asked == []
    assert "put its URL into repack.yaml" in caught.value.hint


def test_redirects_on_the_same_server_are_followed_when_reading(script: Script, session: HttpSession) -> None:
    script.routes = {"GET /old": [Answer(301, None, {"Location": "/new?page=2"})]}
    script.answers = [FINE]
    assert session.get("/old", {"page": 2}).content == {"ok": True}
    assert script.lines == ["GET /old?page=2", "GET /new?page=2"]


def test_redirects_of_writes(script: Script, session: HttpSession) -> None:
    script.routes = {"POST /old": [Answer(301, None, {"Location": "/new"})]}
    with pytest.raises(ForgeFailed, match="is redirected to"):
        session.write("POST", "/old", {"a": 1})
    script.routes, script.answers = {"POST /old": [Answer(307, None, {"Location": "/new"})]}, [FINE]
    session.write("POST", "/old", {"a": 1})
    assert (script.asked[-1].method, script.asked[-1].path, script.asked[-1].content) == ("POST", "/new", {"a": 1})


def test_redirects_in_circles(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(302, None, {"Location": "/x"})]
    with pytest.raises(ForgeFailed, match="in circles"):
        session.get("/x")
    assert len(script.asked) == 4


def test_netrc_does_not_replace_the_token(
    script: Script, session: HttpSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    script.answers = [FINE]
    session.get("/x")
    assert script.asked[0].headers["authorization"] == f"token {TOKEN}"


def test_every_string_that_is_sent_is_scrubbed(script: Script, clock: Clock) -> None:
    script.answers = [FINE]
    session = session_for(script.url, clock.patience(), "other-secret")
    session.write("POST", "/x", {"body": f"a {TOKEN} b", "list": ["other-secret", 1, None], "deep": {"x": "other-secret"}})
    assert script.asked[0].content == {"body": "a *** b", "list": ["***", 1, None], "deep": {"x": "***"}}
    session.close()


def test_what_is_shown_is_scrubbed(script: Script, session: HttpSession) -> None:
    script.answers = [Answer(400, {"message": f"no {TOKEN}"})]
    with pytest.raises(ForgeFailed) as caught:
        session.get("/x")
    assert TOKEN not in str(caught.value)
    script.answers = [Answer(500, {"message": f"no {TOKEN}"})]
    with pytest.raises(TryAgain) as again:
        session.get("/x")
    assert TOKEN not in str(again.value)


# Pages.


def test_pages_are_fetched_when_needed(script: Script, session: HttpSession) -> None:
    # The link names another host, as it does when we reach the forge by an address inside the cluster.
    link = {"Link": '<https://public.example/api/x?limit=2&page=2&state=open>; rel="next", <https://p/?page=9>; rel="last"'}
    script.answers = [Answer(200, [1, 2], link), Answer(200, [3])]
    pages = session.pages("/x", {"state": "open"}, page_size=2)
    assert next(pages) == 1
    assert len(script.asked) == 1
    assert list(pages) == [2, 3]
    assert script.lines[1].startswith("GET /x?")
    assert "page=2" in script.lines[1]


def test_pages_that_never_end(script: Script, session: HttpSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repack_gitops.forge.http._MOST_PAGES", 3)
    script.answers = [Answer(200, [1], {"Link": '</x?page=2>; rel="next"'})]
    with pytest.raises(ForgeFailed, match="more than 3 pages"):
        list(session.pages("/x"))


def test_a_list_that_is_none(script: Script, session: HttpSession) -> None:
    script.answers = [FINE]
    with pytest.raises(ForgeFailed, match="did not answer with a list"):
        list(session.pages("/x"))


# Certificates.


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate of this test")
    made = tmp_path / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", str(made), "-out", str(tmp_path / "ca.pem")], capture_output=True, check=True)
    made.write_text(made.read_text() + (tmp_path / "ca.pem").read_text())
    return tmp_path / "ca.pem"


def test_certificates(certificate: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script([FINE])
    with serving(script) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.with_name("both.pem"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        url = script.url.replace("http://", "https://")
        stranger = session_for(url, clock.patience())
        with pytest.raises(ForgeFailed, match=r"certificate of 127\.0\.0\.1 is not trusted") as caught:
            stranger.get("/x")
        assert "CA file" in caught.value.hint
        friend = session_for(url, clock.patience(), ca_file=certificate)
        assert friend.get("/x").content == {"ok": True}
        stranger.close()
        friend.close()
    assert clock.sleeps == []


def test_a_server_that_breaks_the_handshake_off_is_asked_again(clock: Clock) -> None:
    with serving(Script([FINE])) as server:
        session = session_for(f"https://127.0.0.1:{server.server_port}", clock.patience(attempts=2))
        with pytest.raises(TryAgain, match="tried 2 times"):
            session.get("/x")
        session.close()
