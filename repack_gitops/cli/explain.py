"""``repack explain``: why a node is not freed, or a pod does not move, and the nearest thing that would change it."""

from __future__ import annotations

from typing import Any, Literal

import click

from repack_gitops.cli.inputs import Inputs, planning_options
from repack_gitops.cli.options import output_option, time_limit_option


@click.command("explain", short_help="Show why nodes stay, and what would change it.")
@planning_options
@output_option
@time_limit_option
@click.argument("kind", type=click.Choice(["node", "podgroup", "pod"]), required=False)
@click.argument("name", required=False)
def explain_command(
    *,
    kind: Literal["node", "podgroup", "pod"] | None,
    name: str | None,
    output: Literal["text", "json"],
    time_limit: float | None,
    **inputs: Any,
) -> None:
    """Show why nodes stay, and the nearest thing that would change it.

    Without a subject: every occupied node that stays, by reason. For a node: its pods, which may move, and what closes
    the other nodes to them. For a podgroup: its members, slack and scope. For a pod: every other occupied node with its
    verdict. The evaluation is that of `repack plan` with the same options; nothing is evicted or written. Ctrl-C and
    --time-limit end its search as they do there.

    \b
    Examples:
      repack explain --snapshot cluster.json.gz --resource nvidia.com/gpu
      repack explain --snapshot cluster.json.gz --resource nvidia.com/gpu node gpu-07
      repack explain --context prod --run nightly.yaml podgroup team/train-7
      repack explain --context prod --run nightly.yaml pod team/train-7-worker-0 -o json
    """
    given = Inputs(**inputs)
    given.check()
    _check_subject(kind, name)
    # Only now what takes time to load: `repack --help` does without.
    from repack_gitops.cli import explaining, waiting

    run, options, found, _ = given.read()
    subject = (kind, name or "")
    waiting.answer(lambda watch: explaining.explained(found, (run, options), watch, subject=subject, output=output), time_limit)


def _check_subject(kind: str | None, name: str | None) -> None:
    if kind is not None and not name:
        raise click.UsageError(f"give the name of the {kind}")
    if kind in ("podgroup", "pod") and not all(str(name).partition("/")):
        raise click.UsageError(f"a {kind} is named NS/NAME, not {name}")
