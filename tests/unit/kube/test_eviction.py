"""What each answer of the Eviction API means (spec 4.3); rows are those of the list of known faults."""

from __future__ import annotations

import socket

import pytest
import urllib3

from repack_gitops.errors import Forbidden
from repack_gitops.kube.api_server import ApiServer
from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import (
    BudgetRefused,
    Evicted,
    EvictionAnswer,
    PermanentRefusal,
    PodGone,
    Throttled,
    TransientRefusal,
)
from tests.unit.kube.fake_api import QUICK, FakeApi, Nobody, Reply, refusal

BUDGET = {"reason": "DisruptionBudget", "message": "The disruption budget web needs 3 healthy pods and has 3 currently"}
UNSEEN = {"reason": "DisruptionBudget", "message": "The disruption budget web is still being processed by the server."}
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
UID = 'Operation cannot be fulfilled on Pod "w": the UID in the precondition (a) does not match the UID in record (b).'
DELETED_UID = "Precondition failed: UID in precondition: a, UID in object meta: b"
NOT_RBAC = 'poddisruptionbudgets.policy "web" is forbidden: pdb disruptions allowed is negative'
TOO_MANY = 'poddisruptionbudgets.policy "web" is forbidden: DisruptedPods map too big'
ENDING = {"reason": "NamespaceTerminating", "message": "namespace team is being terminated", "field": "metadata.namespace"}

