"""Wordings of git and of the forges, as seen in the field."""

from __future__ import annotations

import pytest

from repack_gitops.git.answers import meaning_of

SEEN = {
    "denied": [
        "fatal: Authentication failed for 'https://h/x.git/'",
        "fatal: could not read Username for 'https://h': terminal prompts disabled",
        "fatal: unable to access 'https://h/x/': The requested URL returned error: 403",
        "remote: Permission to o/r.git denied to bot.",
        "ERROR: Repository not found.",
        "remote: HTTP Basic: Access denied",
        "git@h: Permission denied (publickey).",
        "remote: You are not allowed to push code to this project.",
        "remote: This repository was archived so it is read-only.\nerror: 403",
    ],
    "protected": [
        "remote: error: GH006: Protected branch update failed for refs/heads/main.",
        " ! [remote rejected] a -> main (protected branch hook declined)",
        "remote: error: GH013: Repository rule violations found for refs/heads/main.",
        "remote: GitLab: You are not allowed to push code to protected branches on this project.\n (pre-receive hook declined)",
        "remote: GitLab: You are not allowed to force push code to a protected branch on this project.",
        "remote: Gitea: Not allowed to push to protected branch main",
        "! [remote rejected] x -> main (pre-receive hook declined)",
        "! [remote rejected] (denying non-fast-forward (you should pull first))",
        "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission",
    ],
    "moved": [
        " ! [rejected]        a -> main (stale info)",
        " ! [rejected]        a -> main (fetch first)",
        " ! [rejected]        a -> main (non-fast-forward)",
        "! [remote rejected] a -> main (cannot lock ref 'refs/heads/main': is at 1 but expected 2)",
        "! [remote rejected] a -> main (incorrect old value provided)",
        "! [remote rejected] a -> main (failed to update ref)",
        "(reference already exists)",
    ],
    "blocked-name": [
        "(cannot lock ref 'refs/heads/repack/x': 'refs/heads/repack' exists; cannot create 'refs/heads/repack/x')",
        "! [remote rejected] a -> repack/x (directory file conflict)",
    ],
    "passing": [
        "fatal: unable to access 'https://h/': Could not resolve host: h",
        "fatal: unable to access 'https://h/': Failed to connect to h port 443 after 1 ms: Couldn't connect to server",
        "fatal: unable to access 'https://h/': The requested URL returned error: 502",
        "fatal: unable to access 'https://h/': The requested URL returned error: 429",
        "error: RPC failed; curl 56 Recv failure: Connection reset by peer",
        "fatal: early EOF",
        "fatal: the remote end hung up unexpectedly",
        "error: RPC failed; curl 28 Operation too slow. Less than 1 bytes/sec transferred the last 60 seconds",
        "GnuTLS recv error (-110): The TLS connection was non-properly terminated.",
        "ssh: connect to host h port 22: Connection timed out",
        "! [remote failure] a -> main (remote failed to report status)",
    ],
    "other": ["fatal: protocol error: bad pack header", "", "remote: fatal: No space left on device"],
}


@pytest.mark.parametrize(("meaning", "text"), [(meaning, text) for meaning, texts in SEEN.items() for text in texts])
def test_wordings(meaning: str, text: str) -> None:
    assert meaning_of(text) == meaning
