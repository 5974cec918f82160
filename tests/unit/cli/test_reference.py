"""docs/cli.md is what the commands say, and every command line that we print somewhere parses."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from repack_gitops.cli.exit_codes import EXIT_CODES
from repack_gitops.cli.main import COMMANDS, cli
from repack_gitops.cli.reference import ENVIRONMENT, cli_reference

ROOT = Path(__file__).parents[3]
PAGES = ["README.md", "CONTRIBUTING.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").glob("*.md")))]
PAGES += [str(p.relative_to(ROOT)) for folder in ("examples", "runs", "bench") for p in (ROOT / folder).glob("*.md")]
_CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_PLACEHOLDER = re.compile(r"[A-Z]+|<[a-z]+>|\.\.\.")


def test_the_page_is_in_step() -> None:
    assert (ROOT / "docs/cli.md").read_text() == cli_reference(), "run scripts/generate_cli_docs"


def test_the_script_checks_without_writing() -> None:
    command = [sys.executable, str(ROOT / "scripts/generate_cli_docs"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_script_finds_a_stale_page(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts/generate_cli_docs"
    script.write_text((ROOT / "scripts/generate_cli_docs").read_text())
    stale = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (stale.returncode, stale.stdout) == (1, "docs/cli.md: is stale; run scripts/generate_cli_docs\n")
    assert not (tmp_path / "docs/cli.md").exists()
    subprocess.run([sys.executable, str(script)], check=True, capture_output=True, cwd=ROOT)
    assert (tmp_path / "docs/cli.md").read_text() == cli_reference()


def test_every_option_and_exit_code_is_on_the_page() -> None:
    page = cli_reference()
    for command in COMMANDS:
        for parameter in command.params:
            for name in parameter.opts if isinstance(parameter, click.Option) else ():
                assert f"`{name}`" in page
    for code in EXIT_CODES:
        assert f"\n| {code} | " in page


def test_every_environment_variable_is_on_the_page() -> None:
    declared = {str(p.envvar) for c in COMMANDS for p in c.params if p.envvar}
    read = set(re.findall(r'"((?:REPACK|POD)_[A-Z_]+|NO_COLOR|KUBECONFIG)"', _sources()))
    between_us_and_git = {name for name in read if name.startswith("REPACK_ASKPASS_")}
    assert declared | read - between_us_and_git <= set(ENVIRONMENT)


def _sources() -> str:
    return "\n".join(p.read_text() for p in (ROOT / "repack_gitops").rglob("*.py"))


def command_lines(page: str) -> list[tuple[str, bool]]:
    """Return every call of `repack` in code on a page, and whether it stands in a block and so must be complete."""
    found = []
    for block, inline in _CODE.findall((ROOT / page).read_text()):
        for line in (block or inline).replace("\\\n", " ").replace("\\|", "|").splitlines():
            for part in re.split(r"&&|\||;", line):
                found.append((part.strip().removeprefix("$ ").removeprefix(".venv/bin/"), bool(block)))
    return [(line, complete) for line, complete in found if line.startswith("repack ")]


LINES = [(page, *line) for page in PAGES if (ROOT / page).is_file() for line in command_lines(page)]


@pytest.mark.parametrize(("page", "line", "complete"), LINES)
def test_command_lines_that_we_show_parse(page: str, line: str, complete: bool) -> None:
    words = shlex.split(re.split(r"\s[>#]", line)[0])[1:]
    if words[0] in ("--help", "-h", "--version") or _PLACEHOLDER.fullmatch(words[0]):
        return
    context = click.Context(cli)
    command = cli.get_command(context, words[0])
    if command is None and not complete:
        return  # prose may speak of what is still to come
    assert command is not None, f"there is no command {words[0]}"
    options = [w.partition("=")[0] for w in words[1:] if w.startswith("-") and w != "-"]
    known = {name for p in command.params for name in p.opts} | {"--help", "-h"}
    assert set(options) <= known
    if complete and not {"--help", "-h"} & set(words):
        command.make_parser(context).parse_args(words[1:])


def test_the_readme_shows_command_lines() -> None:
    assert len([line for page, line, _ in LINES if page == "README.md"]) > 5


def test_files_that_the_readme_names_are_there() -> None:
    for _, line, _ in (pair for pair in LINES if pair[0] == "README.md"):
        for name in re.findall(r"examples/\S+", line):
            assert (ROOT / name).is_file(), name
