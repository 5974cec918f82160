"""``repack execute``: what the Job of an approved run does."""

from __future__ import annotations

import os
import signal
import socket
import threading
from pathlib import Path

import click

from repack_gitops.cli.options import RepositoryChoice, kubernetes_options, output_option, progress, repository_options
from repack_gitops.errors import InvalidInput, RunFailed
from repack_gitops.policy.names import RunPath


@click.command("execute", short_help="Execute one merged run and record it.")
@click.option("--run", "run_directory", required=True, help="The run's folder in the repository: runs/<policy>/<run>.")
@click.option(
    "--namespace",
    envvar="POD_NAMESPACE",
    show_envvar=True,
    default="repack-system",
    show_default=True,
    help="Where the executor's Lease lives.",
)
@click.option(
    "--wait",
    "wait_seconds",
    type=click.IntRange(min=0),
    default=1800,
    show_default=True,
    help="Seconds to wait for the Lease or the cooldown.",
)
@repository_options
@kubernetes_options
@output_option
def execute_command(
    *,
    run_directory: str,
    namespace: str,
    wait_seconds: int,
    repository: Path | None,
    git_url: str | None,
    branch: str,
    token_file: Path | None,
    ca_file: Path | None,
    context: str | None,
    kubeconfig: Path | None,
    output: str,
) -> None:
    """Execute one merged run: plan again on live state inside what was approved, evict, follow, verify, record.

    Interrupted at any moment, it goes on where its journal (the RepackRun in the cluster) stands when called again.

    \b
    Example:
      repack execute --repository . --context prod --run runs/nightly/nightly-20261129-020000
    """
    path = RunPath.parse(run_directory.rstrip("/"))
    if path is None:
        raise InvalidInput(f"--run {run_directory} is not a run's folder", hint="Write it as runs/<policy>/<run>.")
    import msgspec

    from repack_gitops.cli.wiring import open_ports
    from repack_gitops.workflow.execute import execute
    from repack_gitops.workflow.execution.executor import Executor
    from repack_gitops.workflow.execution.feed import WatchFeed
    from repack_gitops.workflow.execution.lock import ExecutorLock

    choice, stop = RepositoryChoice(repository, git_url, branch, token_file, ca_file), _stop_signal()
    with open_ports(choice, kubeconfig, context) as ports:
        executor = Executor(
            ports.cluster,
            ports.clock,
            ExecutorLock(ports.cluster, ports.clock, namespace, _holder()),
            lambda: WatchFeed(ports.cluster),
            namespace=namespace,
            progress=progress,
            stopping=stop.is_set,
        )
        outcome = execute(ports, executor, branch, path, wait_seconds)
    status = outcome.run.status if outcome.run else None
    if output == "json":
        click.echo(msgspec.json.encode({"run": path.run, "status": status, "recorded": outcome.recorded.message}).decode())
    else:
        click.echo(status.message if status else "nothing to do")
        click.echo(outcome.recorded.message)
    if status is not None and status.phase == "Failed":
        raise RunFailed(f"run {path.run} failed: {status.conditions[-1].reason}", hint="The result is recorded; see result.md.")


def _holder() -> str:
    """Return who holds the Lease: the pod, or this process where there is none."""
    return os.environ.get("POD_UID") or f"{socket.gethostname()}-{os.getpid()}"


def _stop_signal() -> threading.Event:
    """SIGTERM asks to stop between nodes; the Job's next pod goes on."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    return stop
