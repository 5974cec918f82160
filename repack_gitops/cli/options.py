"""Options that several commands share; environment variables are listed in docs/cli.md."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class RepositoryChoice:
    """The command line's word on which repository to work on."""

    repository: Path | None
    git_url: str | None
    branch: str
    token_file: Path | None
    ca_file: Path | None


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _together(*options: Decorator) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


kubernetes_options = _together(
    click.option("--context", help="The kubeconfig context of the cluster."),
    click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        help="A kubeconfig file; default: KUBECONFIG, ~/.kube/config, in-cluster.",
    ),
)

repository_options = _together(
    click.option(
        "--repository",
        type=click.Path(path_type=Path),
        help="A checked-out repository; its remote is what counts. Default with no --git-url: the current directory.",
    ),
    click.option(
        "--git-url",
        envvar="REPACK_GIT_URL",
        show_envvar=True,
        help="Instead of --repository: clone this URL (no credentials in it).",
    ),
    click.option(
        "--branch", envvar="REPACK_BASE_BRANCH", show_envvar=True, default="main", show_default=True, help="The base branch."
    ),
    click.option(
        "--token-file",
        type=click.Path(path_type=Path),
        envvar="REPACK_TOKEN_FILE",
        show_envvar=True,
        help="A file with the forge token; REPACK_TOKEN holds it directly.",
    ),
    click.option(
        "--ca-file",
        type=click.Path(path_type=Path),
        envvar="REPACK_CA_FILE",
        show_envvar=True,
        help="Certificate authorities of git and forge.",
    ),
)

output_option = click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="json for machines."
)


def _seconds(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse what is no number at all: nothing is ever later than it."""
    if value is not None and isnan(value):
        raise click.BadParameter("nan is no number of seconds")
    return value


time_limit_option = click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    callback=_seconds,
    help="Seconds after which the search makes do with the best plan so far, which is then not reproducible: a last resort, "
    "since every search ends by itself.",
)


def progress(text: str) -> None:
    """Tell on standard error what goes on; whoever stopped listening must not stop the work."""
    with suppress(OSError):
        click.echo(text, err=True)
