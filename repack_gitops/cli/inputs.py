"""What `repack plan` and `repack explain` are asked about: a run, and a cluster as a file or live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repack_gitops.cli.options import kubernetes_options
from repack_gitops.model.options import FRONTIER_STRATEGIES, STRATEGIES

if TYPE_CHECKING:
    from repack_gitops.model.cluster import ClusterSnapshot
    from repack_gitops.model.options import PlannerOptions
    from repack_gitops.model.run import RepackRun

_MOST = 2**31 - 1
_OPTIONS = (
    click.option(
        "--snapshot",
        type=click.Path(path_type=Path),
        help="A List as kubectl or `repack snapshot` prints it (.json, .yaml, .gz).",
    ),
    click.option("--run", "run_file", type=click.Path(path_type=Path), help="A RepackRun file with goal, scope and budget."),
    click.option(
        "--policy",
        "policy_file",
        type=click.Path(path_type=Path),
        help="Instead of --run: a RepackPolicy file, whose run template and safety options are tried.",
    ),
    click.option("--resource", help="Instead of --run: the extended resource, such as nvidia.com/gpu."),
    click.option(
        "--min-improvement",
        type=click.IntRange(0, 100),
        default=0,
        show_default=True,
        help="With --resource: least gain in percentage points.",
    ),
    click.option("--max-pod-groups", type=click.IntRange(0, _MOST), help="With --resource: most PodGroups touched."),
    click.option("--max-cards", type=click.IntRange(0, _MOST), help="With --resource: most cards moved."),
    click.option(
        "--strategy",
        type=click.Choice(STRATEGIES),
        help=f"How plans are searched; by default as the run records, else {STRATEGIES[0]}.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The options as they were given."""

    snapshot: Path | None
    run_file: Path | None
    policy_file: Path | None
    resource: str | None
    min_improvement: int
    max_pod_groups: int | None
    max_cards: int | None
    strategy: str | None
    context: str | None
    kubeconfig: Path | None

    def check(self) -> None:
        """Raise click.UsageError where options contradict each other."""
        if sum(given is not None for given in (self.run_file, self.policy_file, self.resource)) != 1:
            raise click.UsageError("give either --run FILE, --policy FILE or --resource NAME")
        limited = bool(self.min_improvement) or self.max_pod_groups is not None or self.max_cards is not None
        if self.resource is None and limited:
            raise click.UsageError("--max-pod-groups, --max-cards and --min-improvement go with --resource; edit the file")
        if self.snapshot is not None and (self.context or self.kubeconfig):
            raise click.UsageError("give either --snapshot FILE or --context/--kubeconfig")
        if self.snapshot is None and self.context is None and self.kubeconfig is None:
            raise click.UsageError("give --snapshot FILE, --context NAME or --kubeconfig FILE")

    @property
    def certain_strategy(self) -> str | None:
        """The strategy where it is known before any file is read, else None."""
        return self.strategy or (STRATEGIES[0] if self.resource is not None else None)

    def read(self) -> tuple[RepackRun, PlannerOptions, ClusterSnapshot, str]:
        """Return the run, the planner's options, the cluster and its moment."""
        # Only now what takes time to load: `repack --help` does without.
        from repack_gitops.cli import planning

        if self.policy_file is not None:
            request = planning.request_from_policy(self.policy_file)
        elif self.run_file is not None:
            request = planning.request_from_run(self.run_file)
        else:
            request = planning.request_for_resource(
                str(self.resource), self.min_improvement, self.max_pod_groups, self.max_cards
            )
        found, now = (
            planning.snapshot_from_file(self.snapshot)
            if self.snapshot is not None
            else planning.snapshot_of_cluster(self.kubeconfig, self.context)
        )
        run, options = request(now)
        strategy = self.strategy or options.strategy
        # A run may record a frontier that the strategy chosen here cannot tell.
        frontier = options.frontier and strategy in FRONTIER_STRATEGIES
        return run, replace(options, strategy=strategy, frontier=frontier), found, now


def planning_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that `Inputs` takes."""
    command = kubernetes_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
