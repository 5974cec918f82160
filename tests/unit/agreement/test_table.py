"""The table: every verdict is counted once under every kind of its case."""

from __future__ import annotations

import json

from tests.real.agreement.case import Case
from tests.real.agreement.compare import Compared
from tests.real.agreement.exceptions import EXCEPTIONS, Documented
from tests.real.agreement.generator import case_of
from tests.real.agreement.table import ALL, Table
from tests.real.agreement.universe import KUBE, VOLCANO
from tests.real.agreement.verdict import Verdict


def case_with(*kinds: str) -> Case:
    return Case(1, kinds, (), (), {})


def table() -> Table:
    both = case_with("NodePorts", "NodeAffinity")
    yes = Verdict(both, VOLCANO, "n0", True, True)
    no = Verdict(both, VOLCANO, "n1", False, False, "NodePorts", "taken")
    wrong = Verdict(both, KUBE, "n1", False, True, "NodePorts", "taken")
    known = Verdict(both, KUBE, "n0", True, False, documented="a known one")
    other = Compared(case_with("NodeAffinity"), (Verdict(case_with("NodeAffinity"), KUBE, "n0", True, True),))
    made = Table()
    made.add([Compared(both, (yes, no, wrong, known), placed=((VOLCANO, True), (KUBE, False))), other])
    made.add([Compared(case_with("NodePorts"), skipped="undecided")])
    return made


def test_a_case_counts_for_each_of_its_kinds_and_once_in_the_sum() -> None:
    rows = table().rows
    assert {
        name: (row.cases, row.verdicts, row.decided, row.agree, row.documented, row.differ) for name, row in rows.items()
    } == {
        "NodePorts": (1, 4, 2, 2, 1, 1),
        "NodeAffinity": (2, 5, 0, 3, 1, 1),
        ALL: (2, 5, 2, 3, 1, 1),
    }


def test_what_was_not_compared_is_said() -> None:
    made = table()
    assert made.skipped == {"undecided": 1}
    assert made.markdown().splitlines()[-1] == "Not compared, undecided: 1."


def test_both_forms_say_the_same() -> None:
    made = table()
    lines = made.markdown().splitlines()
    assert lines[2] == "| NodeAffinity | 2 | 5 | 0 | 3 | 1 | 1 |"
    assert lines[4] == f"| {ALL} | 2 | 5 | 2 | 3 | 1 | 1 |"
    read = json.loads(made.json())
    assert read["filters"][ALL] == {"cases": 2, "verdicts": 5, "decided": 2, "agree": 3, "documented": 1, "differ": 1}
    assert (read["placed"], read["waited"]) == ({VOLCANO: 1}, {KUBE: 1})
    assert read["exceptions"] == {f"a known one ({KUBE})": 1}


def test_a_difference_is_undocumented_unless_an_exception_explains_it() -> None:
    verdict = Verdict(case_with("NodePorts"), VOLCANO, "n0", True, False)
    assert Compared(verdict.case, (verdict,)).differences == (verdict,)
    known = Documented("x", VOLCANO, ours=True, code="", cause=lambda verdict: verdict.node == "n0", reason="because")
    assert known.explains(verdict)
    assert not known.explains(Verdict(verdict.case, KUBE, "n0", True, False))
    assert not known.explains(Verdict(verdict.case, VOLCANO, "n1", True, False))
    assert not known.explains(Verdict(verdict.case, VOLCANO, "n0", False, True, "NodePorts"))


def test_no_exception_explains_an_agreement() -> None:
    for seed in range(20):
        case = case_of(seed)
        for known in EXCEPTIONS:
            agreed = Verdict(case, known.scheduler, "n0", known.ours, known.ours, known.code)
            assert not known.explains(agreed)
