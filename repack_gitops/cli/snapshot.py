"""``repack snapshot``: write the live cluster as a file that ``repack plan`` reads."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from repack_gitops.cli.options import kubernetes_options

_STANDARD_OUTPUT = Path("-")


@click.command("snapshot", short_help="Write a cluster to a file that `repack plan` reads.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@kubernetes_options
def snapshot_command(file: Path, context: str | None, kubeconfig: Path | None) -> None:
    """Write everything that planning reads of a cluster to FILE, as a Kubernetes List.

    FILE ends in .json, .yaml, .json.gz or .yaml.gz; - is standard output. Only the fields that planning reads are
    written: no environment variables, no commands, no secrets.

    \b
    Examples:
      repack snapshot --context prod cluster.json.gz
      repack plan --snapshot cluster.json.gz --resource nvidia.com/gpu
    """
    from repack_gitops.cli.wiring import connect_cluster
    from repack_gitops.files.snapshot_writer import write_snapshot
    from repack_gitops.model.decode import build_snapshot

    with connect_cluster(kubeconfig, context) as cluster:
        objects = list(cluster.list_objects())
    build_snapshot(objects)  # an incomplete or inconsistent listing is refused before anything is written
    count = write_snapshot(sys.stdout.buffer if file == _STANDARD_OUTPUT else file, objects)
    click.echo(f"{count} objects written to {'standard output' if file == _STANDARD_OUTPUT else file}", err=True)
