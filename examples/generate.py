"""Writes the example snapshots: ``python -m examples.generate``; with ``--check``, only says whether they are current.

Everything follows from seeds and from a fixed moment, so the files change only when this generator does. They are what
``kubectl get nodes,pods,podgroups.scheduling.volcano.sh,poddisruptionbudgets,jobs.batch.volcano.sh,modelservings -A
-o json`` prints.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from examples import gpu_fleet, npu_fleet
from examples.fleet import JOB, MODEL_SERVING, Daemon, Machine, Object, Replica, Workload
from examples.groups import budget_object, job_object, pod_group_object, serving_object
from examples.history import live_through
from examples.machines import node_object
from examples.pods import daemon_object, group_name, pod_object

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Fleet:
    """One example: its file, and what it is made of."""

    path: Path
    resource: str
    seed: int
    pools: dict[str, str]
    machines: Sequence[Machine]
    daemons: Sequence[Daemon]
    workloads: Sequence[Workload]


def fleets() -> list[Fleet]:
    """Return all examples."""
    files = {"fleet-gpu.json.gz": gpu_fleet, "fleet-npu.json": npu_fleet}
    return [
        Fleet(HERE / name, m.RESOURCE, m.SEED, m.POOLS, m.machines(), m.daemons(), m.workloads()) for name, m in files.items()
    ]


def listing(fleet: Fleet) -> bytes:
    """Return the List of ``fleet`` as kubectl prints it."""
    document = {"apiVersion": "v1", "items": _items(fleet), "kind": "List", "metadata": {"resourceVersion": ""}}
    return (json.dumps(document, indent=4, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _items(fleet: Fleet) -> list[Object]:
    """Return the objects, kind by kind in the order asked for, each by namespace and name."""
    daemons = [(d, m) for d in fleet.daemons for m in fleet.machines if d.runs_on(m)]
    taken = Counter({m.name: d.cards for d, m in daemons if d.cards})
    replicas = live_through(fleet.machines, fleet.workloads, Random(fleet.seed), taken)
    numbers = {m.name: i for i, m in enumerate(fleet.machines)}
    nodes = [node_object(m, i, fleet.resource) for i, m in enumerate(fleet.machines)]
    pods = [pod_object(r, numbers, fleet.resource, fleet.pools) for r in replicas]
    pods += [daemon_object(d, m, numbers, fleet.resource) for d, m in daemons]
    groups = [pod_group_object(members, fleet.resource) for members in _by_group(replicas)]
    mine = {w: [r for r in replicas if r.workload is w] for w in fleet.workloads}
    budgets = [budget_object(w, found) for w, found in mine.items() if found and w.keeps_available is not None]
    jobs = [job_object(w, found, fleet.resource) for w, found in mine.items() if found and w.kind == JOB]
    servings = [serving_object(w, found) for w, found in mine.items() if found and w.kind == MODEL_SERVING]
    return [item for kind in (nodes, pods, groups, budgets, jobs, servings) for item in sorted(kind, key=_order)]


def _by_group(replicas: Sequence[Replica]) -> list[list[Replica]]:
    found: dict[tuple[str, str], list[Replica]] = {}
    for replica in replicas:
        name = group_name(replica)
        if name is not None:
            found.setdefault((replica.workload.namespace, name), []).append(replica)
    return list(found.values())


def _order(item: Object) -> tuple[str, str]:
    return (item["metadata"].get("namespace", ""), item["metadata"]["name"])


def current(fleet: Fleet) -> bool:
    """Tell whether the file of ``fleet`` holds what this generator writes; compression may differ between machines."""
    if not fleet.path.exists():
        return False
    content = fleet.path.read_bytes()
    return (gzip.decompress(content) if fleet.path.suffix == ".gz" else content) == listing(fleet)


def write(fleet: Fleet) -> None:
    """Write the file of ``fleet``."""
    content = listing(fleet)
    if fleet.path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    fleet.path.write_bytes(content)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = sys.stdout.write) -> int:
    """Write or check every example; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is not current")
    check = parser.parse_args(arguments).check
    stale = [f for f in fleets() if not current(f)]
    for fleet in stale:
        if not check:
            write(fleet)
        say(f"{fleet.path.name} {'is not current' if check else 'written'}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
