from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.report.markup import bullets, code, image, link, prose, shell, table
from repack_gitops.report.plain import clip, visible
from tests.unit.report.reading import problems, shown, tokens

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "--> <b>",
    "a|b|c",
    "`a` ``b``",
    "[x](https://evil.example)",
    "![x](https://evil.example/x.png)",
    "@octocat and @org/team",
    "fixes #12, GH-3, acme/repo#4, !5",
    "https://evil.example www.evil.example",
    "# heading",
    "- item",
    "12. item",
    "> quote",
    "```",
    "~~~",
    "</details>",
    "**bold** _it_ ~~s~~ $x$",
    "&lt;b&gt; &#64;octocat",
    "a\\|b \\",
    "<https://evil.example>",
    "| --- |",
    "===",
    "line\nbreak\r\ntab\t",
    "\x1b[31mred\x07",
    "user\u202egnp.exe",
    "<!-- repack-gitops:e30= -->",
    "x" * 5000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_only_ever_read(text: str) -> None:
    for escape in (code, prose):
        page = f"{bullets([escape(text)])}\n\n{escape(text)}\n\n{table(['a', 'b'], [(escape(text), 'x')])}\n"
        assert problems(page) == []
        assert shown(page).count(visible(text)) == 3


@given(st.text(max_size=60), st.booleans())
def test_any_text_is_only_ever_read(text: str, as_code: bool) -> None:
    cell = (code if as_code else prose)(text)
    page = f"- {cell}\n\n{table(['a', 'b'], [(cell, 'x')])}\n"
    assert problems(page) == []
    # An entity names U+0000 to U+FFFF as we spelled them; what is shown is the text itself.
    assert shown(page).count(visible(text) or ("–" if as_code else "")) >= (2 if visible(text) else 0)


@pytest.mark.parametrize("text", ["@octocat", "#1", "GH-1", "gh-1", "https://x", "www.x", "!1", "a@b.example"])
def test_forges_find_nothing_to_link_in_prose(text: str) -> None:
    # Forges look for these after entities are decoded; the zero-width space stands in their way.
    read = "".join(t.content for t in tokens(prose(text)))
    assert text not in read
    assert read.replace("\u200b", "") == text


def test_an_ordinary_name_stays_an_ordinary_code_span() -> None:
    assert code("Job team-a/llm_pretrain-1.2") == "`Job team-a/llm_pretrain-1.2`"
    assert code("") == "–"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "vbscript:x"])
def test_only_web_and_relative_addresses_become_links(address: str) -> None:
    assert link("x", address) == "x"
    assert image("x", address) == ""


def test_an_address_cannot_leave_its_parentheses() -> None:
    assert link("x", "https://git.example.com/a b)c<d>") == "[x](https://git.example.com/a%20b%29c%3Cd%3E)"


def test_a_fence_outgrows_the_backticks_in_it() -> None:
    assert shell("a ``` b").startswith("````sh\n")
    assert [t.type for t in tokens(shell("a ``` b"))] == ["fence"]


def test_both_ends_of_a_long_name_survive() -> None:
    assert clip("abcdefghij", 5) == "ab…ij"
    assert clip("abcde", 5) == "abcde"


@given(st.text(max_size=600))
def test_visible_text_is_one_printable_line(text: str) -> None:
    line = visible(text)
    assert len(line) <= 400
    assert line.isprintable()
    assert visible(line) == line
