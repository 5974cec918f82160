"""A secret must not survive in any form that a tool prints."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.model.redaction import MASK, Redactor

SECRET = "gh+p/s3cr3t=tok%en&<x>"


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote(SECRET, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d").replace("%3C", "%3c"),
        json.dumps(SECRET),
        SECRET.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        base64.b64encode(f"x-access-token:{SECRET}".encode()).decode(),
        base64.b64encode(f"bot:{SECRET}\n".encode()).decode(),
        f"https://bot:{SECRET}@example.test/a.git",
    ],
)
def test_every_written_form_is_masked(form: str) -> None:
    scrubbed = Redactor([SECRET])(f"before {form} after")
    assert MASK in scrubbed
    assert form not in scrubbed
    assert scrubbed.startswith("before ")
    assert scrubbed.endswith(" after")


@given(before=st.binary(max_size=7), after=st.binary(max_size=7), secret=st.text("abcDEF019_-", min_size=8, max_size=40))
def test_base64_is_masked_whatever_surrounds_the_secret(before: bytes, after: bytes, secret: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + secret.encode() + after).decode()
        assert Redactor([secret])(f"Basic {encoded}!") == f"Basic {MASK}!"


@given(st.text())
def test_text_without_secrets_and_urls_is_left_alone(text: str) -> None:
    plain = text.replace("://", "")
    assert Redactor(["a-secret-that-never-occurs"])(plain) == plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://user:pass@h/x", "https://***@h/x"),
        ("https://token@h:3000/x", "https://***@h:3000/x"),
        ("http://u:p@ss@h/x and ssh://git@h/y", "http://***@h/x and ssh://***@h/y"),
        ("https://h/x?mail=a@b", "https://h/x?mail=a@b"),
        ("mail a@b.example", "mail a@b.example"),
    ],
)
def test_userinfo_of_any_url_is_masked(text: str, expected: str) -> None:
    assert Redactor()(text) == expected


def test_a_secret_that_starts_with_another_is_masked_whole() -> None:
    assert Redactor(["secret-one", "secret-one-and-two"])("secret-one-and-two") == MASK


def test_empty_and_tiny_secrets_are_ignored() -> None:
    assert Redactor(["", "abc"])("abcdef") == "abcdef"


def test_its_own_representation_tells_nothing() -> None:
    assert SECRET not in repr(Redactor([SECRET]))
    assert Redactor(["first-secret"]).also("second-secret")("first-secret second-secret") == f"{MASK} {MASK}"
