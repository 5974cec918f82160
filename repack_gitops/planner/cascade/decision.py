"""May this pod be evicted, for all that is forecast?"""

from __future__ import annotations

from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Code, Reason
from repack_gitops.planner.cascade.forecast import Forecast, Retries


def why_not_evict(found: Forecast, namespace: str, options: PlannerOptions) -> Reason | None:
    """Return why the pod behind ``found`` may not be evicted at all, or None."""
    if found.refusal is not None:
        return found.refusal
    if found.retries is not None and found.retries.cost > found.retries.left:
        return _last_retry(found.retries)
    if found.cascades and not options.allow_cascades:
        name = f"{found.owner.qualified_kind} {namespace}/{found.owner.name}"
        return Reason(Code.CASCADING_POLICY, f"{name} would restart {len(found.restarts)} pods: {found.why}")
    return None


def _last_retry(retries: Retries) -> Reason:
    kind, namespace, name = retries.counter
    if retries.left <= 0:
        return Reason(Code.LAST_RETRY, f"{kind} {namespace}/{name} has no retry left: it would not survive an eviction")
    detail = f"{kind} {namespace}/{name} survives {retries.left} more eviction(s), and this pod's counts {retries.cost}"
    return Reason(Code.LAST_RETRY, detail)
