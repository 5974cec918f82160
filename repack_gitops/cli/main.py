"""The command line: errors become one message and an exit code; no traceback reaches a user unless asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from repack_gitops import __version__
from repack_gitops.cli.dispatch import dispatch_command
from repack_gitops.cli.execute import execute_command
from repack_gitops.cli.exit_codes import INTERRUPTED, OPERATING_SYSTEM, READER_GONE
from repack_gitops.cli.explain import explain_command
from repack_gitops.cli.plan import plan_command
from repack_gitops.cli.propose import propose_command
from repack_gitops.cli.secrets import scrubbed
from repack_gitops.cli.snapshot import snapshot_command
from repack_gitops.errors import RepackError

DEBUG = "REPACK_DEBUG"
_COMPLETION = "_REPACK_COMPLETE"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="repack")
def cli() -> None:
    """Defragment GPU and NPU nodes of a Volcano cluster, governed by pull requests.

    Policies live in git. `repack propose` plans against the live cluster and opens a pull request; its merge makes
    `repack dispatch` start a Job, in which `repack execute` moves the pods and commits the result.

    \b
    Example, without any cluster:
      repack plan --snapshot examples/fleet-gpu.json.gz --resource nvidia.com/gpu
    """


#: In the order of their story. What takes time to load they load when they run, so that `repack --help` is quick.
COMMANDS = (plan_command, explain_command, snapshot_command, propose_command, dispatch_command, execute_command)
for command in COMMANDS:
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with a documented code."""
    for stream in (sys.stdout, sys.stderr):
        # Names of files may hold any bytes, and terminals may know few characters: neither is worth a failure.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_exit_code(list(sys.argv[1:] if arguments is None else arguments)))


def _exit_code(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except RepackError as error:
        return _say(error.exit_code, error.message, error.hint)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say(INTERRUPTED, "interrupted")
    except BrokenPipeError:
        # The reader of our output went away (`repack plan | head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:
        return _unexpected(error)


def _run(arguments: list[str]) -> int:
    """Run one command; without click's own ``main``, which gives a broken pipe a code of its own."""
    if os.environ.get(_COMPLETION):
        cli.main(prog_name="repack")
    try:
        with cli.make_context("repack", arguments) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    sys.stdout.flush()
    return 0


def _unexpected(error: Exception) -> int:
    if os.environ.get(DEBUG):
        click.echo(scrubbed(traceback.format_exc()), err=True, nl=False)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        hint = "Free some space, or correct the permissions, then repeat."
        return _say(OPERATING_SYSTEM, f"{where}{error.strerror.lower()}", hint)
    hint = "Please report it." if os.environ.get(DEBUG) else f"Set {DEBUG}=1 to see where, and please report it."
    return _say(RepackError.exit_code, f"internal error: {type(error).__name__}: {error}", hint)


def _say(code: int, message: str, hint: str = "") -> int:
    """Print an error, in colour on a terminal, and return its code."""
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    label = click.style("error:", fg="red", bold=True) if colour else "error:"
    click.echo(f"{label} {scrubbed(message)}", err=True)
    if hint:
        click.echo(f"  {scrubbed(hint)}", err=True)
    return code


if __name__ == "__main__":
    main()
