"""Documents of a repository that anybody may have filled: links, huge and binary files, ten thousand runs, wrong names."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from repack_gitops.errors import InvalidInput, Refused
from repack_gitops.policy.names import RunPath
from repack_gitops.workflow.books import LIMIT_BYTES, Books, base_books
from tests.unit.git.scratch import git
from tests.unit.workflow.gitops.place import CONFIG, Place, policy_text


@contextmanager
def books(place: Place) -> Iterator[Books]:
    with place.ports() as ports:
        yield base_books(ports.repository, "main")


def on_main(place: Place) -> Path:
    place.write("README.md", f"{place.scratch.tip}\n")
    return place.scratch.checkout


# ---- configuration ----
def test_no_configuration(place: Place) -> None:
    place.remove("repack.yaml")
    with pytest.raises(InvalidInput, match=r"repack\.yaml is not in the repository"), books(place):
        pass


def test_another_base_branch_than_the_configuration_says(place: Place) -> None:
    place.write("repack.yaml", CONFIG + "  git:\n    baseBranch: production\n")
    with pytest.raises(InvalidInput, match="base branch is production") as caught, books(place):
        pass
    assert "--branch production" in caught.value.hint


def test_no_such_branch(place: Place) -> None:
    with place.ports() as ports, pytest.raises(InvalidInput, match="no branch nope"):
        base_books(ports.repository, "nope")


# ---- folders that are none ----
@pytest.mark.parametrize("folder", ["policies", "runs"])
def test_a_link_in_place_of_a_folder_is_not_an_empty_folder(place: Place, folder: str) -> None:
    checkout = on_main(place)
    if folder == "policies":
        git(checkout, "rm", "-r", "--quiet", "policies")
    (checkout / folder).symlink_to("/etc")
    place.commit_checkout()
    with books(place) as found, pytest.raises(InvalidInput, match=f"'{folder}' is a symlink"):
        found.policies() if folder == "policies" else found.approved()


def test_a_file_in_place_of_runs(place: Place) -> None:
    place.write("runs", "hello\n")
    with books(place) as found, pytest.raises(InvalidInput, match="runs is a file"):
        found.approved()


def test_a_submodule_in_place_of_policies(place: Place) -> None:
    checkout = on_main(place)
    git(checkout, "rm", "-r", "--quiet", "policies")
    git(checkout, "update-index", "--add", "--cacheinfo", f"160000,{place.scratch.tip},policies")
    git(checkout, "commit", "--quiet", "-m", "Submodule")
    git(checkout, "push", "--quiet", "origin", "main")
    with books(place) as found, pytest.raises(InvalidInput, match="submodule"):
        found.policies()


def test_links_inside_runs_are_never_followed(place: Place) -> None:
    checkout = on_main(place)
    (checkout / "runs/gpu/real").mkdir(parents=True)
    (checkout / "runs/gpu/real/run.yaml").write_text("x: 1\n")
    (checkout / "runs/gpu/link").symlink_to("real")
    (checkout / "runs/other").symlink_to("gpu")
    place.commit_checkout()
    with books(place) as found:
        assert found.approved() == (RunPath("gpu", "real"),)


def test_a_result_that_is_a_link_still_ends_the_run(place: Place) -> None:
    checkout = on_main(place)
    (checkout / "runs/gpu/real").mkdir(parents=True)
    (checkout / "runs/gpu/real/run.yaml").write_text("x: 1\n")
    (checkout / "runs/gpu/real/result.yaml").symlink_to("run.yaml")
    place.commit_checkout()
    with books(place) as found:
        assert found.approved() == ()
        assert found.finished(RunPath("gpu", "real"))


# ---- contents ----
def test_a_huge_policy_is_one_message_and_quick(place: Place) -> None:
    place.write("policies/big.yaml", policy_text("big") + "# " + "x" * LIMIT_BYTES + "\n")
    started = time.monotonic()
    with books(place) as found:
        big, gpu = found.policies()
    assert isinstance(big.content, InvalidInput)
    assert str(LIMIT_BYTES) in big.content.message
    assert not isinstance(gpu.content, InvalidInput)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "bomb",
    [
        "a: &a [x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)},*{chr(97 + i)}]\n" for i in range(24)),
        "[" * 100_000,
        "a: " + "{" * 50_000,
    ],
    ids=["aliases", "brackets", "braces"],
)
def test_a_bomb_is_one_message_and_quick(place: Place, bomb: str) -> None:
    place.write("policies/bomb.yaml", bomb)
    started = time.monotonic()
    with books(place) as found:
        (bad,) = (f for f in found.policies() if f.name == "bomb")
    assert isinstance(bad.content, InvalidInput)
    assert time.monotonic() - started < 5


def test_names_of_files_that_nobody_should_write(place: Place) -> None:
    checkout = on_main(place)
    for name in ("a\nb.yaml", "ünïcode.yaml", "-rf.yaml", " .yaml", "A.yaml", ".yaml", ".hidden.yaml"):
        (checkout / "policies" / name).write_text(policy_text("x"))
    place.commit_checkout()
    with books(place) as found:
        assert {f.name for f in found.policies() if not isinstance(f.content, InvalidInput)} == {"gpu"}


def test_every_problem_of_a_policy_has_its_place(place: Place) -> None:
    place.write("policies/gpu.yaml", policy_text("gpu", more="  nonsense: 1\n  suspend: 3\n"))
    with books(place) as found:
        (file,) = found.policies()
    assert isinstance(file.content, InvalidInput)
    assert "policies/gpu.yaml:12:3: spec.nonsense" in file.content.message
    assert "policies/gpu.yaml:13:12: spec.suspend" in file.content.message


# ---- one policy ----
def test_a_policy_that_is_not_there(place: Place) -> None:
    with books(place) as found, pytest.raises(Refused, match="policy nope is not on the base branch"):
        found.policy("nope")


def test_guardrails_are_no_policy(place: Place) -> None:
    place.write("policies/guardrails.yaml", "a: [")
    with books(place) as found, pytest.raises(Refused):
        found.policy("guardrails")


def test_a_policy_with_the_other_ending(place: Place) -> None:
    place.write("policies/other.yml", policy_text("other"))
    with books(place) as found:
        assert found.policy("other").metadata.name == "other"


def test_guardrails_of_the_other_ending_stop_an_execution(place: Place) -> None:
    place.write("policies/guardrails.yml", "x: 1\n")
    with books(place) as found, pytest.raises(InvalidInput, match=r"guardrails\.yml"):
        found.guardrails()


# ---- runs ----
def test_what_is_a_run_and_what_is_not(place: Place) -> None:
    place.write_all(
        {
            "runs/README.md": "",
            "runs/gpu/README.md": "",
            "runs/gpu/a/run.yaml": "",
            "runs/gpu/a/notes/run.yaml": "",
            "runs/gpu/b/result.yaml": "",
            "runs/gpu/c/run.yaml": "",
            "runs/gpu/c/result.yaml": "",
            "runs/gpu-2/a/run.yaml": "",
            "runs/gpu/Big/run.yaml": "",
            "other/runs/gpu/a/run.yaml": "",
        }
    )
    with books(place) as found:
        assert found.approved() == (RunPath("gpu", "a"), RunPath("gpu-2", "a"))
        assert found.approved("gpu") == (RunPath("gpu", "a"),)
        assert found.misplaced() == ("runs/gpu/Big/run.yaml",)


def test_ten_thousand_runs_are_listed_in_a_moment(place: Place) -> None:
    blob = git(place.scratch.bare, "hash-object", "-w", "--stdin", stdin=b"x: 1\n")
    lines = (f"100644 {blob}\truns/gpu/gpu-{i:05}/{n}.yaml\n" for i in range(10_000) for n in ("run", "plan", "result"))
    last = f"100644 {blob}\truns/gpu/last/run.yaml\n"
    on_main(place)
    git(place.scratch.checkout, "fetch", "--quiet", "origin")
    git(place.scratch.checkout, "update-index", "--add", "--index-info", stdin=("".join(lines) + last).encode())
    git(place.scratch.checkout, "hash-object", "-w", "--stdin", stdin=b"x: 1\n")
    git(place.scratch.checkout, "commit", "--quiet", "-m", "Ten years")
    git(place.scratch.checkout, "push", "--quiet", "origin", "main")
    with books(place) as found:
        started = time.process_time()
        assert found.approved() == (RunPath("gpu", "last"),)
        assert found.approved("gpu") == (RunPath("gpu", "last"),)
        assert found.finished(RunPath("gpu", "gpu-00001"))
        assert time.process_time() - started < 2


@pytest.mark.parametrize("path", ["runs/a/b", "runs/a/b/run.yaml", "runs/a.b/c-d/x/y"])
def test_paths_of_runs(path: str) -> None:
    found = RunPath.parse(path)
    assert found is not None
    assert path.startswith(found.directory)


@pytest.mark.parametrize(
    "path", ["", "runs", "runs/a", "runs/a/B", "runs//b", "x/runs/a/b", "runs/a/b c", "runs/../b", "runs/a/.b"]
)
def test_paths_that_are_no_runs(path: str) -> None:
    assert RunPath.parse(path) is None


@pytest.mark.parametrize("branch", ["repack/gpu/a", "repack/g.p-u/a.b"])
def test_branches_of_runs(branch: str) -> None:
    found = RunPath.of_branch(branch)
    assert found is not None
    assert found.branch == branch


@pytest.mark.parametrize(
    "branch", ["repack/gpu", "repack/gpu/a/b", "gpu/a", "repack/repack/gpu/a", "repack/gpu/A", "repack//a", ""]
)
def test_branches_of_nobody(branch: str) -> None:
    assert RunPath.of_branch(branch) is None
