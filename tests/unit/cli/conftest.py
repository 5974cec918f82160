"""A small snapshot file, and the command line called as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from repack_gitops.cli.main import main
from tests.unit.workflow.gitops.fake_cluster import layout

Objects = list[dict[str, object]]


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def repack(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs `repack ARGUMENTS` in this process; it must say one thing and no traceback if it fails."""
    for name in ("REPACK_TOKEN", "REPACK_TOKEN_FILE", "REPACK_GIT_URL", "REPACK_BASE_BRANCH", "REPACK_CA_FILE", "REPACK_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KUBECONFIG", "/nonexistent/kubeconfig")

    def run(*arguments: str | Path) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        assert "Traceback" not in out + err
        assert (code == 0) == ("error:" not in err.lower())
        return Done(code, out, err)

    return run


def list_of(*objects: object, **metadata: object) -> str:
    """Return a Kubernetes List as kubectl prints it."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "", **metadata}, "items": objects})


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A file in which one of two nodes can be freed."""
    file = tmp_path / "cluster.json"
    file.write_text(list_of(*layout(4, 2)))
    return file
