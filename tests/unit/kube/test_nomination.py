"""Nominations: one guarded patch, and refusals as values."""

from __future__ import annotations

from typing import Any

import pytest

from repack_gitops.errors import Forbidden
from repack_gitops.kube.client import LiveCluster
from repack_gitops.kube.interface import Nominated, NotNominated
from tests.unit.kube.fake_api import FakeApi, Reply, refusal

PENDING = {"metadata": {"name": "w"}, "spec": {"containers": []}}
BOUND = {"metadata": {"name": "w"}, "spec": {"nodeName": "n1", "containers": []}}


def test_one_patch_with_the_uid_as_its_precondition(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, PENDING))
    assert cluster.nominate("team", "w", "uid-1", "n2") == Nominated()
    (seen,) = fake.seen
    assert (seen.method, seen.path) == ("PATCH", "/api/v1/namespaces/team/pods/w/status")
    assert seen.headers["content-type"] == "application/merge-patch+json"
    assert seen.body == {"metadata": {"uid": "uid-1"}, "status": {"nominatedNodeName": "n2"}}


def test_none_clears(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(Reply(200, BOUND))
    assert cluster.nominate("team", "w", "uid-1", None) == Nominated()
    assert fake.seen[0].body["status"] == {"nominatedNodeName": None}


def test_a_bound_pod_takes_no_nomination_even_where_the_server_accepts_it(cluster: LiveCluster, fake: FakeApi) -> None:
    """Before 1.35 it does."""
    fake.answer(Reply(200, BOUND))
    assert cluster.nominate("team", "w", "uid-1", "n2") == NotNominated("the pod is bound to n1 already")


REFUSALS: dict[str, tuple[Reply, bool]] = {
    "bound, from 1.35": (refusal(422, "may not be set on pods that are already bound to a node"), False),
    "another pod of that name": (refusal(422, "metadata.uid: Invalid value: field is immutable"), False),
    "another pod of that name, as a precondition": (refusal(409, "Precondition failed: UID in precondition: a"), False),
    "a conflict": (refusal(409, "the object has been modified"), True),
    "gone": (refusal(404, "not found"), False),
    "not allowed": (refusal(403, "forbidden"), False),
    "overloaded": (Reply(429, b"Too many requests"), True),
    "a webhook is down": (refusal(500, "failed calling webhook"), True),
    "unreadable": (Reply(200, b"<html>"), True),
    "broken": (Reply(200, PENDING, end="broken"), True),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_a_value_and_not_repeated(cluster: LiveCluster, fake: FakeApi, case: str) -> None:
    reply, transient = REFUSALS[case]
    fake.answer(reply)
    answer: Any = cluster.nominate("team", "w", "uid-1", "n2")
    assert isinstance(answer, NotNominated)
    assert answer.transient is transient
    assert len(fake.seen) == 1


def test_refused_credentials_are_an_error(cluster: LiveCluster, fake: FakeApi) -> None:
    fake.answer(refusal(401))
    with pytest.raises(Forbidden):
        cluster.nominate("team", "w", "uid-1", "n2")