ANSWERS: dict[str, tuple[Reply, EvictionAnswer]] = {
    "accepted": (Reply(201, {"kind": "Status", "status": "Success", "code": 201}), Evicted()),
    "accepted, an older server": (Reply(200, {"kind": "Status", "status": "Success"}), Evicted()),
    "a budget; row 13: without Retry-After": (
        refusal(429, VIOLATES, "TooManyRequests", causes=[BUDGET]),
        BudgetRefused(f"{VIOLATES[:-1]}: {BUDGET['message']}", 0),
    ),
    "a budget that its controller has not seen yet": (
        refusal(429, VIOLATES, "TooManyRequests", causes=[UNSEEN], retryAfterSeconds=10),
        BudgetRefused(f"{VIOLATES[:-1]}: {UNSEEN['message']}", 10),
    ),
    "a budget, Retry-After in the header": (
        Reply(429, refusal(429, "full", causes=[BUDGET]).body, {"Retry-After": "7"}),
        BudgetRefused(f"full: {BUDGET['message']}", 7),
    ),
    "row 47: priority and fairness, in plain text": (
        Reply(429, b"Too many requests, please try again later.\n", {"Retry-After": "1"}),
        Throttled("Too many requests, please try again later.", 1),
    ),
    "row 47: 429 as a Status without that cause": (refusal(429, "slow down", retryAfterSeconds=3), Throttled("slow down", 3)),
    "Retry-After as a date is not understood": (
        Reply(429, b"no", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        Throttled("no", 0),
    ),
    "gone": (refusal(404, 'pods "w" not found', "NotFound"), PodGone('pods "w" not found (HTTP 404)')),
    "404 of a proxy is not the pod's": (Reply(404, b"404 page not found"), TransientRefusal("404 page not found (HTTP 404)")),
    "row 29: another UID": (refusal(409, UID, "Conflict"), PodGone(f"{UID} (HTTP 409)")),
    "row 29: another UID, noticed by the deletion": (refusal(409, DELETED_UID), PodGone(f"{DELETED_UID} (HTTP 409)")),
    "too many conflicts": (
        refusal(409, "the object has been modified"),
        TransientRefusal("the object has been modified (HTTP 409)"),
    ),
    "rows 1 and 2: two budgets": (
        refusal(500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."),
        PermanentRefusal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support. (HTTP 500)"
        ),
    ),
    "row 23: another 500": (refusal(500, "etcd leader changed"), TransientRefusal("etcd leader changed (HTTP 500)")),
    "row 23: a webhook does not answer": (
        refusal(500, 'Internal error occurred: failed calling webhook "x": EOF'),
        TransientRefusal('Internal error occurred: failed calling webhook "x": EOF (HTTP 500)'),
    ),
    "503 in HTML": (Reply(503, b"<html>\n<b>busy</b></html>"), TransientRefusal("<html> <b>busy</b></html> (HTTP 503)")),
    "row 5: the budget's status keeps conflicting": (
        refusal(504, "couldn't update PodDisruptionBudget", "Timeout", retryAfterSeconds=10),
        TransientRefusal("couldn't update PodDisruptionBudget (HTTP 504)"),
    ),
    "row 22: a webhook denies with 403": (
        refusal(403, 'admission webhook "drain" denied the request: later', "Forbidden"),
        TransientRefusal('admission webhook "drain" denied the request: later (HTTP 403)'),
    ),
    "row 22: a webhook denies with 400": (
        refusal(400, 'admission webhook "drain" denied the request: later'),
        TransientRefusal('admission webhook "drain" denied the request: later (HTTP 400)'),
    ),
    "row 4: a negative budget is no missing permission": (
        refusal(403, NOT_RBAC, "Forbidden", name="web", group="policy", kind="poddisruptionbudget"),
        TransientRefusal(f"{NOT_RBAC} (HTTP 403)"),
    ),
    "row 4: too many disrupted pods": (
        refusal(403, TOO_MANY, "Forbidden", name="web", group="policy", kind="poddisruptionbudget"),
        TransientRefusal(f"{TOO_MANY} (HTTP 403)"),
    ),
    "row 26: no permission": (
        refusal(403, 'pods "w" is forbidden: User "x" cannot create resource "pods/eviction"', "Forbidden", kind="pods"),
        PermanentRefusal('pods "w" is forbidden: User "x" cannot create resource "pods/eviction" (HTTP 403)'),
    ),
    "row 28: the namespace is going": (
        refusal(403, "forbidden", "Forbidden", kind="pods", causes=[ENDING]),
        TransientRefusal("forbidden: namespace team is being terminated (HTTP 403)"),
    ),
    "invalid": (refusal(422, "invalid"), PermanentRefusal("invalid (HTTP 422)")),
    "contradictory": (refusal(400, "name mismatch"), PermanentRefusal("name mismatch (HTTP 400)")),
    "a redirect to a login page": (Reply(302, b"", {"Location": "/login"}), PermanentRefusal("(no message) (HTTP 302)")),
    "JSON that is no Status": (Reply(500, {"error": "x"}), TransientRefusal("(no message) (HTTP 500)")),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_each_answer_has_its_meaning(cluster: LiveCluster, fake: FakeApi, case: str) -> None:
    reply, meaning = ANSWERS[case]
    fake.answer(reply)
    assert cluster.evict("team", "w", "a", grace_period_seconds=None, dry_run=False) == meaning
    assert (len(fake.seen), fake.slept) == (1, [])


def test_the_request_names_the_uid(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(201, {"kind": "Status"}))
    cluster.evict("team", "w", "a", grace_period_seconds=0, dry_run=True)
    (seen,) = fake.seen
    assert (seen.method, seen.path, seen.query) == ("POST", "/api/v1/namespaces/team/pods/w/eviction", {"dryRun": "All"})
    assert seen.headers["content-type"] == "application/json"
    assert seen.body == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": "team", "name": "w"},
        "deleteOptions": {"preconditions": {"uid": "a"}, "gracePeriodSeconds": 0, "dryRun": ["All"]},
    }


def test_a_pods_own_grace_period_is_not_mentioned(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(201, {"kind": "Status"}))
    cluster.evict("team", "w", "a", grace_period_seconds=None, dry_run=False)
    assert fake.seen[0].query == {}
    assert fake.seen[0].body["deleteOptions"] == {"preconditions": {"uid": "a"}}


@pytest.mark.parametrize("end", ["broken", "silent"])
def test_a_lost_answer_is_transient_and_not_repeated(cluster: LiveCluster, fake: FakeApi, end: str) -> None:
    fake.answer(Reply(201, {"kind": "Status"}, end=end))  # type: ignore[arg-type]
    answer = cluster.evict("team", "w", "a", grace_period_seconds=None, dry_run=False)
    assert isinstance(answer, TransientRefusal)
    assert "cannot evict pods team/w: no answer from the API server http://127.0.0.1" in answer.message
    assert len(fake.seen) == 1


def test_a_server_that_is_not_there_is_transient() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cluster = LiveCluster(ApiServer(urllib3.PoolManager(), f"http://127.0.0.1:{port}", Nobody(), timeouts=QUICK))
    answer = cluster.evict("team", "w", "a", grace_period_seconds=None, dry_run=False)
    assert isinstance(answer, TransientRefusal)
    assert "refused" in answer.message
    assert "0x" not in answer.message


def test_refused_credentials_are_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(401, "Unauthorized"))
    with pytest.raises(Forbidden, match="does not accept the credentials"):
        cluster.evict("team", "w", "a", grace_period_seconds=None, dry_run=False)
