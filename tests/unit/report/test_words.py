from __future__ import annotations

from repack_gitops.model.impact import GroupImpact
from repack_gitops.model.plan import Code
from repack_gitops.report.plain import visible
from repack_gitops.report.words import disruption_sentence, staying_groups, worst_first
from tests.unit.report import cases


def impact(name: str, moved: int, cards: int) -> GroupImpact:
    return GroupImpact(("ns", name), None, running=4, min_available=3, moved_pods=moved, moved_cards=cards, footprint_cards=8)


def test_a_reviewer_reads_breaches_first_then_the_largest_moves() -> None:
    found = worst_first((impact("d", 1, 1), impact("c", 1, 4), impact("b", 2, 2), impact("a", 1, 4)))
    assert [i.key[1] for i in found] == ["b", "a", "c", "d"]


def test_staying_nodes_are_grouped_largest_first() -> None:
    groups = staying_groups(cases.sixty_nodes().evaluation)
    assert groups[0].code is Code.RECEIVES
    assert [len(g.nodes) for g in groups] == sorted((len(g.nodes) for g in groups), reverse=True)
    assert groups[0].words == "Receives pods of freed nodes (Receives)"


def test_the_disruption_is_one_true_sentence() -> None:
    def sentence(*impacts: GroupImpact) -> str:
        return disruption_sentence(cases.with_impacts(cases.three_nodes(), impacts).evaluation)

    kept, broken = impact("a", 1, 1), impact("b", 2, 1)
    assert sentence(kept) == "The PodGroup keeps its minAvailable while its pods move."
    assert sentence(broken) == "The PodGroup falls below its minAvailable while its pods move."
    assert sentence(kept, kept) == "No PodGroup falls below minAvailable."
    assert sentence(kept, broken) == "1 of 2 PodGroups falls below minAvailable while pods move."
    assert sentence(kept, broken, broken) == "2 of 3 PodGroups fall below minAvailable while pods move."


def test_what_cannot_be_seen_is_spelled_out() -> None:
    # A right-to-left override would show "exe.png" for "gnp.exe"; a zero-width space would make two names look the same.
    assert visible("user\u202egnp.exe") == "user\\u202egnp.exe"
    assert visible("a\u200bb\x1b[31m\x00") == "a\\u200bb\\u001b[31m\\u0000"
    assert visible(" two\n lines\t") == "two lines"
