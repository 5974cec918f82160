"""The program around the commands: exit codes, help, unexpected errors, secrets, start-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from repack_gitops import errors
from repack_gitops.cli import planning, wiring
from repack_gitops.cli.exit_codes import EXIT_CODES, worst
from repack_gitops.cli.main import COMMANDS, cli, main
from repack_gitops.cli.options import progress
from tests.unit.cli.conftest import Run

GPU = "nvidia.com/gpu"
TOKEN = "gho_16C7e42F292c6912E7710c838347Ae178B4a"


def commands() -> list[click.Command]:
    return [cli, *COMMANDS]


# ---- help ----
@pytest.mark.parametrize("command", commands(), ids=lambda c: str(c.name))
def test_every_help_has_an_example_and_explains_every_option(repack: Run, command: click.Command) -> None:
    name = () if command is cli else (str(command.name),)
    done = repack(*name, "--help")
    assert done.code == 0
    assert "Example" in done.out
    assert "  repack " in done.out
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_help_and_version(repack: Run) -> None:
    assert repack("-h").out == repack("--help").out
    assert repack("--version").out.startswith("repack, version ")


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "repack_gitops", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("repack, version ")


@pytest.mark.parametrize("arguments", ["--help", "--version", "plan --help", "propose --help", "execute --help", "plan"])
def test_what_help_does_not_load(arguments: str) -> None:
    heavy = ("kubernetes", "numpy", "highspy", "rich", "requests", "urllib3", "jsonschema", "croniter", "msgspec")
    script = (
        "import sys\n"
        "from repack_gitops.cli.main import main\n"
        "try:\n"
        f"    main({arguments.split()!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_completion_of_shells() -> None:
    env = {"PATH": os.environ["PATH"], "_REPACK_COMPLETE": "bash_complete", "COMP_WORDS": "repack pl", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-m", "repack_gitops"], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "plain,plan"


# ---- exit codes ----
def test_every_error_has_a_documented_code() -> None:
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.RepackError)]
    assert {e.exit_code for e in found} <= set(EXIT_CODES)


def test_codes_do_not_collide_with_those_of_shells_and_click() -> None:
    assert 1 not in EXIT_CODES  # what Python itself says of a crash
    assert not {126, 127, 137, 143} & set(EXIT_CODES)


@pytest.mark.parametrize(("codes", "code"), [([], 0), ([75], 75), ([75, 2], 2), ([75, 4, 2], 4)])
def test_the_code_of_several_failures(codes: list[int], code: int) -> None:
    assert worst(codes) == code


# ---- unexpected errors ----
def explode(error: BaseException) -> Any:
    def raising(*args: Any, **more: Any) -> Any:
        raise error

    return raising


def exploding(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> tuple[str, ...]:
    monkeypatch.setattr(planning, "snapshot_from_file", explode(error))
    return ("plan", "--snapshot", "x", "--resource", GPU)


def test_an_internal_error_is_one_line(repack: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = repack(*exploding(monkeypatch, KeyError("what")))
    assert (done.code, done.out) == (70, "")
    assert "internal error: KeyError: 'what'" in done.err
    assert "REPACK_DEBUG=1" in done.err


def test_where_it_happened_is_shown_on_request(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("REPACK_DEBUG", "1")
    monkeypatch.setenv("REPACK_TOKEN", TOKEN)
    with pytest.raises(SystemExit) as ended:
        main(exploding(monkeypatch, ValueError(f"token {TOKEN}")))
    err = capfd.readouterr().err
    assert ended.value.code == 70
    assert "Traceback" in err
    assert "in explode" in err or "in raising" in err
    assert TOKEN not in err


@pytest.mark.parametrize("error", [ValueError(f"bad {TOKEN}"), errors.GitFailed(f"bad {TOKEN}", hint=f"see {TOKEN}")])
@pytest.mark.parametrize("where", ["environment", "file"])
def test_no_error_shows_the_token(
    repack: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, where: str
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    if where == "environment":
        monkeypatch.setenv("REPACK_TOKEN", TOKEN)
    monkeypatch.setattr(wiring, "connect_cluster", explode(error))
    option = ("--token-file", file) if where == "file" else ()
    done = repack("dispatch", "--git-url", "https://git.example.test/a/b.git", *option)
    assert done.code in (4, 70)
    assert "***" in done.err
    assert TOKEN not in done.err + done.out


def test_an_interrupt(repack: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repack(*exploding(monkeypatch, KeyboardInterrupt())).code == 130


def test_an_error_of_the_operating_system(repack: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = repack(*exploding(monkeypatch, PermissionError(13, "Permission denied", "/tmp/x")))
    assert done.code == 74
    assert "/tmp/x: permission denied" in done.err


def test_a_progress_line_that_nobody_reads_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "echo", explode(BrokenPipeError(32, "Broken pipe")))
    progress("node n1: 2 pods")


# ---- clusters and repositories that are not there ----
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
contexts: [{name: prod, context: {cluster: c, user: u}}]
current-context: prod
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG)
    return file


def test_an_unreachable_cluster(repack: Run, kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    for arguments in (("plan", "--resource", GPU), ("snapshot", tmp_path / "out.json")):
        done = repack(*arguments, "--kubeconfig", kubeconfig)
        assert done.code == 3, done
        assert "127.0.0.1" in done.err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a: [", "kubeconfig"),
        ("", "kubeconfig"),
        ("\0\1", "kubeconfig"),
        (KUBECONFIG.replace("name: c,", "name: d,"), "kubeconfig"),
    ],
)
def test_a_broken_kubeconfig(repack: Run, kubeconfig: Path, text: str, word: str) -> None:
    kubeconfig.write_text(text)
    done = repack("plan", "--resource", GPU, "--kubeconfig", kubeconfig)
    assert done.code == 2
    assert word in done.err
    assert str(kubeconfig) in done.err


def test_an_unknown_context(repack: Run, kubeconfig: Path) -> None:
    done = repack("plan", "--resource", GPU, "--kubeconfig", kubeconfig, "--context", "nope")
    assert done.code == 2
    assert "nope" in done.err


@pytest.mark.parametrize("command", [("propose",), ("dispatch",), ("execute", "--run", "runs/a/b")])
def test_a_folder_that_is_no_repository(repack: Run, kubeconfig: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = repack(*command, "--repository", tmp_path, "--kubeconfig", kubeconfig)
    assert done.code == 2
    assert str(tmp_path) in done.err


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        (("--git-url", "https://user:secret@git.example.test/a.git"), 2, "credentials"),
        (("--git-url", "ftp://x"), 2, "ftp"),
        (("--git-url", "file:///nonexistent/x.git"), 4, "/nonexistent/x.git"),
        (("--git-url", "file:///nonexistent/x.git", "--repository", "."), 2, "both"),
        (("--git-url", "file:///nonexistent/x.git", "--branch", "-evil"), 2, "-evil"),
        (("--git-url", "file:///nonexistent/x.git", "--token-file", "/nonexistent/token"), 2, "/nonexistent/token"),
    ],
)
def test_repositories_that_cannot_be_used(
    repack: Run, kubeconfig: Path, options: tuple[str, ...], code: int, word: str
) -> None:
    done = repack("propose", *options, "--kubeconfig", kubeconfig)
    assert done.code == code, done
    assert word in done.err
    assert "secret" not in done.err


def test_json_of_a_plan_is_one_document(repack: Run, snapshot: Path) -> None:
    assert json.loads(repack("plan", "--snapshot", snapshot, "--resource", GPU, "-o", "json").out)["kind"] == "RepackRun"
