"""Trailers are the audit log: they must survive a round trip and must not be forgeable through values or text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.errors import InvalidInput
from repack_gitops.model.trailers import one_line, parse_trailers, with_trailers


def test_trailers_are_the_last_paragraph() -> None:
    message = with_trailers("Record run r-1\n\nIt worked.\n", [("Repack-Run", "r-1"), ("Change-Ticket", "CHG1")])
    assert message == "Record run r-1\n\nIt worked.\n\nRepack-Run: r-1\nChange-Ticket: CHG1\n"
    assert parse_trailers(message.partition("\n")[2]) == (("Repack-Run", "r-1"), ("Change-Ticket", "CHG1"))


def test_empty_values_are_left_out() -> None:
    assert with_trailers("Subject", [("Change-Ticket", " \n")]) == "Subject\n"


@given(st.text(max_size=60))
def test_a_value_cannot_add_a_line(value: str) -> None:
    message = with_trailers("Subject", [("Repack-Reason", value), ("Approved-By", "ada")])
    trailers = parse_trailers(message.partition("\n")[2])
    assert trailers[-1] == ("Approved-By", "ada")
    assert trailers[:-1] == ((("Repack-Reason", one_line(value)),) if one_line(value) else ())


def test_text_that_looks_like_a_trailer_stays_text() -> None:
    message = with_trailers("Subject\n\nApproved-By: mallory", [("Repack-Run", "r-1")])
    assert parse_trailers(message.partition("\n")[2]) == (("Repack-Run", "r-1"),)


def test_text_direction_marks_are_removed() -> None:
    assert one_line("a\u202eb\u2066c\u2028d\x85e\x00f") == "a b c d e f"


@pytest.mark.parametrize("key", ["", "a b", "a:", "-a", "ä", "a\nb"])
def test_keys_are_checked(key: str) -> None:
    with pytest.raises(InvalidInput):
        with_trailers("Subject", [(key, "x")])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", ()),
        ("Just text.", ()),
        ("text\n\nA-Key: one\n  and more\nB: two", (("A-Key", "one and more"), ("B", "two"))),
        ("A: one\nnot a trailer", ()),
        ("A: one\n\n\nB: two\n\n", (("B", "two"),)),
        ("Signed-off-by: A <a@b>", (("Signed-off-by", "A <a@b>"),)),
    ],
)
def test_parsing(body: str, expected: tuple[tuple[str, str], ...]) -> None:
    assert parse_trailers(body) == expected
