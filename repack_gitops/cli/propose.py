"""``repack propose``: plan for every policy that is due and keep its pull request true."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import click

from repack_gitops.cli.exit_codes import worst
from repack_gitops.cli.options import RepositoryChoice, kubernetes_options, output_option, progress, repository_options
from repack_gitops.errors import InvalidInput
from repack_gitops.model.duration import DurationError, parse_duration


@click.command("propose", short_help="Keep one pull request per policy true.")
@click.option("--policy", "policies", multiple=True, help="Look at this policy whether it is due or not; repeatable.")
@click.option(
    "--tick",
    default="15m",
    show_default=True,
    help="The period this command is called with: how far back a cronSchedule counts.",
)
@repository_options
@kubernetes_options
@output_option
def propose_command(
    *,
    policies: tuple[str, ...],
    tick: str,
    repository: Path | None,
    git_url: str | None,
    branch: str,
    token_file: Path | None,
    ca_file: Path | None,
    context: str | None,
    kubeconfig: Path | None,
    output: str,
) -> None:
    """Plan against the live cluster and open, update or close one pull request per policy.

    Policies are read from the base branch of the remote. A second call with the same cluster changes nothing. A policy
    that is broken or cannot be served is reported, the others are served, and the exit code tells.

    \b
    Examples:
      repack propose --git-url https://git.example.com/platform/repack.git --token-file /run/secrets/token
      repack propose --repository . --context prod --policy nightly
    """
    lookback = _duration(tick)
    from repack_gitops.cli.wiring import open_ports
    from repack_gitops.workflow.propose import Tick, propose, summary

    choice = RepositoryChoice(repository, git_url, branch, token_file, ca_file)
    with open_ports(choice, kubeconfig, context) as ports:
        reports = propose(ports, branch, Tick(lookback, frozenset(policies)), progress)
    text = json.dumps([asdict(r) for r in reports]) if output == "json" else summary(reports)
    click.echo(text or "no policies")
    failed = [r for r in reports if r.exit_code]
    if failed:
        click.echo(f"error: {len(failed)} of {len(reports)} policies could not be served: see above", err=True)
        raise click.exceptions.Exit(worst([r.exit_code for r in failed]))


def _duration(text: str) -> timedelta:
    try:
        return timedelta(milliseconds=parse_duration(text))
    except DurationError as error:
        raise InvalidInput(f"--tick: {error}", hint="Write it like 15m.") from error
