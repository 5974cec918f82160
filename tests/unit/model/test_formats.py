"""Rules for single values."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repack_gitops.model.formats import FORMATS, FormatError

VALID = {
    "cron": [
        "0 2 * * *",
        "*/15 0-6,22 1 JAN-mar mon-FRI",
        "0 0 29 2 *",
        "0 2 * * 7",
        "0 0 L * *",
        "0 2 * * 5#1",
        " 0  2 * * * ",
    ],
    "date-time": ["2026-07-30T10:00:00Z", "2026-07-30t10:00:00.123456789+02:00"],
    "duration": ["1ms", "1h30m"],
    "extended-resource": ["nvidia.com/gpu", "huawei.com/ascend-1980", "volcano.sh/vgpu-number", "x/y_z.1"],
    "git-branch": ["main", "release/1.0", "a-b_c", "x"],
    "pause": ["0s", "10m"],
    "regular-expression": [".+", "CHG[0-9]{7}", "(?i)chg-\\d+"],
    "time-zone": ["UTC", "Europe/Berlin", "Etc/GMT+1"],
    "web-url": ["", "https://git.example.com", "http://127.0.0.1:3000/git/", "https://[::1]:8443"],
}
INVALID = {
    "cron": [
        "",
        "0 2 * *",
        "0 0 2 * * *",
        "@daily",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "H 2 * * *",
        "R * * * *",
        "0 0 30 2 *",
        "*/0 * * * *",
        "a b c d e",
        "0-4294967295 * * * *",
        "* * * * jan",
        "1,,2 * * * *",
        "٣ * * * *",
    ],
    "date-time": [
        "",
        "yesterday",
        "2026-07-30",
        "2026-13-01T00:00:00Z",
        "2026-07-30 10:00:00Z",
        "2026-07-30T10:00:00",
        "2026-07-30T10:00:00Z\n",
    ],
    "duration": ["0s", "0h0m", "10 m", "", "11y"],
    "extended-resource": [
        "cpu",
        "memory",
        "pods",
        "ephemeral-storage",
        "storage",
        "hugepages-2Mi",
        "gpu",
        "kubernetes.io/x",
        "a.kubernetes.io/x",
        "requests.nvidia.com/gpu",
        "/gpu",
        "nvidia.com/",
        "a/b/c",
        "NVIDIA.com/gpu",
        "nvidia.com/gpu\n",
        "a b/c",
    ],
    "git-branch": [
        "",
        "-x",
        "--upload-pack=x",
        "a..b",
        "a.lock",
        "a/.b",
        "@",
        "a@{b",
        "x/",
        "/x",
        "a b",
        ".a",
        "a.",
        "a//b",
        "a\n",
        "a~1",
        "a:b",
        "a\\b",
    ],
    "pause": ["none", "-1s"],
    "regular-expression": ["[", "a{99999999999}", "[[a]", "(" * 3000, "(?P<a>x)(?P<a>y)", "*"],
    "time-zone": [
        "",
        "Mars/Phobos",
        "America",
        "../UTC",
        "/etc/localtime",
        "localtime",
        "posixrules",
        "Factory",
        "x\0",
        "a" * 64,
    ],
    "web-url": [
        "git.example.com",
        "ssh://x",
        "https://",
        "https://x:99999",
        "https://x y",
        "git@example.com:a/b",
        "https://[::1",
        "javascript:alert(1)",
    ],
}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, texts in table.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), cases(VALID))
def test_valid(name: str, text: str) -> None:
    FORMATS[name](text)


@pytest.mark.parametrize(("name", "text"), cases(INVALID))
def test_invalid(name: str, text: str) -> None:
    with pytest.raises(FormatError) as caught:
        FORMATS[name](text)
    assert caught.value.advice


@pytest.mark.parametrize("url", ["https://bot:secret@x", "https://secret@x/y", "ftp://a:secret@x y", "x://secret@"])
def test_credentials_in_a_url_are_secret(url: str) -> None:
    with pytest.raises(FormatError, match="contains credentials") as caught:
        FORMATS["web-url"](url)
    assert caught.value.secret


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=64) | st.text("0123456789*/-,LW#?@. :azAZhmsd[](){}\\", max_size=40))
def test_nothing_else_is_ever_raised(name: str, text: str) -> None:
    try:
        FORMATS[name](text)
    except FormatError as error:
        text = str(error)
    assert isinstance(text, str)


def test_git_agrees_about_branches() -> None:
    for text in [*VALID["git-branch"], *INVALID["git-branch"]]:
        if text == "@":  # git takes it for HEAD
            continue
        command = ["git", "check-ref-format", "--branch", text]
        accepted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        assert accepted == (text in VALID["git-branch"]), text
