"""Names and paths: bounded, distinct, and nothing hostile gets through."""

from __future__ import annotations

import re

import pytest

from repack_gitops.policy.names import RunPath, branch_prefix, job_name, run_name

LABEL = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize("length", [1, 10, 46, 47, 48, 54, 62, 63, 64, 100, 253])
def test_names_are_bounded_and_valid(length: int) -> None:
    policy = "p" * length
    run = run_name(policy, "20261129-020000")
    job = job_name(run, DIGEST)
    for name in (run, job):
        assert len(name) <= 63
        assert LABEL.fullmatch(name)


def test_short_names_are_readable() -> None:
    assert run_name("nightly", "20261129-020000") == "nightly-20261129-020000"
    assert job_name("nightly-20261129-020000", DIGEST) == "repack-nightly-20261129-020000-01234567"


def test_long_names_stay_distinct() -> None:
    names = {run_name("p" * 80 + end, stamp) for end in "abc" for stamp in ("20261129-020000", "20261129-020001")}
    assert len(names) == 6
    assert len({job_name("r" * 63, digest * 8) for digest in ("a" * 8, "b" * 8)}) == 2


@pytest.mark.parametrize("cut", range(50, 64))
def test_cut_names_do_not_end_in_punctuation(cut: int) -> None:
    policy = "p" * (cut - 1) + "-." * 10 + "q"
    assert LABEL.fullmatch(run_name(policy, "20261129-020000"))


def test_same_run_and_plan_give_the_same_job() -> None:
    assert job_name("r", DIGEST) == job_name("r", DIGEST) != job_name("r", DIGEST[1:])


def test_path_of_a_run() -> None:
    run = RunPath("nightly", "nightly-1")
    assert (run.directory, run.branch) == ("runs/nightly/nightly-1", "repack/nightly/nightly-1")
    assert run.file("run.yaml") == "runs/nightly/nightly-1/run.yaml"
    assert run.branch.startswith(branch_prefix("nightly"))
    assert RunPath.parse(run.directory) == RunPath.parse(run.directory + "/") == RunPath.parse(run.file("a/b.yaml")) == run


@pytest.mark.parametrize(
    "path",
    [
        "",
        "runs",
        "runs/",
        "runs/a",
        "runs/a/",
        "runs//b",
        "runs/a//x",
        "/runs/a/b",
        "./runs/a/b",
        "runs/../b/c",
        "runs/a/..",
        "runs/a/../b",
        "runs/a/b/..",
        "runs/a/b/../../../etc/passwd",
        "runs/a/b/./run.yaml",
        "runs/a/b//run.yaml",
        "runs/./b/run.yaml",
        "runs/.a/b",
        "runs/a/.b",
        "runs/-a/b",
        "runs/A/b",
        "runs/a/b c",
        "runs/a/b\n",
        "runs/a/b\n/run.yaml",
        "runs/a\x00/b",
        "runs/a/b\\..\\c",
        "runs/ä/b",
        "runs/a/b:main",
        "runs/a/b~1/run.yaml",
        "policies/a/b",
        "xruns/a/b",
        "runs/a/b/\x00",
    ],
)
def test_hostile_paths_belong_to_no_run(path: str) -> None:
    assert RunPath.parse(path) is None


@pytest.mark.parametrize("name", ["a..b", "a.", "a-", "a.lock", "a.-b", "a-.b"])
def test_names_that_git_or_kubernetes_refuse_belong_to_no_run(name: str) -> None:
    """``repack/a..b`` is a range to git, ``a.lock`` is no branch, and a RepackRun cannot be called ``a-``."""
    assert RunPath.parse(f"runs/p/{name}") is None
    assert RunPath.parse(f"runs/{name}/r") is None


def test_branch_of_a_run() -> None:
    run = RunPath("nightly", "nightly-1")
    assert RunPath.of_branch(run.branch) == run
    for other in ("main", "repack/nightly", "repack/nightly/nightly-1/more", "nightly/nightly-1", "repack/nightly/a..b"):
        assert RunPath.of_branch(other) is None


def test_runs_sort_by_policy_then_name() -> None:
    runs = [RunPath("b", "a"), RunPath("a", "c"), RunPath("a", "b")]
    assert sorted(runs) == [RunPath("a", "b"), RunPath("a", "c"), RunPath("b", "a")]
