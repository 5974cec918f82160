"""What all benchmarks share: each case in a process of its own, a table, a JSON file."""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
Row = dict[str, Any]


@dataclass(frozen=True)
class Timed:
    """Medians over some runs: seconds on the clock, and seconds of processor time."""

    seconds: float
    cpu_seconds: float


def timed(work: Callable[[], object], runs: int) -> Timed:
    """Run ``work`` ``runs`` times."""
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Timed(round(statistics.median(walls), 3), round(statistics.median(cpus), 3))


def peak_mib() -> int:
    """Return the most memory this process ever held, in MiB.

    On Linux from ``/proc``: what ``getrusage`` says there includes the peak of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text(encoding="utf-8").splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024**2


def arguments(description: str, cases: Iterable[str]) -> argparse.Namespace:
    """Parse the command line that all benchmarks have; ``--child`` is how they call themselves."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("cases", nargs="*", default=list(cases), help=f"default: {' '.join(cases)}")
    parser.add_argument("--runs", type=int, default=3, help="runs per case; the median counts")
    parser.add_argument("--output", type=Path, help="where to save the JSON (default: bench/results/)")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def measured(module: str, case: str, runs: int) -> Row:
    """Return the row that ``module`` prints for ``case`` in a fresh process, so that memory is the case's own."""
    command = [sys.executable, "-m", module, "--child", case, "--runs", str(runs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{case} failed:\n{done.stderr}")
    row: Row = json.loads(done.stdout)
    return row


def show(rows: Iterable[Row], columns: Sequence[str]) -> list[Row]:
    """Print ``rows`` as they come, under a heading, and return them."""
    widths = [max(len(c), 12) for c in columns]
    print("  ".join(c.rjust(w) for c, w in zip(columns, widths, strict=True)), flush=True)
    found = []
    for row in rows:
        found.append(row)
        print("  ".join(str(row[c]).rjust(w) for c, w in zip(columns, widths, strict=True)), flush=True)
    return found


def save(name: str, rows: Sequence[Row], output: Path | None) -> None:
    """Save ``rows`` with the machine they were measured on."""
    path = output or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n", encoding="utf-8")
    print(f"saved to {path}")
