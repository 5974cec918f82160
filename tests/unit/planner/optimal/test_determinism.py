"""The same question gets the same bytes: asked again, and under any hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from bench.clusters import mixed
from repack_gitops.planner import evaluate
from tests.unit.planner.build import spec
from tests.unit.planner.optimal.cases import OPTIMAL, fragmented

ROOT = Path(__file__).parents[4]
CASES = 60


def digest() -> str:
    """Return a hash of some evaluations; `python -m` of this module prints it."""
    found = hashlib.sha256()
    for seed in range(CASES):
        found.update(repr(fragmented(9_000 + seed, related=0.1).answer()).encode())
    found.update(repr(evaluate(mixed(60), spec(pod_groups=8), OPTIMAL)).encode())
    return found.hexdigest()


def _digest_under(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    arguments = [sys.executable, "-m", "tests.unit.planner.optimal.test_determinism"]
    done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()  # and nothing but the digest: the solver does not print


def test_hash_seeds_do_not_matter_and_asking_again_gives_the_same() -> None:
    assert _digest_under("1") == _digest_under("4242") == digest() == digest()


if __name__ == "__main__":
    sys.stdout.write(digest())
