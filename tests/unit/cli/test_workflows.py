"""`repack propose`, `dispatch` and `execute` as commands: what they print, and how they exit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from repack_gitops.cli import wiring
from repack_gitops.errors import ClusterUnavailable
from repack_gitops.workflow.ports import Ports
from tests.unit.cli.conftest import Done, Run
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place, make_place, policy_text

RUN = "gpu-20261102-090030"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = make_place(tmp_path)

    @contextmanager
    def open_ports(*_: Any) -> Iterator[Ports]:
        with made.ports() as ports:
            yield ports

    monkeypatch.setattr(wiring, "open_ports", open_ports)
    return made


def documents(done: Done) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


# ---- propose ----
def test_propose_says_what_it_did(place: Place, repack: Run) -> None:
    done = repack("propose")
    assert done.code == 0
    assert done.out.startswith("gpu: opened: Freeing 1 node")
    assert done.out.endswith("(https://forge.example/pulls/1)\n")
    assert done.err == "policy gpu: planning\n"


def test_propose_in_json(place: Place, repack: Run) -> None:
    (report,) = documents(repack("propose", "-o", "json"))
    assert report["policy"] == "gpu"
    assert report["action"] == "opened"
    assert report["url"] == "https://forge.example/pulls/1"
    assert report["exit_code"] == 0


def test_propose_without_policies(place: Place, repack: Run) -> None:
    place.remove("policies/gpu.yaml")
    assert repack("propose").out == "no policies\n"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_broken_policy_tells_by_the_exit_code(place: Place, repack: Run, form: str) -> None:
    place.write("policies/bad.yaml", "a: [")
    done = repack("propose", "-o", form)
    assert done.code == 2
    assert "policies/bad.yaml:2:1" in done.out
    assert "error: 1 of 2 policies could not be served" in done.err
    assert len(place.open_requests("gpu")) == 1


def test_an_unreachable_cluster_tells_by_the_exit_code(place: Place, repack: Run) -> None:
    place.cluster.broken = ClusterUnavailable("the API server cannot be reached")
    done = repack("propose")
    assert done.code == 3
    assert "gpu: failed: the API server cannot be reached" in done.out


def test_an_unknown_policy(place: Place, repack: Run) -> None:
    done = repack("propose", "--policy", "nope")
    assert (done.code, done.out) == (2, "")
    assert "no policy is called nope" in done.err
    assert place.open_requests() == []


def test_several_policies_by_name(place: Place, repack: Run) -> None:
    place.write("policies/b.yaml", policy_text("b", trigger='cronSchedule: "0 0 1 1 *"'))
    done = repack("propose", "--policy", "b", "--policy", "gpu")
    assert [line.split(":")[1] for line in done.out.splitlines()] == [" opened", " opened"]


@pytest.mark.parametrize("tick", ["15m", "1h30m", "90s"])
def test_ticks(place: Place, repack: Run, tick: str) -> None:
    assert repack("propose", "--tick", tick).code == 0


def test_another_branch_than_the_repository_says(place: Place, repack: Run) -> None:
    done = repack("propose", "--branch", "nope")
    assert done.code == 2
    assert "no branch nope" in done.err


# ---- dispatch ----
def test_dispatch_says_what_it_did(place: Place, repack: Run) -> None:
    assert repack("dispatch").out == "no approved run waits\n"
    repack("propose")
    place.merge_squashed(1)
    done = repack("dispatch")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{RUN}: created repack-{RUN}-")
    assert "its Job is running" in repack("dispatch").out
    assert documents(repack("dispatch", "-o", "json"))[0]["action"] == "exists"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_refused_run_tells_by_the_exit_code(place: Place, repack: Run, form: str) -> None:
    repack("propose")
    place.merge_squashed(1)
    place.write(f"runs/gpu/{RUN}/plan.yaml", "a: [")
    done = repack("dispatch", "-o", form)
    assert done.code == 5
    assert "refused" in done.out
    assert "plan.yaml" in done.out


def test_a_missing_template(place: Place, repack: Run) -> None:
    repack("propose")
    place.merge_squashed(1)
    place.cluster.config_maps.clear()
    done = repack("dispatch")
    assert (done.code, done.out) == (2, "")
    assert "cronjob/" in done.err


# ---- execute ----
def test_what_is_not_merged_is_refused(place: Place, repack: Run) -> None:
    done = repack("execute", "--run", f"runs/gpu/{RUN}")
    assert done.code == 5
    assert "not on branch main" in done.err


def test_a_recorded_run_has_nothing_to_do(place: Place, repack: Run) -> None:
    place.cluster.objects = layout(4, 2)
    repack("propose")
    place.merge_squashed(1)
    file = f"runs/gpu/{RUN}/run.yaml"
    place.write(f"runs/gpu/{RUN}/result.yaml", place.show("main", file) + "\n")
    done = repack("execute", "--run", f"runs/gpu/{RUN}/")
    assert (done.code, done.out.splitlines()[0]) == (0, "nothing to do")
