"""How long reading a snapshot takes: ``python -m bench.snapshot [PODS ...]``.

Every size is read in three forms: as kubectl prints it, the same gzipped, and as ``repack snapshot`` writes it (only the
fields that planning reads). The pods are those of ``examples``: requests, tolerations, volumes, conditions, statuses.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row, arguments, measured, peak_mib, save, show, timed
from examples.fleet import JOB, Machine, Object, Replica, Task, Template, Workload
from examples.groups import pod_group_object
from examples.machines import node_object
from examples.pods import pod_object
from repack_gitops.files.snapshot import read_objects, read_snapshot
from repack_gitops.files.snapshot_writer import write_snapshot

RESOURCE = "nvidia.com/gpu"
CASES = ["10000", "50000"]
COLUMNS = ("form", "pods", "nodes", "mib", "seconds", "cpu_seconds", "peak_mib")
PODS_PER_NODE = 5


def objects(pods: int) -> Iterator[Object]:
    """Yield nodes, pods and PodGroups: gangs of ten, five pods of one card on every node, fifty templates."""
    machines = [_machine(i) for i in range(-(-pods // PODS_PER_NODE))]
    numbers = {m.name: i for i, m in enumerate(machines)}
    yield from (node_object(m, i, RESOURCE) for i, m in enumerate(machines))
    for first in range(0, pods, 10):
        workload = _workload(first // 10)
        members = [_replica(workload, i, machines[(first + i) % len(machines)]) for i in range(min(10, pods - first))]
        yield from (pod_object(r, numbers, RESOURCE, {"train": "train"}) for r in members)
        yield pod_group_object(members, RESOURCE)


def _machine(index: int) -> Machine:
    return Machine(f"gpu-{index:05d}", "train", "zone-a", 8, 128, 1024, labels={"accelerator-pool": "train"})


def _workload(number: int) -> Workload:
    template = Template(
        "registry.example.com/ml/pytorch:2.7.1", 1, 4 + number % 50, 32, ("train",), command=("python", "train.py")
    )
    labels = {"team": "bench", "repack.volcano.sh/eligible": "true"}
    return Workload(JOB, "bench", f"job-{number:05d}", (Task("worker", 10, template),), 48.0, minimum=8, labels=labels)


def _replica(workload: Workload, index: int, machine: Machine) -> Replica:
    return Replica(workload, workload.tasks[0], index, machine.name, 24.0)


def _write_kubectl(path: Path, pods: int) -> None:
    """Write what kubectl prints, item by item: the whole document at once would need gigabytes."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, item in enumerate(objects(pods)):
            file.write(",\n" if number else "")
            file.write(json.dumps(item, indent=4, sort_keys=True))
        file.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


def _forms(folder: Path, pods: int) -> list[Path]:
    plain, packed, ours = folder / "kubectl.json", folder / "kubectl.json.gz", folder / "repack.json"
    _write_kubectl(plain, pods)
    packed.write_bytes(gzip.compress(plain.read_bytes(), compresslevel=1))
    write_snapshot(ours, read_objects(plain))
    return [plain, packed, ours]


def row(path: Path, runs: int) -> Row:
    """Measure the reading of one file in this process."""
    reading = timed(lambda: read_snapshot(path), runs)
    peak = peak_mib()
    snapshot = read_snapshot(path)
    return {
        "form": path.name,
        "pods": len(snapshot.pods),
        "nodes": len(snapshot.nodes),
        "mib": path.stat().st_size // 2**20,
        "seconds": reading.seconds,
        "cpu_seconds": reading.cpu_seconds,
        "peak_mib": peak,
    }


def _rows(sizes: list[str], runs: int) -> Iterator[Row]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for path in _forms(Path(folder), int(size)):
                yield measured("bench.snapshot", str(path), runs)


def main() -> None:
    """Measure the sizes asked for, in pods."""
    asked = arguments((__doc__ or "").split("\n", maxsplit=1)[0], CASES)
    if asked.child:
        sys.stdout.write(json.dumps(row(Path(asked.child), asked.runs)))
        return
    save("snapshot", show(_rows(asked.cases, asked.runs), COLUMNS), asked.output)


if __name__ == "__main__":
    main()
