"""`repack explain`: four subjects, text and JSON, and names that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run, list_of
from tests.unit.cli.test_plan import CASES, EXAMPLES, GPU, subprocess_repack
from tests.unit.workflow.gitops.fake_cluster import layout

FLEET = ("--snapshot", str(EXAMPLES / "fleet-gpu.json.gz"), "--resource", GPU)
SUBJECTS = [
    (),
    ("node", "gpu-serve-03"),
    ("node", "gpu-train-04"),
    ("podgroup", "inference/qwen2-72b-1"),
    ("pod", "training/eval-code-nightly-worker-0"),
    ("pod", "notebooks/jupyter-chen-0"),
]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(("file", "resource"), CASES)
def test_examples(repack: Run, file: str, resource: str, form: str) -> None:
    done = repack("explain", "--snapshot", EXAMPLES / file, "--resource", resource, "-o", form)
    assert (done.code, done.err) == (0, "")
    assert "NoReceiver" in done.out
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 100 or form == "json"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_subject_as_text(repack: Run, subject: tuple[str, ...]) -> None:
    done = repack("explain", *FLEET, *subject)
    assert (done.code, done.err) == (0, "")
    assert not subject or subject[1] in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    assert done.out.endswith("Nothing has\nbeen changed.\n")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_subject_as_json(repack: Run, subject: tuple[str, ...]) -> None:
    found = json.loads(repack("explain", *FLEET, "-o", "json", *subject).out)
    (field,) = set(found) - {"resource", "strategy", "verdict", "freedNodes", "reproducible"}
    assert field == {"node": "node", "podgroup": "podGroup", "pod": "pod"}.get(subject[0] if subject else "", "stayingNodes")
    assert found["verdict"] == "RepackRecommended"


def test_json_says_what_plan_says(repack: Run) -> None:
    stays = json.loads(repack("explain", *FLEET, "-o", "json").out)["stayingNodes"]
    plan = json.loads(repack("plan", *FLEET, "-o", "json").out)["status"]["plan"]["stayingNodes"]
    assert [(g["code"], len(g["nodes"])) for g in stays] == [(g["reason"], g["nodeCount"]) for g in plan]
    for group, told in zip(stays, plan, strict=True):
        for change in group["stay"]["nearest"]:
            assert change["text"] in told["message"]


def test_a_change_as_numbers_and_in_words(repack: Run, snapshot: Path) -> None:
    snapshot.write_text(list_of(*layout(4, 2)))
    done = repack("explain", "--snapshot", snapshot, "--resource", GPU, "--max-cards", "1", "-o", "json")
    (change,) = json.loads(done.out)["stayingNodes"][0]["stay"]["nearest"]
    assert change == {
        "action": "RaiseBudget",
        "subject": "",
        "what": f"maxPerRun.resources of {GPU}",
        "now": 1,
        "needed": change["needed"],
        "text": f"maxPerRun.resources of {GPU} {change['needed']} instead of 1",
    }


@pytest.mark.parametrize(
    ("subject", "message", "hint"),
    [
        (("node", "gpu-srve-03"), "the snapshot holds no node gpu-srve-03", "Did you mean gpu-serve-03"),
        (
            ("podgroup", "training/qwen2-vl-sf"),
            "holds no PodGroup training/qwen2-vl-sf",
            "Did you mean training/qwen2-vl-sft-",
        ),
        (("pod", "training/no-such-pod-at-all"), "holds no pod training/no-such-pod-at-all", ""),
        (("node",), "give the name of the node", ""),
        (("pod", "worker-0"), "a pod is named NS/NAME, not worker-0", ""),
        (("podgroup", "team/"), "a podgroup is named NS/NAME, not team/", ""),
        (("deployment", "x"), "'deployment' is not one of 'node', 'podgroup', 'pod'", ""),
    ],
)
def test_subjects_that_are_not_there(repack: Run, subject: tuple[str, ...], message: str, hint: str) -> None:
    done = repack("explain", *FLEET, *subject)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in done.err


def test_the_same_bytes_under_any_hash_seed_and_in_ascii() -> None:
    for subject in SUBJECTS:
        arguments = ("explain", *FLEET, *subject)
        first, second = (subprocess_repack(*arguments, PYTHONHASHSEED=s, PYTHONIOENCODING="ascii") for s in ("1", "2"))
        assert first.returncode == 0, first.stderr
        assert first.stdout == second.stdout
        assert first.stdout.isascii()
