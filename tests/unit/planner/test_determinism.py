"""The same snapshot gives the same bytes: whatever the order of the input, and under any hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.planner import evaluate
from tests.unit.planner.build import spec
from tests.unit.planner.objects import Object, node_object, pod_object, snapshot_of
from tests.unit.planner.random_clusters import random_case

ROOT = Path(__file__).parents[3]
CASES = 150


def digest() -> str:
    """Return a hash of the evaluations of the first cases; `python -m` of this module prints it."""
    found = hashlib.sha256()
    for seed in range(CASES):
        case = random_case(seed)
        found.update(repr(evaluate(case.snapshot, case.spec)).encode())
    return found.hexdigest()


def _digest_under(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    arguments = [sys.executable, "-m", "tests.unit.planner.test_determinism"]
    done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_hash_seeds_do_not_matter() -> None:
    assert _digest_under("1") == _digest_under("4242") == digest()


def test_asking_twice_gives_the_same() -> None:
    case = random_case(3)
    assert evaluate(case.snapshot, case.spec) == evaluate(case.snapshot, case.spec)


def objects(random: Random) -> list[Object]:
    """Return a fragmented cluster of eight nodes with selectors, taints, host ports and gangs of one."""
    found = [node_object(f"n{i}", **{"cpu": random.choice(("6", "64"))}) for i in range(8)]
    for i, node in enumerate(found):
        node["metadata"]["labels"]["pool"] = "ab"[i % 2]
    for i in range(14):
        settings: Object = {}
        if random.random() < 0.3:
            settings["nodeSelector"] = {"pool": random.choice("ab")}
        if random.random() < 0.2:
            settings["tolerations"] = [{"operator": "Exists"}]
        found.append(pod_object(f"p{i}", f"n{random.randrange(7)}", random.choice((1, 1, 2)), settings))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_the_order_of_the_input_does_not_matter(seed: int) -> None:
    random = Random(seed)
    listed = objects(random)
    run: RunTemplateSpec = spec(cards=random.choice((2, 5, 100)))
    expected = repr(evaluate(snapshot_of(listed), run))
    for _ in range(3):
        random.shuffle(listed)
        assert repr(evaluate(snapshot_of(listed), run)) == expected


if __name__ == "__main__":
    sys.stdout.write(digest())
