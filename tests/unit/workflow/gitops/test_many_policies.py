"""Several policies in one repository: each has its own request, and one that is broken does not stop the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repack_gitops.errors import ForgeFailed, TryAgain
from repack_gitops.forge.interface import PullRequest
from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.fake_cluster import layout
from tests.unit.workflow.gitops.place import Place, make_place, policy_text


def policies(folder: Path, *names: str, **more: str) -> Place:
    files = {f"policies/{name}.yaml": policy_text(name) for name in names}
    return make_place(folder, {**files, **{f"policies/{name}": text for name, text in more.items()}})


def owners(place: Place) -> list[str]:
    return sorted(p.head.split("/")[1] for p in place.open_requests())


BROKEN = {
    "syntax": "a: [",
    "an unknown field": policy_text("bad", more="  nonsense: 1\n"),
    "another name": policy_text("other"),
    "not text": "\0\1\2",
    "empty": "",
    "another kind": "apiVersion: repack.volcano.sh/v1alpha1\nkind: RepackRun\nmetadata:\n  name: bad\n",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_policy_is_said_and_the_others_are_served(tmp_path: Path, what: str) -> None:
    place = policies(tmp_path, "a", "z")
    place.write("policies/bad.yaml", BROKEN[what])
    reports = place.tick()
    assert (reports["a"].action, reports["bad"].action, reports["z"].action) == ("opened", "failed", "opened")
    assert reports["bad"].exit_code == 2
    assert "policies/bad.yaml" in reports["bad"].message
    assert reports["a"].exit_code == 0


def test_a_policy_that_breaks_later_keeps_its_request(tmp_path: Path) -> None:
    place = policies(tmp_path, "a")
    place.tick()
    before = place.the_request("a")
    place.write("policies/a.yaml", "a: [")
    assert place.tick()["a"].action == "failed"
    assert place.the_request("a") == before


def test_a_policy_file_that_is_a_link(tmp_path: Path) -> None:
    place = policies(tmp_path, "a")
    place.write("README.md", "main is checked out now\n")
    (place.scratch.checkout / "policies/bad.yaml").symlink_to("/etc/passwd")
    place.commit_checkout()
    reports = place.tick()
    assert (reports["a"].action, reports["bad"].exit_code) == ("opened", 2)
    assert "symlink" in reports["bad"].message


def test_two_files_of_one_name(tmp_path: Path) -> None:
    place = policies(tmp_path, "a", "b")
    place.write("policies/a.yml", policy_text("a", more="  suspend: true\n"))
    reports = place.tick()
    assert (reports["a"].exit_code, reports["b"].action) == (2, "opened")
    assert "policies/a.yaml" in reports["a"].message
    assert "policies/a.yml" in reports["a"].message
    assert owners(place) == ["b"]


def test_a_name_that_is_asked_for_and_broken_is_no_unknown_name(tmp_path: Path) -> None:
    place = policies(tmp_path, "a")
    place.write("policies/bad.yaml", "a: [")
    assert place.tick("bad")["bad"].exit_code == 2


def test_a_broken_policy_that_was_not_asked_for_is_not_this_calls_failure(tmp_path: Path) -> None:
    place = policies(tmp_path, "a")
    place.write("policies/bad.yaml", "a: [")
    reports = place.tick("a")
    assert (reports["a"].action, reports["bad"].action, reports["bad"].exit_code) == ("opened", "skipped", 0)


def test_files_in_sub_folders_and_of_other_types_are_no_policies(tmp_path: Path) -> None:
    place = policies(tmp_path, "a")
    place.write_all({"policies/tests/x.yaml": "a: [", "policies/README.md": "words", "policies/x.json": "{"})
    assert list(place.tick()) == ["a"]


def test_a_protected_branch_of_one_policy_does_not_stop_the_others(tmp_path: Path) -> None:
    place = policies(tmp_path, "a", "b", "c")
    place.scratch.hook("pre-receive", 'while read -r _ _ ref; do case $ref in */b/*) echo "GH013: no" >&2; exit 1;; esac; done')
    reports = place.tick()
    assert [reports[n].action for n in "abc"] == ["opened", "failed", "opened"]
    assert reports["b"].exit_code == 4
    assert "protected" in reports["b"].message


def test_a_branch_in_the_way_of_one_policy(tmp_path: Path) -> None:
    place = policies(tmp_path, "a", "b")
    git(place.scratch.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/repack/a")
    reports = place.tick()
    assert (reports["a"].exit_code, reports["b"].action) == (4, "opened")
    assert "repack/a" in reports["a"].message


def test_a_forge_that_refuses_one_request_for_good(tmp_path: Path) -> None:
    place = policies(tmp_path, "a", "b")

    class Refusing:
        def __getattr__(self, name: str) -> object:
            return getattr(place.forge, name)

        def create_pull_request(self, head: str, *args: Any) -> PullRequest:
            if "/a/" in head:
                raise ForgeFailed("422: no", hint="Change the setting.")
            return place.forge.create_pull_request(head, *args)

    with place.ports() as ports:
        reports = place.tick_on(place.ports_on(ports.repository, Refusing()))  # type: ignore[arg-type]
    assert (reports["a"].exit_code, reports["b"].action) == (4, "opened")
    assert "Change the setting." in reports["a"].message


def test_a_forge_that_asks_for_patience_ends_the_tick(tmp_path: Path) -> None:
    place = policies(tmp_path, "a", "b", "c")
    asked: list[str] = []

    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(place.forge, name)

        def create_pull_request(self, head: str, *args: Any) -> PullRequest:
            asked.append(head)
            raise TryAgain("rate limit", hint="Wait an hour.")

    with place.ports() as ports:
        reports = place.tick_on(place.ports_on(ports.repository, Busy()))  # type: ignore[arg-type]
    assert len(asked) == 1
    assert [reports[n].action for n in "abc"] == ["failed", "skipped", "skipped"]
    assert reports["a"].exit_code == 75
    reports = place.tick()
    assert [reports[n].action for n in "abc"] == ["opened"] * 3


def test_a_name_too_long_for_a_branch_is_a_clear_message(tmp_path: Path) -> None:
    long = "x" * 200
    place = policies(tmp_path, "a", long)
    reports = place.tick()
    assert (reports["a"].action, reports[long].exit_code) == ("opened", 2)
    assert "branch" in reports[long].message


# ---- names that begin like another's ----
def test_policies_whose_names_begin_alike(tmp_path: Path) -> None:
    names = ["gpu", "gpu-2", "gpu.a", "gp"]
    place = policies(tmp_path, *names)
    assert {r.action for r in place.tick().values()} == {"opened"}
    assert owners(place) == sorted(names)
    assert {r.action for r in place.tick().values()} == {"unchanged"}
    place.remove("policies/gpu-2.yaml")
    place.cluster.objects = layout(4, 2, 1)
    assert {n: r.action for n, r in place.tick().items()} == {"gp": "updated", "gpu": "updated", "gpu.a": "updated"}
    assert "free 1 node" in place.the_request("gpu-2").title


def test_a_rejection_of_one_policy_is_not_anothers(tmp_path: Path) -> None:
    place = policies(tmp_path, "gpu", "gpu-2")
    place.tick()
    place.forge.somebody_closes(place.the_request("gpu").number)
    assert {n: r.action for n, r in place.tick().items()} == {"gpu": "nothing", "gpu-2": "unchanged"}


def test_a_branch_that_only_begins_like_ours_is_nobodys_business(tmp_path: Path) -> None:
    place = policies(tmp_path, "gpu")
    git(place.scratch.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/repack/gpu/deep/er")
    place.forge.somebody_opens("repack/gpu/deep/er", "main")
    assert place.action() == "opened"
    assert place.action() == "unchanged"
    place.cluster.objects = layout(4, 0)
    assert place.action() == "closed"
    assert [p.head for p in place.open_requests()] == ["repack/gpu/deep/er"]


def test_a_request_to_another_base_is_not_ours(tmp_path: Path) -> None:
    place = policies(tmp_path, "gpu")
    place.tick()
    head = place.the_request("gpu").head
    git(place.scratch.checkout, "push", "--quiet", "origin", "HEAD:refs/heads/dev")
    place.forge.somebody_opens(head, "dev")
    assert place.action() == "unchanged"


def test_of_two_open_requests_the_newer_is_closed(tmp_path: Path) -> None:
    # Two planners ran at the same time.
    place = policies(tmp_path, "gpu")
    place.tick()
    first = place.the_request("gpu")
    git(place.scratch.checkout, "fetch", "--quiet", "origin", first.head)
    git(place.scratch.checkout, "push", "--quiet", "origin", "FETCH_HEAD:refs/heads/repack/gpu/gpu-20261102-090131")
    place.forge.create_pull_request("repack/gpu/gpu-20261102-090131", "main", "Another", first.body)
    place.tick()
    assert [p.number for p in place.open_requests()] == [1]
    assert set(place.branches()) == {first.head}
    assert any("superseded" in c for c in place.comments(2))


def test_a_second_request_that_a_human_works_on_is_left(tmp_path: Path) -> None:
    place = policies(tmp_path, "gpu")
    place.tick()
    first = place.the_request("gpu")
    git(place.scratch.checkout, "fetch", "--quiet", "origin", first.head)
    git(place.scratch.checkout, "push", "--quiet", "origin", "FETCH_HEAD:refs/heads/repack/gpu/other")
    place.push_to("repack/gpu/other", "notes.md", "mine")
    place.forge.somebody_opens("repack/gpu/other", "main")
    place.tick()
    assert [p.number for p in place.open_requests()] == [1, 2]


def test_what_could_not_be_executed_is_not_proposed(tmp_path: Path) -> None:
    place = policies(tmp_path, "a")
    place.write("policies/bad.yaml", policy_text("bad", more="  execution: {fence: Taint}\n"))
    reports = place.tick()
    assert (reports["a"].action, reports["bad"].action, reports["bad"].exit_code) == ("opened", "failed", 5)
    assert "fence Taint" in reports["bad"].message
