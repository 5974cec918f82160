"""``repack plan``: evaluate a run on a snapshot or on a live cluster; nothing is evicted or written."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from repack_gitops.cli.options import kubernetes_options


@click.command("plan", short_help="Show which nodes could be freed, and whom that disturbs.")
@click.option(
    "--snapshot", type=click.Path(path_type=Path), help="A List as kubectl or `repack snapshot` prints it (.json, .yaml, .gz)."
)
@click.option("--run", "run_file", type=click.Path(path_type=Path), help="A RepackRun file with goal, scope and budget.")
@click.option(
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path),
    help="Instead of --run: a RepackPolicy file, whose run template and safety options are tried.",
)
@click.option("--resource", help="Instead of --run: the extended resource, such as nvidia.com/gpu.")
@click.option(
    "--min-improvement",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    help="With --resource: least gain in percentage points.",
)
@click.option("--max-pod-groups", type=click.IntRange(0, 2**31 - 1), help="With --resource: most PodGroups touched.")
@click.option("--max-cards", type=click.IntRange(0, 2**31 - 1), help="With --resource: most cards moved.")
@click.option("--strategy", type=click.Choice(["Drain"]), default="Drain", show_default=True, help="How plans are searched.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "yaml", "json", "markdown"]),
    default="table",
    show_default=True,
    help="yaml and json are the RepackRun with its status.",
)
@kubernetes_options
def plan_command(
    *,
    snapshot: Path | None,
    run_file: Path | None,
    policy_file: Path | None,
    resource: str | None,
    min_improvement: int,
    max_pod_groups: int | None,
    max_cards: int | None,
    strategy: str,
    output: Literal["table", "yaml", "json", "markdown"],
    context: str | None,
    kubeconfig: Path | None,
) -> None:
    """Show which nodes could be freed, and whom that would disturb.

    The evaluation always completes with exit code 0, whether a repack is recommended, there is no fragmentation, or
    the improvement is insufficient. With -o yaml or json the RepackRun with its status is printed.

    The plan.yaml of a proposal holds the options it was made with: with --run they apply again. With --policy, ages
    count from now, or from the newest pod of a snapshot; what past runs moved and guardrails are not looked up.

    \b
    Examples:
      repack plan --snapshot cluster.json.gz --resource nvidia.com/gpu
      repack plan --context prod --resource huawei.com/ascend-1980 --max-pod-groups 2 --max-cards 16
      repack plan --context prod --run nightly.yaml -o yaml
      repack plan --snapshot cluster.json.gz --policy policies/nightly.yaml
    """
    del strategy  # one so far; the choice is checked by click
    _check_run(run_file, policy_file, resource, bool(min_improvement) or max_pod_groups is not None or max_cards is not None)
    _check_cluster(snapshot, context, kubeconfig)
    # Only now what takes time to load: `repack --help` does without.
    from repack_gitops.cli import planning

    if policy_file is not None:
        request = planning.request_from_policy(policy_file)
    elif run_file is not None:
        request = planning.request_from_run(run_file)
    else:
        request = planning.request_for_resource(str(resource), min_improvement, max_pod_groups, max_cards)
    found, now = (
        planning.snapshot_from_file(snapshot) if snapshot is not None else planning.snapshot_of_cluster(kubeconfig, context)
    )
    run, options = request(now)
    planning.show(planning.rendered(output, run, found, planning.judged(found, run.spec, options), now))


def _check_run(run: Path | None, policy: Path | None, resource: str | None, limited: bool) -> None:
    if sum(given is not None for given in (run, policy, resource)) != 1:
        raise click.UsageError("give either --run FILE, --policy FILE or --resource NAME")
    if resource is None and limited:
        raise click.UsageError("--max-pod-groups, --max-cards and --min-improvement go with --resource; edit the file")


def _check_cluster(snapshot: Path | None, context: str | None, kubeconfig: Path | None) -> None:
    if snapshot is not None and (context or kubeconfig):
        raise click.UsageError("give either --snapshot FILE or --context/--kubeconfig")
    if snapshot is None and context is None and kubeconfig is None:
        raise click.UsageError("give --snapshot FILE, --context NAME or --kubeconfig FILE")
