"""`repack plan`: four forms of one answer, the same bytes every time, and quiet about what the terminal cannot do."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from repack_gitops.cli import explaining, planning
from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.documents import read_run
from repack_gitops.model.impact import Disruption
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation, Frontier, FrontierPoint
from repack_gitops.model.run import RunSpec
from repack_gitops.planner import evaluate
from repack_gitops.planner.watch import Watch
from repack_gitops.policy.names import PLANNER_OPTIONS
from tests.unit.cli.conftest import Run, list_of
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import policy_text

EXAMPLES = Path(__file__).parents[3] / "examples"
GPU, NPU = "nvidia.com/gpu", "huawei.com/ascend-1980"
CASES = [("fleet-gpu.json.gz", GPU), ("fleet-npu.json", NPU)]
FORMS = ["table", "yaml", "json", "markdown"]


def subprocess_repack(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "repack_gitops", *arguments]
    return subprocess.run(command, capture_output=True, check=False, env={"PATH": os.environ["PATH"], **environment})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("file", "resource"), CASES)
def test_examples_in_every_form(repack: Run, file: str, resource: str, form: str) -> None:
    done = repack("plan", "--snapshot", EXAMPLES / file, "--resource", resource, "-o", form)
    assert done.code == 0
    assert done.err == ""
    assert resource in done.out
    assert done.out.endswith("\n")
    assert "\x1b" not in done.out


@pytest.mark.parametrize(("file", "resource"), CASES)
def test_yaml_and_json_are_the_same_run(repack: Run, file: str, resource: str) -> None:
    texts = {f: repack("plan", "--snapshot", EXAMPLES / file, "--resource", resource, "-o", f).out for f in ("yaml", "json")}
    assert read_run(texts["yaml"], "yaml") == read_run(texts["json"], "json")
    assert yaml.safe_load(texts["yaml"]) == json.loads(texts["json"])
    run = read_run(texts["yaml"], "yaml")
    assert run.status is not None
    assert run.status.plan is not None
    assert run.status.phase == "Succeeded"


@pytest.mark.parametrize("form", FORMS)
def test_the_same_bytes_under_any_hash_seed(form: str) -> None:
    arguments = ("plan", "--snapshot", str(EXAMPLES / "fleet-gpu.json.gz"), "--resource", GPU, "-o", form)
    first, second = (subprocess_repack(*arguments, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


def test_what_was_printed_can_be_planned_again(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    first = repack("plan", "--snapshot", snapshot, "--resource", GPU, "-o", "yaml")
    file = tmp_path / "run.yaml"
    file.write_text(first.out)
    assert repack("plan", "--snapshot", snapshot, "--run", file, "-o", "yaml").out == first.out


def test_a_run_in_mode_execute_is_only_planned(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(repack("plan", "--snapshot", snapshot, "--resource", GPU, "-o", "yaml").out.replace("DryRun", "Execute"))
    assert "mode: DryRun" in repack("plan", "--snapshot", snapshot, "--run", file, "-o", "yaml").out


@pytest.mark.parametrize(
    ("cards", "options", "reason"),
    [
        ((4, 2), (), "RepackRecommended"),
        ((8, 8), (), "NoFragmentation"),
        ((0, 0), (), "NoFragmentation"),
        ((4, 2), ("--min-improvement", "80"), "InsufficientImprovement"),
        ((4, 2), ("--max-cards", "1"), "InsufficientImprovement"),
        ((4, 2), ("--max-cards", "0"), "InsufficientImprovement"),
        ((4, 2), ("--max-pod-groups", "0"), "InsufficientImprovement"),
        ((4, 2), ("--max-pod-groups", "1", "--max-cards", "2"), "RepackRecommended"),
    ],
)
def test_every_verdict_is_a_success(
    repack: Run, snapshot: Path, cards: tuple[int, ...], options: tuple[str, ...], reason: str
) -> None:
    snapshot.write_text(list_of(*layout(*cards)))
    done = repack("plan", "--snapshot", snapshot, "--resource", GPU, *options, "-o", "json")
    assert (done.code, json.loads(done.out)["status"]["conditions"][-1]["reason"]) == (0, reason)
    for form in FORMS:
        assert repack("plan", "--snapshot", snapshot, "--resource", GPU, *options, "-o", form).code == 0


def test_the_strategy_can_be_chosen(repack: Run, snapshot: Path) -> None:
    snapshot.write_text(list_of(*layout(4, 2)))
    known = []
    for options in ((), ("--strategy", "Drain"), ("--strategy", "Optimal")):
        done = repack("plan", "--snapshot", snapshot, "--resource", GPU, *options, "-o", "json")
        assert done.code == 0
        plan = json.loads(done.out)["status"]["plan"]
        known.append((plan["strategy"], plan.get("optimality", {}).get("proven")))
    assert known == [("Optimal", True), ("Drain", None), ("Optimal", True)]


def test_what_is_known_of_a_plan_is_printed_and_nothing_of_the_solver(snapshot: Path) -> None:
    snapshot.write_text(list_of(*layout(4, 2)))
    done = subprocess_repack("plan", "--snapshot", str(snapshot), "--resource", GPU, "--strategy", "Optimal")
    assert done.returncode == 0, done.stderr
    assert b"Proven: within the run's limits no plan frees more" in done.stdout
    assert b"HiGHS" not in done.stdout + done.stderr


def test_the_strategy_that_a_run_records_is_kept(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    file = recorded_run(repack, snapshot, tmp_path, '{"strategy":"Optimal"}')
    for options, strategy in (((), "Optimal"), (("--strategy", "Drain"), "Drain")):
        again = json.loads(repack("plan", "--snapshot", snapshot, "--run", file, *options, "-o", "json").out)
        assert again["status"]["plan"]["strategy"] == strategy


# ---- the frontier ----
@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[PlannerOptions]:
    """The options that the planner was asked with; it answers with a frontier where that was wanted."""
    found: list[PlannerOptions] = []
    point = FrontierPoint(1, 1, 1, Disruption(1, 0, 2, 2, 1))

    def answer(snapshot: ClusterSnapshot, spec: RunSpec, options: PlannerOptions, watch: Watch) -> Evaluation:
        found.append(options)
        evaluation = evaluate(snapshot, spec, replace(options, frontier=False))
        return replace(evaluation, frontier=Frontier((point,), (point,))) if options.frontier else evaluation

    monkeypatch.setattr(planning, "evaluate", answer)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_frontier_is_shown_in_every_form(repack: Run, snapshot: Path, asked: list[PlannerOptions], form: str) -> None:
    given = ("plan", "--snapshot", snapshot, "--resource", GPU, "--strategy", "Optimal", "-o", form)
    without, done = repack(*given), repack(*given, "--frontier")
    assert (done.code, [o.frontier for o in asked]) == (0, [False, True])
    words = {"yaml": "frontier:", "json": '"frontier"'}.get(form, "What disruption buys")
    assert words in done.out
    assert words not in without.out


@pytest.mark.parametrize("options", [("--strategy", "Drain")])
def test_a_frontier_takes_the_strategy_that_can_tell_it(
    repack: Run, asked: list[PlannerOptions], options: tuple[str, ...]
) -> None:
    done = repack("plan", "--snapshot", "/nowhere.json", "--resource", GPU, "--frontier", *options)
    assert done.code == 2
    assert "--frontier takes strategy Optimal, not Drain; add --strategy Optimal" in done.err
    assert asked == []


def test_a_frontier_of_a_run_takes_the_strategy_that_it_records(
    repack: Run, snapshot: Path, asked: list[PlannerOptions], tmp_path: Path
) -> None:
    for recorded, code in (('{"strategy":"Optimal"}', 0), ("{}", 0), ('{"strategy":"Drain"}', 2)):
        file = recorded_run(repack, snapshot, tmp_path, recorded)
        assert repack("plan", "--snapshot", snapshot, "--run", file, "--frontier").code == code


def test_a_recorded_frontier_is_told_again_unless_the_strategy_cannot(
    repack: Run, snapshot: Path, asked: list[PlannerOptions], tmp_path: Path
) -> None:
    file = recorded_run(repack, snapshot, tmp_path, '{"strategy":"Optimal","frontier":true}')
    asked.clear()
    for options in ((), ("--strategy", "Drain")):
        assert repack("plan", "--snapshot", snapshot, "--run", file, *options).code == 0
    assert [(o.strategy, o.frontier) for o in asked] == [("Optimal", True), ("Drain", False)]


def test_explain_does_not_work_a_frontier_out(
    repack: Run, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recorded_run(repack, snapshot, tmp_path, '{"strategy":"Optimal","frontier":true}')
    asked: list[PlannerOptions] = []
    real = explaining.study
    monkeypatch.setattr(explaining, "study", lambda s, r, o, w: real(s, r, asked.append(o) or o, w))
    assert repack("explain", "--snapshot", snapshot, "--run", file).code == 0
    assert [(o.strategy, o.frontier) for o in asked] == [("Optimal", False)]


def recorded_run(repack: Run, snapshot: Path, folder: Path, options: str) -> Path:
    run = json.loads(repack("plan", "--snapshot", snapshot, "--resource", GPU, "-o", "json").out)
    run["metadata"]["annotations"] = {PLANNER_OPTIONS: options}
    file = folder / "run.yaml"
    file.write_text(json.dumps(run))
    return file


def test_nothing_is_written(repack: Run, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    repack("plan", "--snapshot", snapshot, "--resource", GPU)
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_snapshot_from_standard_input(snapshot: Path) -> None:
    command = [sys.executable, "-m", "repack_gitops", "plan", "--snapshot", "-", "--resource", GPU]
    with snapshot.open("rb") as content:
        done = subprocess.run(command, stdin=content, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- terminals ----
def on_a_terminal(snapshot: Path, columns: int = 0, **environment: str) -> str:
    """Run the table on a pseudo-terminal and return what it showed."""
    command = [sys.executable, "-m", "repack_gitops", "plan", "--snapshot", str(snapshot), "--resource", GPU]
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
    if columns:
        env["COLUMNS"] = str(columns)
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=env) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:
                break
            shown += part
        assert process.wait() == 0, shown
    os.close(ours)
    return shown.decode()


def test_colour_on_a_terminal_only(snapshot: Path) -> None:
    assert "\x1b[" in on_a_terminal(snapshot)
    assert "\x1b" not in on_a_terminal(snapshot, NO_COLOR="1")


@pytest.mark.parametrize("columns", [0, 80, 200])
def test_a_terminal_of_any_width(snapshot: Path, columns: int) -> None:
    lines = on_a_terminal(snapshot, columns, NO_COLOR="1").splitlines()
    assert lines
    assert max(map(len, lines)) <= (columns or 100)


def test_a_terminal_that_knows_ascii_alone(snapshot: Path) -> None:
    for form in FORMS:
        arguments = ("plan", "--snapshot", str(snapshot), "--resource", GPU, "-o", form)
        done = subprocess_repack(*arguments, PYTHONIOENCODING="ascii")
        assert done.returncode == 0, done.stderr
        # Markdown, YAML and JSON are files, and files are UTF-8; the table is for the terminal.
        assert done.stdout.isascii() or form != "table"
        assert done.stdout.decode()


@pytest.mark.parametrize("arguments", [("--help",), ("plan", "--snapshot", "FILE", "--resource", GPU, "-o", "json")])
def test_a_reader_that_went_away(snapshot: Path, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "repack_gitops", *(str(snapshot) if a == "FILE" else a for a in arguments)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_full_disk(snapshot: Path) -> None:
    command = [sys.executable, "-m", "repack_gitops", "plan", "--snapshot", str(snapshot), "--resource", GPU]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74
    assert "no space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "report" not in done.stderr


# ---- a policy, tried offline ----
def policy_file(folder: Path, safety: str = "", budget: str = "") -> Path:
    file = folder / "gpu.yaml"
    file.write_text(policy_text("gpu", more=f"{budget}{safety}"))
    return file


@pytest.mark.parametrize(
    ("safety", "reason"),
    [
        ("", "RepackRecommended"),
        ("  safety: {minPodAge: 1h}\n", "InsufficientImprovement"),
        ("  safety: {minPodAge: 1s, maxPriority: 0}\n", "InsufficientImprovement"),
        ("  safety: {maxPodsPerNamespace: 0}\n", "InsufficientImprovement"),
        ("  safety: {maxPodsPerNamespace: 1}\n", "RepackRecommended"),
    ],
)
def test_a_policy_is_tried(repack: Run, snapshot: Path, tmp_path: Path, safety: str, reason: str) -> None:
    """Both pods are the snapshot's newest, so that none is older than any age."""
    done = repack("plan", "--snapshot", snapshot, "--policy", policy_file(tmp_path, safety), "-o", "json")
    assert (done.code, json.loads(done.out)["status"]["conditions"][-1]["reason"]) == (0, reason)
    assert json.loads(done.out)["metadata"]["name"] == "gpu"


