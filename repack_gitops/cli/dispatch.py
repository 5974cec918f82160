"""``repack dispatch``: one Job per approved run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from repack_gitops.cli.options import RepositoryChoice, kubernetes_options, output_option, repository_options
from repack_gitops.errors import Refused


@click.command("dispatch", short_help="Start one Job per merged run.")
@repository_options
@kubernetes_options
@output_option
def dispatch_command(
    *,
    repository: Path | None,
    git_url: str | None,
    branch: str,
    token_file: Path | None,
    ca_file: Path | None,
    context: str | None,
    kubeconfig: Path | None,
    output: str,
) -> None:
    """Create a Kubernetes Job for every run that is merged and has no result yet.

    The Job's name follows from the run and its plan, so calling this again is a no-op.

    \b
    Example:
      repack dispatch --git-url https://git.example.com/platform/repack.git --token-file /run/secrets/token
    """
    from repack_gitops.cli.wiring import open_ports
    from repack_gitops.workflow.dispatch import dispatch

    choice = RepositoryChoice(repository, git_url, branch, token_file, ca_file)
    with open_ports(choice, kubeconfig, context) as ports:
        found = dispatch(ports, branch)
    if output == "json":
        click.echo(json.dumps([asdict(d) for d in found]))
    else:
        for d in found:
            click.echo(" ".join(part for part in (f"{d.run}: {d.action}", d.job, d.message) if part))
        if not found:
            click.echo("no approved run waits")
    if any(d.action == "refused" for d in found):
        raise Refused("not every approved run may be executed", hint="See the lines above.")
