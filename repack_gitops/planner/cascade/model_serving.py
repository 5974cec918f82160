"""ModelServing (workload.serving.volcano.sh, Kthena): ServingGroups of roles.

Sources: the v1alpha1 types and ``pkg/model-serving-controller`` of Kthena. Not tried on its controller.

* RoleRecreate, the default: all pods of the role's replica are created again. ServingGroupRecreate: all pods of the
  group, with its PodGroup. The controller deletes them, so no PodDisruptionBudget is asked for them.
* None should create the pod alone, but releases up to Kthena's issue 1661 leave the replica missing for good, and a
  snapshot does not tell the release: such pods are not evicted.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.owners import ModelServing
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Unit, idle, refused, title
from repack_gitops.planner.cascade.members import Members

GROUP, ROLE, REPLICA = (f"modelserving.volcano.sh/{n}" for n in ("group-name", "role", "role-id"))


def forecast(pod: Pod, owner: Owner, found: ModelServing, members: Members) -> Forecast:
    """Return what evicting ``pod``, of ``found``, does; without labels the whole ModelServing stands for a part of it."""
    if found.idle:
        return idle(pod, owner, found.idle)
    policy, everything = found.recovery_policy, members.owned_with(pod) | {pod.key}
    match policy:
        case "RoleRecreate":
            role = members.labelled_as(pod, GROUP, ROLE, REPLICA)
            return Forecast(owner, Unit.ROLE, everything if role is None else role | {pod.key}, why=f"recoveryPolicy {policy}")
        case "ServingGroupRecreate":
            group = members.labelled_as(pod, GROUP)
            return Forecast(
                owner, Unit.GROUP, everything if group is None else group | {pod.key}, why=f"recoveryPolicy {policy}"
            )
        case "None":
            why = f"{title(pod, owner)} has recoveryPolicy None, with which releases of Kthena leave an evicted pod missing"
            return refused(pod, owner, Code.FATAL_POLICY, why)
    return refused(pod, owner, Code.UNKNOWN_POLICY, f"nobody knows what {title(pod, owner)} does: recoveryPolicy {policy}")