def test_a_policys_budget_holds(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    file = policy_file(tmp_path, budget="      maxPerRun:\n        podGroups: 0\n")
    done = repack("plan", "--snapshot", snapshot, "--policy", file, "-o", "json")
    assert json.loads(done.out)["status"]["conditions"][-1]["reason"] == "InsufficientImprovement"


def test_what_was_proposed_can_be_planned_again_with_its_options(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    plain = repack("plan", "--snapshot", snapshot, "--resource", GPU, "-o", "json")
    run = json.loads(plain.out)
    run["metadata"]["annotations"] = {PLANNER_OPTIONS: '{"safeguards":{"pods_per_owner":0}}'}
    file.write_text(json.dumps(run))
    again = json.loads(repack("plan", "--snapshot", snapshot, "--run", file, "-o", "json").out)
    assert again["status"]["conditions"][-1]["reason"] == "InsufficientImprovement"
    run["metadata"]["annotations"] = {PLANNER_OPTIONS: "changed"}
    file.write_text(json.dumps(run))
    broken = repack("plan", "--snapshot", snapshot, "--run", file)
    assert (broken.code, PLANNER_OPTIONS in broken.err) == (2, True)


@pytest.mark.parametrize("more", [("--resource", GPU), ("--run", "run.yaml"), ("--max-cards", "3")])
def test_a_policy_stands_alone(repack: Run, snapshot: Path, tmp_path: Path, more: tuple[str, str]) -> None:
    done = repack("plan", "--snapshot", snapshot, "--policy", policy_file(tmp_path), *more)
    assert done.code == 2


def test_a_snapshot_without_times_cannot_tell_ages(repack: Run, snapshot: Path, tmp_path: Path) -> None:
    objects = layout(4, 2)
    objects[2]["metadata"]["creationTimestamp"] = "yesterday"
    snapshot.write_text(list_of(*objects))
    done = repack("plan", "--snapshot", snapshot, "--policy", policy_file(tmp_path))
    assert done.code != 0
    assert "'yesterday', which is no time with a zone" in done.err


@pytest.mark.parametrize("execution", ["fence: Taint", "steering: Gate", "maxParallelNodes: 3"])
def test_what_could_not_be_executed_is_not_planned(repack: Run, snapshot: Path, tmp_path: Path, execution: str) -> None:
    file = policy_file(tmp_path, f"  execution: {{{execution}}}\n")
    done = repack("plan", "--snapshot", snapshot, "--policy", file)
    assert (done.code, "policy gpu asks for" in done.err, done.out) == (5, True, "")
