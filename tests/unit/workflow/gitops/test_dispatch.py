"""From merged runs to Jobs: exactly one per run and plan, and one bad run does not stop the others (spec 3.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repack_gitops.errors import Forbidden, ForgeFailed, InvalidInput, RepackError
from repack_gitops.policy.names import PLAN_DIGEST, POLICY, RUN_PATH, job_name
from repack_gitops.workflow.books import base_books
from repack_gitops.workflow.dispatch import Dispatched, dispatch
from repack_gitops.workflow.job import RUN_LABEL, job_manifest
from tests.unit.workflow.gitops.fake_cluster import LABEL_VALUE, TEMPLATE
from tests.unit.workflow.gitops.place import CONFIG, Place, make_place, policy_text

RUN = "gpu-20261102-090130"
SYSTEM = "repack-system"


@pytest.fixture
def merged(place: Place) -> Place:
    place.tick()
    place.merge_squashed(1)
    return place


def run_dispatch(place: Place) -> dict[str, Dispatched]:
    with place.ports() as ports:
        return {d.run: d for d in dispatch(ports, "main")}


def the_job(place: Place) -> dict[str, Any]:
    (found,) = place.cluster.jobs.values()
    return found


def actions(place: Place) -> dict[str, str]:
    return {run: d.action for run, d in run_dispatch(place).items()}


def test_one_job_per_merged_run(merged: Place) -> None:
    digest = merged.run_on_main(RUN).metadata.annotations[PLAN_DIGEST]
    (found,) = run_dispatch(merged).values()
    assert (found.action, found.job) == ("created", f"repack-{RUN}-{digest[:8]}")
    job = the_job(merged)
    assert (job["metadata"]["name"], job["metadata"]["namespace"]) == (found.job, SYSTEM)
    for metadata in (job["metadata"], job["spec"]["template"]["metadata"]):
        assert metadata["labels"].items() >= {RUN_LABEL: RUN, POLICY: "gpu"}.items()
        assert metadata["annotations"] == {RUN_PATH: f"runs/gpu/{RUN}", PLAN_DIGEST: digest}
    assert job["metadata"]["labels"]["app"] == "repack"
    executor, proxy = job["spec"]["template"]["spec"]["containers"]
    assert executor["args"] == ["execute", "--run", f"runs/gpu/{RUN}"]
    assert "args" not in proxy


def test_a_second_dispatch_does_nothing(merged: Place) -> None:
    run_dispatch(merged)
    job = the_job(merged)
    assert actions(merged) == {RUN: "exists"}
    assert the_job(merged) is job


def test_two_dispatchers_at_once(merged: Place) -> None:
    run_dispatch(merged)
    merged.cluster.states.clear()  # the other one looked before our Job was there
    assert actions(merged) == {RUN: "exists"}


def test_a_job_that_ended_is_not_started_again(merged: Place) -> None:
    run_dispatch(merged)
    for ended in ("succeeded", "failed"):
        state = next(iter(merged.cluster.states.values()))
        flags = {"active": False, "succeeded": ended == "succeeded", "failed": ended == "failed"}
        merged.cluster.states = {(SYSTEM, state.name): type(state)(SYSTEM, state.name, **flags)}
        assert actions(merged) == {RUN: "exists"}


def test_a_run_with_a_result_is_done(merged: Place) -> None:
    merged.write(f"runs/gpu/{RUN}/result.yaml", "anything\n")
    assert actions(merged) == {}


@pytest.mark.parametrize("removed", [f"runs/gpu/{RUN}", f"runs/gpu/{RUN}/run.yaml"])
def test_a_reverted_run_is_cancelled(merged: Place, removed: str) -> None:
    merged.remove(removed)
    assert actions(merged) == {}


def test_a_revert_of_a_revert_does_not_run_it_twice(merged: Place) -> None:
    run_dispatch(merged)
    files = {f"runs/gpu/{RUN}/{n}": merged.show("main", f"runs/gpu/{RUN}/{n}") + "\n" for n in ("run.yaml", "plan.yaml")}
    merged.remove(f"runs/gpu/{RUN}")
    assert actions(merged) == {}
    merged.write_all(files)
    assert actions(merged) == {RUN: "exists"}
    assert len(merged.cluster.jobs) == 1


def test_an_open_request_is_not_dispatched(place: Place) -> None:
    place.tick()
    assert actions(place) == {}


def test_nothing_at_all(place: Place) -> None:
    assert actions(place) == {}


# ---- names ----
@pytest.mark.parametrize("name", ["x" * 100, "a.b.c", "0a", "x" * 54 + ".y", "x" * 62 + "-y"])
def test_names_that_are_long_or_dotted_make_valid_jobs(tmp_path: Path, name: str) -> None:
    place = make_place(tmp_path, {f"policies/{name}.yaml": policy_text(name)})
    place.tick()
    place.merge_squashed(1)
    (found,) = run_dispatch(place).values()
    assert found.action == "created", found.message
    job = the_job(place)
    assert LABEL_VALUE.fullmatch(job["metadata"]["labels"][POLICY])
    assert job["metadata"]["annotations"][RUN_PATH].split("/")[1] == name


def test_a_long_run_name_keeps_jobs_apart() -> None:
    names = {job_name("x" * 200 + str(i), "0123456789") for i in range(50)} | {job_name("x" * 200 + "1", "9876543210")}
    assert len(names) == 51
    assert all(len(n) <= 63 for n in names)


# ---- the template ----
BROKEN_TEMPLATES = {
    "not YAML": "a: [",
    "empty": "",
    "a word": "hello",
    "a list": "- a\n",
    "no containers": "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers: []\n",
    "a Pod": TEMPLATE.replace("kind: Job", "kind: Pod"),
    "of another version": TEMPLATE.replace("batch/v1", "batch/v1beta1"),
    "null metadata": TEMPLATE.replace("metadata:\n  labels:\n    app: repack\n", "metadata:\n"),
    "null labels": TEMPLATE.replace("  labels:\n    app: repack\n", "  labels:\n"),
    "labels in a list": TEMPLATE.replace("    app: repack", "    - app"),
    "args in a word": TEMPLATE.replace("[execute]", "execute"),
    "args in numbers": TEMPLATE.replace("[execute]", "[1]"),
    "no command": TEMPLATE.replace("          args: [execute]\n", ""),
    "null args": TEMPLATE.replace("[execute]", ""),
    "containers in a mapping": TEMPLATE.replace("        - name: executor", "          name: executor").partition(
        "        - name"
    )[0],
}
GOOD_TEMPLATES = {"null metadata", "null labels"}


@pytest.mark.parametrize("what", BROKEN_TEMPLATES)
def test_a_broken_template_is_named_and_nothing_is_created(merged: Place, what: str) -> None:
    merged.cluster.config_maps[SYSTEM, "repack-executor-template"] = {"job.yaml": BROKEN_TEMPLATES[what]}
    if what in GOOD_TEMPLATES:
        assert actions(merged) == {RUN: "created"}
        return
    with pytest.raises(InvalidInput, match=r"ConfigMap repack-system/repack-executor-template"):
        run_dispatch(merged)
    assert merged.cluster.jobs == {}


@pytest.mark.parametrize("data", [None, {}, {"other.yaml": TEMPLATE}])
def test_a_missing_template_is_named(merged: Place, data: dict[str, str] | None) -> None:
    del merged.cluster.config_maps[SYSTEM, "repack-executor-template"]
    if data is not None:
        merged.cluster.config_maps[SYSTEM, "repack-executor-template"] = data
    with pytest.raises(InvalidInput, match=r"repack-executor-template") as caught:
        run_dispatch(merged)
    assert "cronjob" in caught.value.hint


def test_without_runs_nobody_asks_for_a_template(place: Place) -> None:
    place.cluster.config_maps.clear()
    assert actions(place) == {}


def test_namespace_and_template_as_the_configuration_says(merged: Place) -> None:
    merged.write("repack.yaml", CONFIG + "  job:\n    namespace: ops\n    template: mine\n")
    merged.cluster.config_maps["ops", "mine"] = {"job.yaml": TEMPLATE}
    run_dispatch(merged)
    assert [namespace for namespace, _ in merged.cluster.jobs] == ["ops"]


def test_the_template_is_not_changed_by_a_run(merged: Place) -> None:
    template = {"metadata": {}, "spec": {"template": {"spec": {"containers": [{"name": "x", "args": ["execute"]}]}}}}
    with merged.ports() as ports:
        books = base_books(ports.repository, "main")
        approved = books.approved_run(books.approved()[0])
    first, second = (job_manifest(template, "n", SYSTEM, approved) for _ in range(2))
    assert first == second
    assert template["spec"]["template"]["spec"]["containers"][0]["args"] == ["execute"]


# ---- one bad run does not stop the others ----
def two_runs(folder: Path) -> Place:
    place = make_place(folder, {"policies/a.yaml": policy_text("a"), "policies/b.yaml": policy_text("b")})
    place.tick()
    for request in place.open_requests():
        place.merge_squashed(request.number)
    return place


A, B = "a-20261102-090130", "b-20261102-090130"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("run.yaml", "a: ["),
        ("run.yaml", ""),
        ("plan.yaml", "\0"),
        ("plan.yaml", "apiVersion: repack.volcano.sh/v1alpha1\nkind: RepackRun\nmetadata: {name: x}\n"),
    ],
)
def test_a_broken_file(tmp_path: Path, file: str, text: str) -> None:
    place = two_runs(tmp_path)
    place.write(f"runs/a/{A}/{file}", text)
    found = run_dispatch(place)
    assert (found[A].action, found[B].action) == ("refused", "created")
    assert f"runs/a/{A}/{file}" in found[A].message


def test_a_missing_plan(tmp_path: Path) -> None:
    place = two_runs(tmp_path)
    place.remove(f"runs/a/{A}/plan.yaml")
    assert actions(place) == {A: "refused", B: "created"}


def test_a_run_file_that_is_a_link(tmp_path: Path) -> None:
    place = two_runs(tmp_path)
    place.write("README.md", "on main\n")
    file = place.scratch.checkout / f"runs/a/{A}/run.yaml"
    file.unlink()
    file.symlink_to("/etc/passwd")
    place.commit_checkout()
    found = run_dispatch(place)
    assert (found[A].action, found[B].action) == ("refused", "created")
    assert "symlink" in found[A].message


@pytest.mark.parametrize("text", ["a: [", policy_text("z"), None])
def test_a_policy_that_broke_or_went(tmp_path: Path, text: str | None) -> None:
    place = two_runs(tmp_path)
    if text is None:
        place.remove("policies/a.yaml")
    else:
        place.write("policies/a.yaml", text)
    found = run_dispatch(place)
    assert (found[A].action, found[B].action) == ("refused", "created")
    assert "a" in found[A].message


def test_a_broken_policy_without_a_run_concerns_nobody(tmp_path: Path) -> None:
    place = two_runs(tmp_path)
    place.write("policies/c.yaml", "a: [")
    assert actions(place) == {A: "created", B: "created"}


@pytest.mark.parametrize("error", [InvalidInput("HTTP 422: no"), RepackError("what?"), ForgeFailed("no")])
def test_an_api_server_that_refuses_one_job(tmp_path: Path, error: RepackError) -> None:
    place = two_runs(tmp_path)
    create = place.cluster.create_job

    def refusing(namespace: str, manifest: Any) -> Any:
        if manifest["metadata"]["labels"][POLICY] == "a":
            raise error
        return create(namespace, manifest)

    place.cluster.create_job = refusing  # type: ignore[method-assign]
    assert actions(place) == {A: "refused", B: "created"}


def test_a_missing_permission_ends_it(tmp_path: Path) -> None:
    place = two_runs(tmp_path)

    def forbidden(namespace: str, manifest: Any) -> Any:
        raise Forbidden("not allowed to create jobs")

    place.cluster.create_job = forbidden  # type: ignore[method-assign]
    with pytest.raises(Forbidden):
        run_dispatch(place)


@pytest.mark.parametrize("path", ["runs/gpu/Run-1", "runs/GPU/run-1", "runs/loose", "runs/gpu/run_1"])
def test_a_run_in_a_folder_of_a_wrong_name_is_said(merged: Place, path: str) -> None:
    merged.write(f"{path}/run.yaml", merged.show("main", f"runs/gpu/{RUN}/run.yaml"))
    found = run_dispatch(merged)
    assert found[RUN].action == "created"
    assert found[path].action == "refused"
    assert "folder" in found[path].message


def test_results_that_cannot_be_recorded_as_asked_stop_it_before_anything_is_evicted(merged: Place) -> None:
    merged.write("repack.yaml", CONFIG + "  results: pull-request\n")
    with pytest.raises(RepackError, match="results"):
        run_dispatch(merged)
    assert merged.cluster.jobs == {}
