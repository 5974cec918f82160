"""Every mistake is answered with the exact text of ``broken_documents.txt``."""

from __future__ import annotations

import re

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.model.documents import read_any
from repack_gitops.model.problems import InvalidDocument
from tests.unit.model.broken_documents import EDITS, GOLDEN, answers, edited

EXPECTED = dict(re.findall(r"^\[(.*)\]\n((?:.+\n)+)", GOLDEN.read_text(encoding="utf-8"), re.MULTILINE))
ANSWERS = dict(answers())


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_expected_text(name: str) -> None:
    assert ANSWERS[name] + "\n" == EXPECTED[name]


def test_no_expected_text_is_left_over() -> None:
    assert list(EXPECTED) == list(ANSWERS)


@pytest.mark.parametrize("name", EDITS)
def test_problems_are_sorted_and_unique(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_any(edited(name), "a.yaml")
    assert isinstance(caught.value, InvalidDocument)
    positions = [(p.line, p.column) for p in caught.value.problems]
    assert positions == sorted(positions)
    assert len({p.path for p in caught.value.problems}) == len(caught.value.problems)


def test_a_secret_is_not_repeated() -> None:
    assert "secret" not in ANSWERS["document: credentials"]
