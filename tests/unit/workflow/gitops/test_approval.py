"""What a merge approved: the files themselves, the ticket, and approving reviews (spec 3.4, 3.1)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from repack_gitops.policy.names import PLANNED_AT, POLICY
from tests.unit.workflow.gitops.place import Place, policy_text
from tests.unit.workflow.gitops.test_dispatch import RUN, actions, merged, run_dispatch

__all__ = ["merged"]

FOLDER = f"runs/gpu/{RUN}"


def edit(place: Place, file: str, change: Callable[[str], str]) -> None:
    """Push a changed file to main, past every review."""
    old = place.show("main", f"{FOLDER}/{file}") + "\n"
    assert change(old) != old
    place.write(f"{FOLDER}/{file}", change(old))


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


TAMPERED: dict[str, tuple[str, Callable[[str], str], str]] = {
    "another mode": ("run.yaml", replaced("mode: Execute", "mode: DryRun"), "spec.mode is DryRun"),
    "another name": ("run.yaml", replaced(f"name: {RUN}", "name: other"), "metadata.name is other"),
    "another policy's": ("run.yaml", replaced(f"{POLICY}: gpu", f"{POLICY}: other"), "the folder of gpu"),
    "no policy": ("run.yaml", lambda t: re.sub(rf" *{POLICY}: gpu\n", "", t), "the folder of gpu"),
    "a wider budget": (
        "run.yaml",
        replaced("spec:\n", "spec:\n  maxPerRun:\n    podGroups: 99\n"),
        "different specs",
    ),
    "another resource": ("run.yaml", replaced("nvidia.com/gpu", "huawei.com/ascend-1980"), "different specs"),
    "another digest": ("run.yaml", lambda t: re.sub(r"plan-digest: \S{4}", "plan-digest: 0000", t), "disagree"),
    "no digest": ("run.yaml", lambda t: re.sub(r" *\S*plan-digest: \S+\n", "", t), "disagree"),
    "a younger plan": (
        "plan.yaml",
        lambda t: re.sub(rf"{PLANNED_AT}: \S+", f'{PLANNED_AT}: "2030-01-01T00:00:00Z"', t),
        "disagree",
    ),
    "another target": ("plan.yaml", replaced("toNode: n0", "toNode: n9"), "its digest is"),
    "another freed node": ("plan.yaml", replaced("- n1", "- n0"), "its digest is"),
    "another pod": ("plan.yaml", replaced("name: n-p1", "name: n-p0"), "its digest is"),
    "more cards": ("plan.yaml", replaced("movedCardCount: 2", "movedCardCount: 64"), "add up to 2"),
    "more nodes": ("plan.yaml", replaced("freedNodeCount: 1", "freedNodeCount: 8"), "freedNodeCount is 8"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_files_changed_after_the_review_are_refused(merged: Place, what: str) -> None:
    file, change, message = TAMPERED[what]
    edit(merged, file, change)
    found = run_dispatch(merged)[RUN]
    assert found.action == "refused"
    assert message in found.message
    assert merged.cluster.jobs == {}


def test_both_files_with_a_forged_digest_are_refused(merged: Place) -> None:
    forged = lambda t: re.sub(r"plan-digest: \S+", "plan-digest: " + "ab" * 32, t)  # noqa: E731
    edit(merged, "run.yaml", forged)
    edit(merged, "plan.yaml", forged)
    assert "its digest is" in run_dispatch(merged)[RUN].message


def test_a_run_copied_to_a_second_name_is_refused(merged: Place) -> None:
    for file in ("run.yaml", "plan.yaml"):
        merged.write(f"runs/gpu/copy/{file}", merged.show("main", f"{FOLDER}/{file}"))
    found = run_dispatch(merged)
    assert (found["copy"].action, found[RUN].action) == ("refused", "created")


def test_what_reviewers_may_add(merged: Place) -> None:
    edit(merged, "run.yaml", replaced("annotations:\n", "annotations:\n    gitops.repack.volcano.sh/change-ticket: CHG1\n"))
    edit(merged, "run.yaml", lambda t: "# seen by ops\n" + t)
    assert actions(merged) == {RUN: "created"}


# ---- ticket ----
TICKET = "  changeTicket:\n    required: true\n    pattern: CHG[0-9]{7}\n"


@pytest.mark.parametrize(
    ("ticket", "action"),
    [("", "refused"), ("CHG0000001", "created"), ("CHG1", "refused"), ("xCHG0000001", "refused"), ("CHG0000001\\n", "refused")],
)
def test_a_required_ticket(merged: Place, ticket: str, action: str) -> None:
    merged.write("policies/gpu.yaml", policy_text("gpu", more=TICKET))
    if ticket:
        note = f'annotations:\n    gitops.repack.volcano.sh/change-ticket: "{ticket}"\n'
        edit(merged, "run.yaml", replaced("annotations:\n", note))
    found = run_dispatch(merged)[RUN]
    assert found.action == action
    if action == "refused":
        assert "ticket" in found.message


def test_the_guides_label_is_a_ticket_too(merged: Place) -> None:
    merged.write("policies/gpu.yaml", policy_text("gpu", more=TICKET))
    edit(merged, "run.yaml", replaced("  annotations:\n", "  labels:\n    change-ticket: CHG0000001\n  annotations:\n"))
    assert actions(merged) == {RUN: "created"}


# ---- approving reviews ----
APPROVALS = "  approval:\n    minApprovals: 1\n"


@pytest.fixture
def reviewed(place: Place) -> Place:
    place.write("policies/gpu.yaml", policy_text("gpu", more=APPROVALS))
    place.tick()
    return place


def dispatched(place: Place) -> str:
    place.merge_squashed(1)
    return run_dispatch(place)[RUN].action


def test_one_approval_is_enough(reviewed: Place) -> None:
    reviewed.forge.review(1, "ada")
    assert dispatched(reviewed) == "created"


def test_no_approval(reviewed: Place) -> None:
    reviewed.merge_squashed(1)
    found = run_dispatch(reviewed)[RUN]
    assert found.action == "refused"
    assert "0 of 1 approvals" in found.message


@pytest.mark.parametrize("state", ["changes-requested", "commented", "dismissed"])
def test_other_verdicts_are_no_approvals(reviewed: Place, state: str) -> None:
    reviewed.forge.review(1, "ada", state)  # type: ignore[arg-type]
    assert dispatched(reviewed) == "refused"


def test_the_authors_own_approval_does_not_count(reviewed: Place) -> None:
    reviewed.forge.review(1, "repack-bot")
    assert dispatched(reviewed) == "refused"


def test_a_bystanders_approval_does_not_count(reviewed: Place) -> None:
    reviewed.forge.review(1, "passer-by", counts=False)
    assert dispatched(reviewed) == "refused"


def test_an_approval_of_what_was_there_before_does_not_count(reviewed: Place) -> None:
    reviewed.forge.review(1, "ada")
    reviewed.push_to(reviewed.the_request().head, f"{FOLDER}/plan.md", "swapped after the approval\n")
    reviewed.merge_squashed(1)
    found = run_dispatch(reviewed)[RUN]
    assert found.action == "refused"
    assert "0 of 1 approvals" in found.message


def test_a_forge_that_does_not_say_what_was_approved_is_believed(reviewed: Place) -> None:
    reviewed.forge.review(1, "ada")
    store = reviewed.forge.store
    store.given[1] = [type(r)(r.user, r.state, "", r.submitted_at, r.counts) for r in store.given[1]]
    assert dispatched(reviewed) == "created"


def test_without_a_pull_request_nobody_approved(reviewed: Place) -> None:
    reviewed.merge_branch(reviewed.the_request().head)
    assert run_dispatch(reviewed)[RUN].action == "refused"


def test_a_merge_into_another_branch_approves_nothing(reviewed: Place) -> None:
    head = reviewed.the_request().head
    elsewhere = reviewed.forge.somebody_opens(head, "dev", author="mallory")
    reviewed.forge.review(elsewhere.number, "ada")
    reviewed.forge.somebody_merges(elsewhere.number, "0" * 40)
    reviewed.merge_branch(head)
    assert run_dispatch(reviewed)[RUN].action == "refused"


def test_two_approvals_by_one_person_are_one(reviewed: Place) -> None:
    reviewed.write("policies/gpu.yaml", policy_text("gpu", more=APPROVALS.replace("1", "2")))
    reviewed.tick()
    reviewed.forge.review(1, "ada")
    reviewed.forge.review(1, "ada")
    assert dispatched(reviewed) == "refused"


def test_two_approvals(reviewed: Place) -> None:
    reviewed.write("policies/gpu.yaml", policy_text("gpu", more=APPROVALS.replace("1", "2")))
    reviewed.tick()
    reviewed.forge.review(1, "ada")
    reviewed.forge.review(1, "bob")
    assert dispatched(reviewed) == "created"
