"""The command line: errors become one message and an exit code; no traceback reaches a user unless asked for."""

from __future__ import annotations

import os
import sys

import click

from repack_gitops import __version__
from repack_gitops.cli.dispatch import dispatch_command
from repack_gitops.cli.execute import execute_command
from repack_gitops.cli.plan import plan_command
from repack_gitops.cli.propose import propose_command
from repack_gitops.cli.snapshot import snapshot_command
from repack_gitops.errors import RepackError

DEBUG = "REPACK_DEBUG"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="repack")
def cli() -> None:
    """Defragment GPU and NPU nodes of a Volcano cluster, governed by pull requests.

    Policies live in git. `repack propose` plans against the live cluster and opens a pull request; its merge makes
    `repack dispatch` start a Job, in which `repack execute` moves the pods and commits the result.

    \b
    Start here, without any cluster:
      repack plan --snapshot examples/fleet-gpu.json.gz --resource nvidia.com/gpu
    """


for command in (plan_command, snapshot_command, propose_command, dispatch_command, execute_command):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit with a documented code."""
    try:
        code = cli.main(prog_name="repack", standalone_mode=False)
    except RepackError as error:
        _say(error.message, error.hint)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away (`repack plan | head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        _say(f"internal error: {type(error).__name__}: {error}", f"Set {DEBUG}=1 to see where, and please report it.")
        sys.exit(RepackError.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _say(message: str, hint: str) -> None:
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    label = click.style("error:", fg="red", bold=True) if colour else "error:"
    click.echo(f"{label} {message}", err=True)
    if hint:
        click.echo(f"  {hint}", err=True)


if __name__ == "__main__":
    main()
