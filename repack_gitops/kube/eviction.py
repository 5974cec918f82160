"""The Eviction API: one POST, and what each of its answers means.

Source: Kubernetes ``pkg/registry/core/pod/storage/eviction.go``. Two things there surprise: budgets are looked at before
the UID, so a budget may refuse for another pod of the same name; and a refused UID may already have used up a budget.
"""

from __future__ import annotations

from typing import Any

from repack_gitops.kube.answers import Answer, NoAnswer, Status, failure, read_status, retry_after
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.interface import (
    BudgetRefused,
    Evicted,
    EvictionAnswer,
    PermanentRefusal,
    PodGone,
    Throttled,
    TransientRefusal,
)
from repack_gitops.kube.resources import PODS


def evict(
    api: ApiServer, namespace: str, name: str, uid: str, *, grace_period_seconds: int | None, dry_run: bool
) -> EvictionAnswer:
    """Ask for the eviction of the pod with ``uid``, once.

    Raises
    ------
    Forbidden
        The credentials themselves are refused (401).
    """
    options: dict[str, Any] = {"preconditions": {"uid": uid}}
    if grace_period_seconds is not None:
        options["gracePeriodSeconds"] = grace_period_seconds
    if dry_run:
        options["dryRun"] = ["All"]
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": namespace, "name": name},
        "deleteOptions": options,
    }
    # The query repeats dryRun: an API server or proxy that overlooks the body must still not evict.
    query = {"dryRun": "All"} if dry_run else {}
    path = PODS.path(namespace, name, "eviction")
    return _ask(api, Request(f"evict pods {namespace}/{name}", "POST", path, query, body))


def _ask(api: ApiServer, request: Request) -> EvictionAnswer:
    try:
        answer = api.send(request)
    except NoAnswer as error:
        return TransientRefusal(error.message)
    if answer.code == 401:
        raise failure(answer, request.what)
    return classify(answer)


def classify(answer: Answer) -> EvictionAnswer:
    """Return what ``answer`` to an eviction means."""
    if answer.code in (200, 201, 202):
        return Evicted()
    status = read_status(answer)
    text = f"{status.text} (HTTP {answer.code})"
    if _by_webhook(status):
        return TransientRefusal(text)
    return _too_many(answer, status) if answer.code == 429 else _meaning(answer.code, status)(text)


def _meaning(code: int, status: Status) -> type[PodGone | PermanentRefusal | TransientRefusal]:
    match code:
        case 404 if status.kind == "Status":
            return PodGone
        case 404:
            return TransientRefusal  # it is not the API server that misses the pod, but somebody before it the path
        case 409:
            return PodGone if "UID in " in status.message else TransientRefusal
        case 403:
            return TransientRefusal if _passing_403(status) else PermanentRefusal
        case 500 if "more than one PodDisruptionBudget" in status.message:
            return PermanentRefusal
        case _:
            return TransientRefusal if code >= 500 or code == 408 else PermanentRefusal


def _too_many(answer: Answer, status: Status) -> EvictionAnswer:
    """Tell a budget from API priority and fairness, which answers in plain text."""
    wait = retry_after(answer, status)
    if any(cause.reason == "DisruptionBudget" for cause in status.causes):
        return BudgetRefused(status.text, wait)
    return Throttled(status.text, wait)


def _by_webhook(status: Status) -> bool:
    """A webhook chooses its status code itself; what it denies now it may allow later."""
    return "admission webhook" in status.message or "failed calling webhook" in status.message


def _passing_403(status: Status) -> bool:
    """Not a missing permission: a budget's own state, or a namespace whose pods go anyway."""
    of_budget = status.details is not None and status.details.kind.lower().startswith("poddisruptionbudget")
    return of_budget or any(cause.reason == "NamespaceTerminating" for cause in status.causes)
