"""The choke point: environment, time limits, redaction, versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repack_gitops.errors import GitFailed, TryAgain
from repack_gitops.git.command import Git, brief
from repack_gitops.git.environment import clean_environment
from repack_gitops.model.redaction import Redactor
from tests.unit.git.scratch import fake_git


def test_only_proxies_and_certificates_are_passed_on() -> None:
    caller = {
        "PATH": "/bin",
        "https_proxy": "http://proxy",
        "NO_PROXY": "h",
        "SSL_CERT_FILE": "/ca",
        "GIT_DIR": "/evil",
        "GIT_SSH_COMMAND": "evil",
        "GIT_EXTERNAL_DIFF": "evil",
        "GIT_CONFIG_COUNT": "1",
        "GIT_TRACE": "1",
        "GIT_SSL_NO_VERIFY": "1",
        "LD_PRELOAD": "evil.so",
        "TOKEN": "secret",
        "HOME": "/root",
    }
    env = clean_environment(caller, Path("/private"), Path("/my/ca.pem"))
    assert set(env) & set(caller) == {"PATH", "https_proxy", "NO_PROXY", "SSL_CERT_FILE", "HOME"}
    assert env["HOME"] == "/private"
    assert env["GIT_SSL_CAINFO"] == "/my/ca.pem"
    assert (env["GIT_CONFIG_NOSYSTEM"], env["GIT_CONFIG_GLOBAL"], env["LC_ALL"]) == ("1", "/dev/null", "C")
    assert env["GIT_TERMINAL_PROMPT"] == "0"


def test_a_git_that_hangs_is_stopped(tmp_path: Path) -> None:
    git = Git(tmp_path, executable=fake_git(tmp_path, "exec sleep 600"))
    with pytest.raises(TryAgain, match=r"git fetch did not finish within 0\.2 s"):
        git.run("fetch", directory=tmp_path, timeout=0.2)


def test_a_git_that_never_stops_talking_is_stopped(tmp_path: Path) -> None:
    git = Git(tmp_path, executable=fake_git(tmp_path, "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"))
    with pytest.raises(GitFailed, match="more than 1000 bytes"):
        git.run("log", directory=tmp_path, limit=1000)


def test_standard_error_is_redacted(tmp_path: Path) -> None:
    script = "echo fatal: https://bot:sesame-open@h/x sesame-open >&2; exit 128"
    git = Git(tmp_path, Redactor(["sesame-open"]), executable=fake_git(tmp_path, script))
    with pytest.raises(GitFailed) as caught:
        git.check("fetch", directory=tmp_path)
    assert "sesame-open" not in str(caught.value)
    assert "https://***@h/x ***" in str(caught.value)


def test_a_missing_git_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match=r"Install git 2\.34"):
        Git(tmp_path, executable=str(tmp_path / "nothing")).run("version", directory=tmp_path)


@pytest.mark.parametrize(("said", "fine"), [("2.34.0", True), ("3.0.1", True), ("2.9.5", False), ("?", False)])
def test_old_versions_are_refused(tmp_path: Path, said: str, fine: bool) -> None:
    git = Git(tmp_path, executable=fake_git(tmp_path, f"echo git version {said}"))
    if fine:
        git.check_version()
    else:
        with pytest.raises(GitFailed, match=r"2\.34 or newer"):
            git.check_version()


def test_the_installed_version_is_accepted(tmp_path: Path) -> None:
    Git(tmp_path, caller=os.environ).check_version()


def test_brief_keeps_the_telling_lines() -> None:
    err = "remote: Enumerating objects: 5\nremote: GH006: no\n\nhint: try\nerror: failed to push\nfatal: end\n"
    assert brief(err) == "remote: GH006: no | failed to push | end"
    assert len(brief("x" * 5000)) == 800
