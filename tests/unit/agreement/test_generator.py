"""Cases: the same for a seed everywhere, with every kind in them, and disjoint once they are placed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.real.agreement.case import Place, place
from tests.real.agreement.generator import KINDS, case_of, group_case_of

ROOT = Path(__file__).parents[3]


def test_a_seed_is_one_case_whatever_the_process() -> None:
    """Hash randomisation must not reach a case: a seed that somebody reports has to be the same elsewhere."""
    program = "from tests.real.agreement.generator import case_of; print([case_of(s).parts() for s in range(40)])"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {f"{[case_of(s).parts() for s in range(40)]}\n"}


def test_seeds_differ() -> None:
    assert len({json.dumps(case_of(seed).parts()) for seed in range(50)}) == 50


def test_a_thousand_seeds_have_every_kind_in_them_often_enough() -> None:
    found = Counter(kind for seed in range(1000) for kind in case_of(seed).kinds)
    assert set(found) == set(KINDS)
    assert min(found.values()) >= 20


@pytest.mark.parametrize("make", [case_of, group_case_of])
def test_placed_cases_share_no_name(make: object) -> None:
    """Nor a topology key, nor a label of a node: whatever has a name of its own carries the case's identity."""
    for seed in range(100):
        one, two = (place(make(seed), Place(ident, f"home-{ident}", f"away-{ident}")) for ident in ("c1", "c2"))  # type: ignore[operator]
        assert not names(one.parts()) & names(two.parts())
        assert "%" not in json.dumps(one.parts())
        assert "@" not in json.dumps(one.parts())


def names(parts: dict[str, object]) -> set[str]:
    """Return everything in a placed case that could touch another one: names, keys of topology, namespaces."""
    found = set()

    def walk(value: object, key: str = "") -> None:
        if isinstance(value, dict):
            for inner, item in value.items():
                walk(item, inner)
        elif isinstance(value, list):
            for item in value:
                walk(item, key)
        elif key in {"topologyKey", "nodeName", "namespace", "namespaces", "claimName", "volumeName", "storageClassName"}:
            found.add(str(value))

    walk(parts)
    for items in (parts["nodes"], parts["residents"], parts["others"]):
        found |= {item["metadata"]["name"] for item in items}  # type: ignore[attr-defined]
    return found - {""}
