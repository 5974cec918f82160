"""``repack propose``: plan for every policy that is due and keep its pull request true."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import click
import msgspec

from repack_gitops.cli.options import kubernetes_options, output_option, repository_options
from repack_gitops.cli.wiring import RepositoryChoice, open_ports
from repack_gitops.errors import InvalidInput
from repack_gitops.model.duration import DurationError, parse_duration
from repack_gitops.workflow.propose import Tick, propose, summary


@click.command("propose")
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

    Policies are read from the base branch of the remote. A second call with the same cluster changes nothing.

    \b
    Examples:
      repack propose --git-url https://git.example.com/platform/repack.git --token-file /run/secrets/token
      repack propose --repository . --context prod --policy nightly
    """
    choice = RepositoryChoice(repository, git_url, branch, token_file, ca_file)
    with open_ports(choice, kubeconfig, context) as ports:
        wanted = Tick(_duration(tick), frozenset(policies))
        reports = propose(ports, branch, wanted, lambda text: click.echo(text, err=True))
    unknown = set(policies) - {r.policy for r in reports}
    if unknown:
        raise InvalidInput(f"no policy is called {', '.join(sorted(unknown))}", hint="Look into policies/ on the base branch.")
    if output == "json":
        click.echo(msgspec.json.encode([asdict(r) for r in reports]).decode())
    else:
        click.echo(summary(reports) or "no policies")


def _duration(text: str) -> timedelta:
    try:
        return timedelta(milliseconds=parse_duration(text))
    except DurationError as error:
        raise InvalidInput(f"--tick: {error}", hint="Write it like 15m.") from error
