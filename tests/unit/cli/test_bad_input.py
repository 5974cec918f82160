"""Bad input (issue 3): one clear message, a documented exit code, no traceback, nothing written."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repack_gitops.cli.exit_codes import EXIT_CODES
from tests.unit.cli.conftest import Done, Run, list_of
from tests.unit.workflow.gitops.fake_cluster import layout

GPU = "nvidia.com/gpu"
RUN = """\
apiVersion: repack.volcano.sh/v1alpha1
kind: RepackRun
metadata:
  name: r
spec:
  mode: DryRun
  goals:
    - resource: nvidia.com/gpu
"""


def refused(done: Done, *words: str, code: int = 2) -> None:
    """One message, on standard error, with ``words`` in it."""
    assert done.code == code, done
    assert code in EXIT_CODES
    assert done.out == ""
    assert done.err.count("error:") == 1
    for word in words:
        assert word in done.err


# ---- run files ----
RUNS: dict[str, tuple[str | bytes, str]] = {
    "broken YAML": ("a: [", "is not YAML"),
    "broken JSON": ('{"a": ', "is not YAML"),
    "tabs": ("a:\n\tb: 1\n", "r.yaml:2"),
    "empty": ("", "is empty"),
    "a word": ("hello", "is not a mapping"),
    "a list": ("- 1\n", "is not a mapping"),
    "two documents": (RUN + "---\n" + RUN, "r.yaml:9"),
    "binary": (b"\0\1\2\3", "is a binary file"),
    "gzipped": (gzip.compress(RUN.encode()), "r.yaml"),
    "latin-1": (RUN.replace("name: r", "name: \xe9").encode("latin-1"), "r.yaml"),
    "an unknown field": (RUN + "  nonsense: 1\n", "r.yaml:9:3: spec.nonsense: is an unknown field"),
    "a misspelt field": (RUN.replace("goals", "goal"), "Did you mean"),
    "a wrong type": (RUN + "  ttlSecondsAfterFinished: soon\n", "spec.ttlSecondsAfterFinished"),
    "a list for a text": (RUN.replace("name: r", "name: [r]"), "metadata.name"),
    "a number for a name": (RUN.replace("name: r", "name: 12"), "metadata.name"),
    "a duplicate key": (RUN + "  mode: Execute\n", "r.yaml:9:3"),
    "two goals": (RUN + "    - resource: huawei.com/ascend\n", "spec.goals"),
    "no goal": (RUN.partition("  goals:")[0] + "  goals: []\n", "spec.goals"),
    "duplicate names": (
        RUN + "  scope:\n    nodes:\n      include:\n        names: [a, a]\n",
        "spec.scope.nodes.include.names",
    ),
    "a negative budget": (RUN + "  maxPerRun:\n    podGroups: -1\n", "spec.maxPerRun.podGroups"),
    "a fractional budget": (RUN + "  maxPerRun:\n    resources:\n      nvidia.com/gpu: 1.5\n", "maxPerRun.resources"),
    "no slash in the resource": (RUN.replace("nvidia.com/gpu", "gpu"), "is not fully qualified"),
    "a core resource": (RUN.replace("nvidia.com/gpu", "cpu"), "core resource"),
    "an unknown mode": (RUN.replace("DryRun", "Dry"), "spec.mode"),
    "an unknown version": (RUN.replace("v1alpha1", "v1"), "apiVersion"),
    "another kind": (RUN.replace("RepackRun", "RepackPolicy"), "a RepackRun is expected"),
    "an alias bomb": ("a: &a [x]\nb: *a\n", "r.yaml"),
    "a python tag": ("a: !!python/object/apply:os.system [id]\n", "r.yaml"),
}


@pytest.mark.parametrize("what", RUNS)
def test_broken_run_files(repack: Run, snapshot: Path, tmp_path: Path, what: str) -> None:
    content, word = RUNS[what]
    file = tmp_path / "r.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(repack("plan", "--snapshot", snapshot, "--run", file), str(file), word)


def test_every_problem_at_once_and_in_order(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(RUN.replace("DryRun", "Dry") + "  nonsense: 1\n")
    done = repack("plan", "--snapshot", snapshot, "--run", file)
    refused(done, "spec.mode", "spec.nonsense")
    assert done.err.index("spec.mode") < done.err.index("spec.nonsense")


# ---- files that are none ----
def make_missing(path: Path) -> None:
    assert not path.exists()


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


NO_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (make_missing, "no such file"),
    "a folder": (Path.mkdir, "file"),
    "a link in a circle": (make_loop, "symbolic links"),
}


@pytest.mark.parametrize("option", ["--run", "--snapshot"])
@pytest.mark.parametrize("what", NO_FILES)
def test_files_that_are_none(repack: Run, snapshot: Path, tmp_path: Path, what: str, option: str) -> None:
    make, word = NO_FILES[what]
    path = tmp_path / "it"
    make(path)
    other = ("--snapshot", snapshot) if option == "--run" else ("--resource", GPU)
    done = repack("plan", option, path, *other)
    refused(done, str(path))
    assert word in done.err.lower() or "is a directory" in done.err.lower()


def test_a_run_in_a_pipe_that_nobody_writes_to(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    make_fifo(tmp_path / "it")
    refused(repack("plan", "--snapshot", snapshot, "--run", tmp_path / "it"), "not a regular file")


@pytest.mark.parametrize("option", ["--run", "--snapshot"])
def test_an_unreadable_file(repack: Run, snapshot: Path, tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests may run as root, who reads everything; so the operating system is played.
    path = tmp_path / "secret"
    path.write_text(RUN)
    _forbid(monkeypatch, path)
    other = ("--snapshot", snapshot) if option == "--run" else ("--resource", GPU)
    refused(repack("plan", option, path, *other), str(path), "ermission denied")


def _forbid(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    real_os, real_path = os.open, Path.open

    def denied(target: object) -> None:
        if str(target) == str(path):
            raise PermissionError(13, "Permission denied", str(path))

    def os_open(target: Any, *args: Any, **more: Any) -> int:
        denied(target)
        return real_os(target, *args, **more)

    def path_open(self: Path, *args: Any, **more: Any) -> Any:
        denied(self)
        return real_path(self, *args, **more)

    monkeypatch.setattr(os, "open", os_open)
    monkeypatch.setattr(Path, "open", path_open)


def test_a_name_that_is_no_text(repack: Run, tmp_path: Path) -> None:
    refused(repack("plan", "--snapshot", os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"), "--resource", GPU), "\\udcff")


# ---- snapshots ----
def node(**changes: Any) -> dict[str, Any]:
    found = layout(4, 2)[0]
    return {**found, "status": {**found["status"], **changes}}


def altered(kind: str, change: Callable[[dict[str, Any]], object]) -> str:
    """Return the usual List with its first object of ``kind`` changed."""
    objects = json.loads(json.dumps(layout(4, 2)))
    change(next(o for o in objects if o["kind"] == kind))
    return list_of(*objects)


def devices(amount: str) -> str:
    return altered("Pod", lambda p: p["spec"]["containers"][0]["resources"]["requests"].update({GPU: amount}))


SNAPSHOTS: dict[str, tuple[str | bytes, str]] = {
    "broken JSON": ('{"kind": "List", ', "snap.json"),
    "broken YAML": ("kind: [", "snap.json"),
    "empty": ("", "empty"),
    "binary": (b"\x7fELF\0\0\1", "binary"),
    "text": ("hello world", "snap.json"),
    "a single object": (json.dumps(layout(4)[0]), "a single Node, not a List"),
    "truncated by a page": (list_of(*layout(4, 2), **{"continue": "abc"}), "metadata.continue"),
    "truncated with a rest": (list_of(*layout(4, 2), remainingItemCount=3), "first page"),
    "truncated gzip": (gzip.compress(list_of(*layout(4, 2)).encode())[:-20], "truncated"),
    "broken gzip": (b"\x1f\x8b" + b"x" * 100, "gzip"),
    "an item without kind": (list_of({"metadata": {"name": "x"}}), "no kind"),
    "a word among items": (list_of("x"), "snap.json"),
    "items in a mapping": ('{"apiVersion":"v1","kind":"List","items":{}}', "snap.json"),
    "a node twice": (list_of(*layout(4, 2), layout(4)[0]), "Node n0"),
    "a pod twice": (list_of(*layout(4, 2), layout(4, 2)[2]), "team/n-p0"),
    "a pod on an absent node": (altered("Pod", lambda p: p["spec"].update(nodeName="gone")), "gone"),
    "negative devices": (devices("-1"), GPU),
    "fractional devices": (devices("1.5"), GPU),
    "milli-devices": (devices("1500m"), GPU),
    "devices in words": (devices("many"), GPU),
    "negative capacity": (list_of(node(allocatable={GPU: "-8"}), *layout(4, 2)[1:]), GPU),
    "a wrong type": (altered("Pod", lambda p: p["spec"].update(nodeName=7)), "nodeName"),
    "a name of a wrong type": (altered("Node", lambda n: n["metadata"].update(name=[])), "metadata.name"),
    "another version": (altered("PodGroup", lambda g: g.update(apiVersion="scheduling.volcano.sh/v9")), "v1beta1 is read"),
}


@pytest.mark.parametrize("what", SNAPSHOTS)
def test_broken_snapshots(repack: Run, tmp_path: Path, what: str) -> None:
    content, word = SNAPSHOTS[what]
    file = tmp_path / "snap.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(repack("plan", "--snapshot", file, "--resource", GPU), str(file), word)


def test_a_broken_item_is_named_with_its_place(repack: Run, tmp_path: Path) -> None:
    file = tmp_path / "snap.json"
    file.write_text(SNAPSHOTS["a wrong type"][0])  # type: ignore[arg-type]
    refused(repack("plan", "--snapshot", file, "--resource", GPU), "item 2", "Pod team/n-p0", "spec.nodeName")


@pytest.mark.parametrize("option", ["--run", "--snapshot"])
@pytest.mark.parametrize("kind", ["spaces", "text", "zeros", "a list", "yaml"])
def test_fifty_megabytes(repack: Run, snapshot: Path, tmp_path: Path, option: str, kind: str) -> None:
    file, size = tmp_path / "big", 50 * 2**20
    contents = {
        "spaces": b" " * size,
        "text": b"lorem ipsum " * (size // 12),
        "zeros": b"\0" * size,
        "a list": b"[" * size,
        "yaml": b"a: 1\n" * (size // 5),
    }
    file.write_bytes(contents[kind])
    other = ("--snapshot", snapshot) if option == "--run" else ("--resource", GPU)
    started = time.process_time()
    refused(repack("plan", option, file, *other), str(file))
    assert time.process_time() - started < 30


def test_an_unknown_resource_lists_what_nodes_provide(repack: Run, snapshot: Path) -> None:
    refused(repack("plan", "--snapshot", snapshot, "--resource", "nvidia.com/gpus"), "no node provides nvidia.com/gpus", GPU)


# ---- options ----
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--resource", GPU), "--snapshot"),
        (("--snapshot", "SNAPSHOT"), "--run"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--run", "r.yaml"), "either"),
        (("--snapshot", "SNAPSHOT", "--context", "prod", "--resource", GPU), "either"),
        (("--snapshot", "SNAPSHOT", "--run", "r.yaml", "--max-cards", "3"), "--max-cards"),
        (("--snapshot", "SNAPSHOT", "--resource", "gpu"), "not fully qualified"),
        (("--snapshot", "SNAPSHOT", "--resource", ""), "--resource"),
        (("--snapshot", "SNAPSHOT", "--resource", "a/b/c"), "--resource"),
        (("--snapshot", "SNAPSHOT", "--resource", "cpu"), "core resource"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--max-cards", "-1"), "--max-cards"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--max-cards", "1.5"), "--max-cards"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--max-cards", "99999999999"), "--max-cards"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--max-pod-groups", "many"), "--max-pod-groups"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--min-improvement", "101"), "--min-improvement"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "-o", "xml"), "xml"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--strategy", "Magic"), "Magic"),
        (("--snapshot", "SNAPSHOT", "--resource", GPU, "--nonsense"), "--nonsense"),
    ],
)
def test_options(repack: Run, snapshot: Path, arguments: tuple[str, ...], word: str) -> None:
    done = repack("plan", *(str(snapshot) if a == "SNAPSHOT" else a for a in arguments))
    assert (done.code, done.out) == (2, "")
    assert word in done.err


def test_a_message_about_an_option_shows_no_place_in_a_file_that_nobody_wrote(repack: Run, snapshot: Path) -> None:
    done = repack("plan", "--snapshot", snapshot, "--resource", "gpu")
    assert done.err.startswith('error: --resource: "gpu" is not fully qualified')


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("plan", "extra", "words"),
        ("snapshot",),
        ("execute",),
        ("execute", "--run", "nightly"),
        ("execute", "--run", "runs/a/b/c/d"),
        ("execute", "--run", "runs/../b"),
        ("execute", "--run", "runs/gpu/a", "--wait", "-1"),
        ("propose", "--tick", "soon"),
        ("propose", "--tick", ""),
    ],
)
def test_usage(repack: Run, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    main_code = 2
    if not arguments:
        with pytest.raises(AssertionError):  # it shows the help, which is no error message
            repack()
        return
    assert repack(*arguments).code == main_code
