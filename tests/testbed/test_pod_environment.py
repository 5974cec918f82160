"""How the agent rewrites a container's words, without a control plane."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testbed.pod_environment import command_of, expand, rewrite_paths

MOUNTS = {"/etc/repack": Path("/local/a"), "/etc/repack/keys": Path("/local/b"), "/tmp": Path("/local/tmp")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/etc/repack", "/local/a"),
        ("--config=/etc/repack/x.yaml", "--config=/local/a/x.yaml"),
        ("/etc/repack/keys/id:/etc/repack", "/local/b/id:/local/a"),
        ("cat '/etc/repack/a b' > /tmp/out; ls /tmp", "cat '/local/a/a b' > /local/tmp/out; ls /local/tmp"),
        ("/etc/repack-old", "/etc/repack-old"),
        ("/var/etc/repack", "/var/etc/repack"),
        ("https://host/etc/repack/x", "https://host/etc/repack/x"),
    ],
)
def test_mount_paths_are_rewritten_by_whole_components(text: str, expected: str) -> None:
    """The longest mount wins, and nothing that only looks like a mount is touched."""
    assert rewrite_paths(text, MOUNTS) == expected


def test_a_local_folder_below_a_mount_path_is_not_rewritten_again() -> None:
    """Replacements are made in one pass, so the agent's own folders may be below /tmp."""
    assert rewrite_paths("/tmp/x", {"/tmp": Path("/tmp/agent-1/v")}) == "/tmp/agent-1/v/x"


@pytest.mark.parametrize(
    ("text", "expected"), [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A ${A}", "$A ${A}"), ("$(A", "$(A")]
)
def test_variables_are_expanded_as_kubernetes_does(text: str, expected: str) -> None:
    """Unknown variables stay, a doubled dollar is a dollar, and a shell's syntax is none of ours."""
    assert expand(text, {"A": "1"}) == expected


def test_the_entrypoint_stands_in_for_a_missing_command() -> None:
    """Arguments alone go to the image's program."""
    assert command_of({"args": ["execute", "$(RUN)"]}, {"RUN": "r1"}, ["repack"]) == ["repack", "execute", "r1"]
    assert command_of({"command": ["sh"], "args": ["-c"]}, {}, ["repack"]) == ["sh", "-c"]
