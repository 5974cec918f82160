"""``repack plan``: evaluate a run on a snapshot or on a live cluster; nothing is evicted or written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import click

from repack_gitops.cli.inputs import Inputs, planning_options
from repack_gitops.cli.options import time_limit_option
from repack_gitops.model.options import FRONTIER_STRATEGIES


@click.command("plan", short_help="Show which nodes could be freed, and whom that disturbs.")
@planning_options
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "yaml", "json", "markdown"]),
    default="table",
    show_default=True,
    help="yaml and json are the RepackRun with its status.",
)
@click.option("--frontier", is_flag=True, help="Also show what less disruption would free (not with --strategy Drain).")
@time_limit_option
def plan_command(
    *, output: Literal["table", "yaml", "json", "markdown"], frontier: bool, time_limit: float | None, **inputs: Any
) -> None:
    """Show which nodes could be freed, and whom that would disturb.

    An evaluation that comes to its end has exit code 0, whether a repack is recommended, there is no fragmentation, or
    the improvement is insufficient. With -o yaml or json the RepackRun with its status is printed.

    The plan.yaml of a proposal holds the options it was made with: with --run they apply again. With --policy, ages
    count from now, or from the newest pod of a snapshot; what past runs moved and guardrails are not looked up.

    With --frontier the strategy Optimal plans several times, each time with a tighter limit on the PodGroups, then on
    the cards moved, and shows how many nodes each limit still frees.

    Ctrl-C ends the search with the best plan so far and exit code 130; pressed again, it ends everything. --time-limit
    does the same with exit code 0. Such a plan says that it is not reproducible; where nothing was found yet, nothing is
    printed.

    \b
    Examples:
      repack plan --snapshot cluster.json.gz --resource nvidia.com/gpu
      repack plan --context prod --resource huawei.com/ascend-1980 --max-pod-groups 2 --max-cards 16
      repack plan --context prod --run nightly.yaml -o yaml
      repack plan --snapshot cluster.json.gz --policy policies/nightly.yaml
      repack plan --snapshot cluster.json.gz --resource nvidia.com/gpu --frontier
    """
    given = Inputs(**inputs)
    given.check()
    if frontier and given.certain_strategy is not None:
        _check_frontier(given.certain_strategy)
    # Only now what takes time to load: `repack --help` does without.
    from repack_gitops.cli import planning, waiting

    run, options, found, now = given.read()
    if frontier:
        _check_frontier(options.strategy)
        options = replace(options, frontier=True)
    waiting.answer(lambda watch: planning.answered(output, run, found, options, watch, now=now), time_limit)


def _check_frontier(strategy: str) -> None:
    if strategy not in FRONTIER_STRATEGIES:
        able = " or ".join(sorted(FRONTIER_STRATEGIES))
        raise click.UsageError(f"--frontier takes strategy {able}, not {strategy}; add --strategy {able}")
