"""Options that several commands share; environment variables are listed in docs/cli.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

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
    click.option("--git-url", envvar="REPACK_GIT_URL", help="Instead of --repository: clone this URL (no credentials in it)."),
    click.option("--branch", envvar="REPACK_BASE_BRANCH", default="main", show_default=True, help="The base branch."),
    click.option(
        "--token-file",
        type=click.Path(path_type=Path),
        envvar="REPACK_TOKEN_FILE",
        help="A file with the forge token; REPACK_TOKEN holds it directly.",
    ),
    click.option(
        "--ca-file", type=click.Path(path_type=Path), envvar="REPACK_CA_FILE", help="Certificate authorities of git and forge."
    ),
)

output_option = click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True, help="json for machines."
)
