"""``repack plan``: evaluate a run on a snapshot or on a live cluster; nothing is evicted or written."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import click
import msgspec

from repack_gitops.cli.options import kubernetes_options
from repack_gitops.cli.wiring import connect_cluster
from repack_gitops.errors import RepackError
from repack_gitops.files.documents import read_document
from repack_gitops.files.snapshot import read_snapshot
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.documents import read_run
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import RepackRun, new_run
from repack_gitops.model.status import dry_run_status
from repack_gitops.model.writing import to_yaml
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify
from repack_gitops.report.evaluation import evaluation_markdown
from repack_gitops.report.table import plan_table

Format = Literal["table", "yaml", "json", "markdown"]
_EPOCH = "1970-01-01T00:00:00Z"


@click.command("plan")
@click.option(
    "--snapshot", type=click.Path(path_type=Path), help="A List as kubectl or `repack snapshot` prints it (.json, .yaml, .gz)."
)
@click.option("--run", "run_file", type=click.Path(path_type=Path), help="A RepackRun file with goal, scope and budget.")
@click.option("--resource", help="Instead of --run: the extended resource, such as nvidia.com/gpu.")
@click.option(
    "--min-improvement",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    help="With --resource: least gain in percentage points.",
)
@click.option("--max-pod-groups", type=click.IntRange(min=0), help="With --resource: most PodGroups touched.")
@click.option("--max-cards", type=click.IntRange(min=0), help="With --resource: most cards moved.")
@click.option("--strategy", type=click.Choice(["Drain"]), default="Drain", show_default=True, help="How plans are searched.")
@click.option("-o", "--output", type=click.Choice(["table", "yaml", "json", "markdown"]), default="table", show_default=True)
@kubernetes_options
def plan_command(
    *,
    snapshot: Path | None,
    run_file: Path | None,
    resource: str | None,
    min_improvement: int,
    max_pod_groups: int | None,
    max_cards: int | None,
    strategy: str,
    output: Format,
    context: str | None,
    kubeconfig: Path | None,
) -> None:
    """Show which nodes could be freed, and whom that would disturb.

    The evaluation always completes with exit code 0, whether a repack is recommended, there is no fragmentation, or
    the improvement is insufficient. With -o yaml or json the RepackRun with its status is printed.

    \b
    Examples:
      repack plan --snapshot cluster.json.gz --resource nvidia.com/gpu
      repack plan --context prod --resource huawei.com/ascend-1980 --max-pod-groups 2 --max-cards 16
      repack plan --context prod --run nightly.yaml -o yaml
    """
    del strategy  # one so far; the choice is checked by click
    run = _run(run_file, resource, min_improvement, max_pod_groups, max_cards)
    found, now = _cluster(snapshot, context, kubeconfig)
    evaluation = evaluate(found, run.spec)
    problems = verify(found, run.spec, evaluation)
    if problems:
        raise RepackError(f"the plan did not pass its own judge: {problems[0]}", hint="Please report this with the snapshot.")
    click.echo(_render(output, run, found, evaluation, now), nl=False)


def _run(file: Path | None, resource: str | None, percent: int, pod_groups: int | None, cards: int | None) -> RepackRun:
    if (file is None) == (resource is None):
        raise click.UsageError("give either --run FILE or --resource NAME")
    if file is not None:
        if pod_groups is not None or cards is not None or percent:
            raise click.UsageError("--max-pod-groups, --max-cards and --min-improvement go with --resource; edit the run file")
        run = read_run(read_document(file), str(file))
        return new_run(run.metadata, msgspec.structs.replace(run.spec, mode="DryRun"))
    goal = {"resource": resource, "minFragImprovementPercent": percent}
    limits = {"podGroups": pod_groups} if pod_groups is not None else {}
    document = {
        "apiVersion": "repack.volcano.sh/v1alpha1",
        "kind": "RepackRun",
        "metadata": {"name": "plan"},
        "spec": {
            "mode": "DryRun",
            "goals": [goal],
            "maxPerRun": {**limits, **({"resources": {resource: cards}} if cards is not None else {})},
        },
    }
    return read_run(msgspec.json.encode(document), "--resource")


def _cluster(snapshot: Path | None, context: str | None, kubeconfig: Path | None) -> tuple[ClusterSnapshot, str]:
    """Return the snapshot and its moment; a file's is its newest pod's, so that the same file gives the same bytes."""
    if snapshot is not None and (context or kubeconfig):
        raise click.UsageError("give either --snapshot FILE or --context/--kubeconfig")
    if snapshot is not None:
        found = read_snapshot(snapshot)
        return found, max((p.created for p in found.pods), default="") or _EPOCH
    if context is None and kubeconfig is None:
        raise click.UsageError("give --snapshot FILE, --context NAME or --kubeconfig FILE")
    with connect_cluster(kubeconfig, context) as cluster:
        return build_snapshot(cluster.list_objects()), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _render(output: Format, run: RepackRun, snapshot: ClusterSnapshot, evaluation: Evaluation, now: str) -> str:
    threshold = run.spec.goals[0].min_frag_improvement_percent
    match output:
        case "table":
            width = os.get_terminal_size().columns if sys.stdout.isatty() else 100
            colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
            unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
            return plan_table(evaluation, run.spec, snapshot, width=width, colour=colour, unicode=unicode)
        case "markdown":
            return evaluation_markdown(evaluation, run.spec)
        case "yaml":
            return to_yaml(new_run(run.metadata, run.spec, dry_run_status(evaluation, now, threshold=threshold)))
        case "json":
            planned = new_run(run.metadata, run.spec, dry_run_status(evaluation, now, threshold=threshold))
            return msgspec.json.format(msgspec.json.encode(planned), indent=2).decode() + "\n"
