"""docs/benchmarks.md from the saved results: ``python -m bench.page [--check]``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.measure import RESULTS, ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
_INTRODUCTION = """# Benchmarks

What strategy `Optimal` finds on synthetic clusters, beside `Drain`, the guide's greedy algorithm. Clusters are drawn from a
seed, so every machine plans the same ones; about half of the cards are in use, at random places, and workloads are of all
sizes up to 64 pods (`mixed`: 400).

| shape | what it is |
|---|---|
| ample | nodes of 8 cards, pods of 1, 2, 4 and 8; services, and gangs that may miss few members; cards run out first |
| tight | the same with cpu and memory per card that differ between workloads, so that either may run out before the cards |
| gangs | nearly all workloads are gangs |
| pinned | 30 % of the nodes hold a pod that may not move |
| odd | pods of 1, 2, 3 and 4 cards: sizes that do not divide each other |
| unequal | nodes of 4, 8 and 16 cards |
| spread | one pod of 2 cards on every node, each of a PodGroup of its own |
| mixed | all at once: pools with selectors and taints, anti-affinity, host ports, DaemonSets, tight, 30 % pinned |

* **Bound**: no plan frees more nodes.
* **Settled**: the levels of the objective in which no plan is better, of 6: nodes freed, PodGroups, breaches, damaged cards,
  moved cards, moved pods.
* **Proof**: seconds from the start of the search until a plan was there that is known to free the most nodes.
* **All**: seconds for the whole evaluation, with Drain's plan and everything that a report shows.
* **MiB**: the peak of the process, with the cluster.

A limit in the first column is `maxPerRun`, in percent of the PodGroups or cards that there are.
"""
_REPEAT = """
## How to repeat it

```sh
python -m bench.planner --runs 1                      # everything, about half an hour; saves bench/results/planner.json
python -m bench.planner ample:1000 tight:5000:groups=5%   # some of it
python -m bench.page                                  # writes this page from what was saved
```

Python {python} on {machine}, one thread, two cores shared with other work: compare ratios, not seconds.
"""
_HEADER = (
    "cluster",
    "pods",
    "Drain: nodes",
    "PodGroups",
    "s",
    "Optimal: nodes",
    "bound",
    "PodGroups",
    "settled",
    "proof s",
    "all s",
    "MiB",
)


def page(saved: Mapping[str, Any]) -> str:
    """Return the page for what ``bench.planner`` saved."""
    rows = [_cells(row) for row in saved["rows"]]
    table = [_line(_HEADER), _line(["---", *["---:"] * (len(_HEADER) - 1)]), *map(_line, rows)]
    machine = saved["machine"]
    return f"{_INTRODUCTION}\n" + "\n".join(table) + "\n" + _REPEAT.format(python=machine["python"], machine=machine["machine"])


def _cells(row: Mapping[str, Any]) -> Sequence[str]:
    kind, nodes, *limit = str(row["case"]).split(":")
    name = f"{kind} {int(nodes):,}" + "".join(f", {x.replace('=', ' ≤ ')}" for x in limit)
    numbers = (row["pods"], row["drain_freed"], row["drain_groups"])
    found = (f"**{row['freed']:,}**", f"{row['bound']:,}", f"{row['groups']:,}", str(row["settled"]))
    proof = "" if row["proof_s"] is None else f"{row['proof_s']:.1f}"
    return (
        name,
        *(f"{n:,}" for n in numbers),
        f"{row['drain_s']:.1f}",
        *found,
        proof,
        f"{row['seconds']:.1f}",
        str(row["peak_mib"]),
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is stale")
    check = parser.parse_args().check
    text = page(json.loads((RESULTS / "planner.json").read_text(encoding="utf-8")))
    stale = not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text
    if stale and not check:
        PAGE.write_text(text, encoding="utf-8")
    return int(check and stale)


if __name__ == "__main__":
    raise SystemExit(main())
