"""Text becomes plain data in one way only, whatever the text."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repack_gitops.model.documents import InvalidDocument, parse
from repack_gitops.model.syntax.scalars import read_word
from repack_gitops.model.syntax.text import MAX_BYTES
from repack_gitops.model.syntax.tree import MAX_DEPTH

words = st.text("0123456789_.:+-eExXoObBaAfFinN~<=yYtT ", min_size=1, max_size=12).map(str.strip).filter(bool)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=3)
    ),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("huawei.com/ascend-1980", "huawei.com/ascend-1980"),
        ("0 2 * * 1-5", "0 2 * * 1-5"),
        ("10m", "10m"),
        ("yes please", "yes please"),
        ("1.2.3", "1.2.3"),
        ("12345e67x", "12345e67x"),
    ],
)
def test_words_that_all_readers_read_alike(text: str, value: object) -> None:
    assert read_word(text) == (value, None)


@given(words)
@settings(max_examples=1500)
@example("0b11")
@example("1__0")
@example("-.5e+3")
@example("190:20:30.15")
def test_a_word_without_trap_means_the_same_to_a_yaml_1_1_reader(word: str) -> None:
    try:
        theirs = yaml.safe_load(f"a: {word}\n")
    except (yaml.YAMLError, ValueError):  # YAML 1.1 itself, or a date that is none
        return
    if not isinstance(theirs, dict) or len(theirs) != 1:
        return
    value, trap = read_word(word)
    assert trap is not None or value == theirs["a"]


def test_positions_are_those_of_values_and_keys() -> None:
    parsed = parse("a:\n  - b: 1\n    c: {d: x}\ne: |\n  text\n", "a.yaml")
    assert parsed.position(("a", 0, "b")) == (2, 8)
    assert parsed.position(("a", 0, "c", "d")) == (3, 12)
    assert parsed.key_position(("a", 0, "c", "d")) == (3, 9)
    assert parsed.position(("a",)) == (1, 1)
    assert parsed.position(("e",)) == (4, 4)
    assert parsed.position(("a", 0, "missing", "deeper")) == (2, 5)
    assert parsed.position(()) == (1, 1)


def test_positions_count_characters_and_not_bytes() -> None:
    assert parse("{a: 碎片, b: 1}", "a.yaml").position(("b",)) == (1, 12)
    assert parse('{"a": "碎片\U0001f600", "b": 1}', "a.json").position(("b",)) == (1, 19)


def test_an_alias_is_a_copy() -> None:
    parsed = parse("a: &x {b: [1, 2]}\nc: *x\nd: [*x]\n", "a.yaml")
    assert parsed.data == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": [{"b": [1, 2]}]}
    assert parsed.position(("c", "b", 1)) == (1, 15)
    assert parsed.position(("c",)) == (2, 4)


def test_an_anchor_may_be_used_again_for_something_else() -> None:
    assert parse("a: &x 1\nb: *x\nc: &x two\nd: *x\n", "a.yaml").data == {"a": 1, "b": 1, "c": "two", "d": "two"}


def test_aliases_cannot_multiply_without_end() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(InvalidDocument, match=r"a\.yaml:6:\d+: has more than 500000 values"):
        parse("\n".join(lines), "a.yaml")


@pytest.mark.parametrize(
    "text", ["[" * 2000, '{"a":' * 2000, "- " * 2000, "[" * 2000 + "]" * 2000, "? " * 2000, "a: &a [" * 900]
)
def test_nesting_is_bounded(text: str) -> None:
    for source in ("a.yaml", "a.json"):
        with pytest.raises(InvalidDocument):
            parse(text, source)


def test_the_deepest_nesting_that_is_allowed() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH, "a.yaml").data
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH, "a.json").data
    with pytest.raises(InvalidDocument, match=f"1:{MAX_DEPTH + 1}: .* is nested more than {MAX_DEPTH} levels"):
        parse("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "a.json")


@pytest.mark.parametrize("text", ["a: " + "x" * MAX_BYTES, b"a: " + b"x" * MAX_BYTES])
def test_size_is_bounded(text: str | bytes) -> None:
    with pytest.raises(InvalidDocument, match=r"a\.yaml:1:1: is larger than 8 MiB"):
        parse(text, "a.yaml")


# Each took minutes, or all memory, in some parser of YAML or JSON.
@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "{",
        "a: ",
        "- ",
        "? ",
        "&a ",
        "*a ",
        "! ",
        "a\n",
        '"',
        "'",
        "|\n",
        "#",
        "[a, ",
        "{a: ",
        "\\",
        "0",
        "1,",
        "é",
        "\t",
        "--- \n",
        "%A\n",
        ": ",
        "a: *a\n",
        '"a":',
    ],
)
def test_hostile_text_is_refused_or_read_in_time(piece: str) -> None:
    text = (piece * 200_000)[:400_000]
    started = time.process_time()
    for source in ("a.yaml", "a.json"):
        assert len(_parse_or_refuse(text, source)) <= 3_000_000
    assert time.process_time() - started < 20


@given(json_values)
def test_json_is_read_as_json(value: Any) -> None:
    for text in (json.dumps({"a": value}), json.dumps({"a": value}, indent="\t")):
        assert parse(text, "a.json").data == parse(text, "-").data == {"a": value}


@given(st.text() | st.text("[]{}:,-?&*!|>'\"#%@` \t\n\\abc01<~\x00\x85\ufeff"))
@settings(max_examples=600)
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    for source in ("a.yaml", "a.json", "-"):
        _parse_or_refuse(text, source)


@given(st.binary())
@settings(max_examples=400)
def test_no_bytes_do_anything_but_parse_or_be_refused(raw: bytes) -> None:
    _parse_or_refuse(raw, "a.yaml")


def _parse_or_refuse(text: str | bytes, source: str) -> str:
    """Return the error's text, or the data as JSON."""
    try:
        answer = json.dumps(parse(text, source).data)
    except InvalidDocument as error:
        answer = str(error)
        positions = [(p.line, p.column) for p in error.problems]
    else:
        positions = [(1, 1)]
    assert positions
    assert min(positions) >= (1, 1)
    assert "\x00" not in answer
    answer.encode()
    return answer
