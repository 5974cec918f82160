"""What the Eviction API makes of one pod and one PodDisruptionBudget.

Sources: Kubernetes 1.36 ``pkg/registry/core/pod/storage/eviction.go`` and ``pkg/controller/disruption/disruption.go``.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Pod, PodDisruptionBudget

#: Phases in which no budget is asked.
_UNASKED_PHASES = frozenset({"Pending", "Succeeded", "Failed"})
#: What the controller says of an owner whose replicas it cannot read; it stays so for as long as the budget is as it is.
_NO_SCALE = "does not implement the scale subresource"
#: (API group, kind) of owners known to have no scale subresource, whatever a status says yet.
_WITHOUT_SCALE = frozenset({("batch.volcano.sh", "Job")})


def asks_budgets(pod: Pod) -> bool:
    """Tell whether an eviction of ``pod`` asks any budget: not if it waits to run, has ended, or is on its way out."""
    return not pod.terminating and pod.phase not in _UNASKED_PHASES


def counts_against(pod: Pod, budget: PodDisruptionBudget) -> bool:
    """Tell whether evicting ``pod``, which ``budget`` alone selects, needs one of its disruptions.

    A pod that is not Ready goes free of charge if the policy says AlwaysAllow, or if enough others are healthy. That is
    read from the status as it stands, even where the status is stale.
    """
    if not asks_budgets(pod):
        return False
    if pod.ready:
        return True
    enough = budget.current_healthy >= budget.desired_healthy > 0
    return budget.unhealthy_policy != "AlwaysAllow" and not enough


def allowed_now(budget: PodDisruptionBudget) -> int:
    """Return the evictions that the API server would grant now, one after another."""
    return max(budget.disruptions_allowed, 0) if budget.observed else 0


def why_never(budget: PodDisruptionBudget, pod: Pod, size: int) -> str:
    """Return why ``budget`` can never allow a disruption of ``pod``, or nothing if it may one day.

    Never means: not before somebody changes the budget or the number of replicas. No disruption left just now, a stale
    status and a failed sync that may pass are not never. Where the controller allows something now, it is right.

    Parameters
    ----------
    size
        How many pods the budget selects once all are there: its controller may not have seen them all yet.
    """
    if allowed_now(budget):
        return ""
    return _by_spec(budget) or _without_scale(budget, pod) or _by_size(budget, size)


def _by_spec(budget: PodDisruptionBudget) -> str:
    if budget.max_unavailable == 0 or _percent(budget.max_unavailable) == 0:
        return f"its maxUnavailable is {budget.max_unavailable}"
    least = _percent(budget.min_available)
    return f"its minAvailable is {budget.min_available}" if least is not None and least >= 100 else ""


def _without_scale(budget: PodDisruptionBudget, pod: Pod) -> str:
    """A percentage, and any maxUnavailable, is counted of the owner's replicas, which not every owner shows."""
    if _NO_SCALE in budget.sync_failure:
        return f"its controller cannot count its pods: {budget.sync_failure}"
    needs_scale = budget.max_unavailable is not None or _percent(budget.min_available) is not None
    if needs_scale and pod.owner is not None and (pod.owner.group, pod.owner.kind) in _WITHOUT_SCALE:
        field = "maxUnavailable" if budget.max_unavailable is not None else "a percentage"
        return f"{field} does not work for pods of a {pod.owner.qualified_kind}, which has no scale subresource"
    return ""


def _by_size(budget: PodDisruptionBudget, size: int) -> str:
    """More must be available than there are pods. A status that counts no pods, or is stale, proves nothing."""
    if budget.min_available is None or not budget.observed or budget.sync_failure or budget.expected_pods <= 0:
        return ""
    if isinstance(budget.min_available, int):
        # The controller counts the pods that exist: fewer than wanted while replacements are on their way.
        size, least = max(budget.expected_pods, size), budget.min_available
    else:
        size, least = budget.expected_pods, budget.desired_healthy
    return f"its minAvailable {budget.min_available} demands {least} of its {size} pods" if least >= size else ""


def _percent(value: int | str | None) -> int | None:
    """Return the number of a percentage, None for anything else."""
    text = value.removesuffix("%") if isinstance(value, str) and value.endswith("%") else ""
    return int(text) if text.isdecimal() else None
