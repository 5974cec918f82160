from __future__ import annotations

import pytest

from repack_gitops.report.sections import Section, fitted, whole

SECTIONS = {
    "verdict": Section("verdict", ("yes",)),
    "moves": Section("moves", ("m" * 100, "m" * 10)),
    "stays": Section("stays", ("s" * 50,)),
}


def fit(limit: int) -> str:
    return fitted("head", SECTIONS, ("moves", "stays", "moves"), limit=limit, notice=lambda what: f"[{what}]")


def test_everything_fits_without_a_notice() -> None:
    assert fit(1000) == f"head\n\nyes\n\n{'m' * 100}\n\n{'s' * 50}\n"


def test_sections_give_way_in_order_and_the_notice_names_them() -> None:
    assert fit(100) == f"head\n\n[moves]\n\nyes\n\n{'m' * 10}\n\n{'s' * 50}\n"
    assert fit(60) == f"head\n\n[moves, stays]\n\nyes\n\n{'m' * 10}\n"
    assert fit(32) == "head\n\n[moves, stays]\n\nyes\n"


def test_the_impossible_is_refused() -> None:
    with pytest.raises(ValueError, match="10 are allowed"):
        fit(10)


def test_whole_leaves_out_empty_sections() -> None:
    assert whole({"a": Section("", ("x",)), "b": Section("", ("",))}) == "x\n"
