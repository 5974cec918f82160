"""LeaderWorkerSet (leaderworkerset.x-k8s.io): groups of a leader and its workers.

Sources: ``pkg/controllers/pod_controller.go`` and the v1 types of LeaderWorkerSet 0.6 to 0.8. Not tried on its controller.

* Its pods belong to StatefulSets; labels tell the set and the group.
* RecreateGroupOnPodRestart, the default: a pod that goes takes its leader with it, and so the group. Nothing is counted.
* None: a worker is created again by its StatefulSet. That one belongs to the leader, so a leader takes its group with it.
* Any other policy is taken to create the group again.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.owners import LeaderWorkerSet
from repack_gitops.planner.cascade.forecast import Forecast, Unit, idle, only
from repack_gitops.planner.cascade.members import Members

NAME, GROUP, WORKER = (f"leaderworkerset.sigs.k8s.io/{n}" for n in ("name", "group-index", "worker-index"))


def forecast(pod: Pod, owner: Owner, found: LeaderWorkerSet, members: Members) -> Forecast:
    """Return what evicting ``pod``, of a group of ``found``, does."""
    if found.idle:
        return idle(pod, owner, found.idle)
    if found.restart_policy == "None" and pod.labels.get(WORKER, "0") != "0":
        return only(pod, owner)
    group = members.labelled_as(pod, NAME, GROUP) or members.labelled_as(pod, NAME) or frozenset()
    role = "the leader goes with its group" if found.restart_policy == "None" else f"restartPolicy {found.restart_policy}"
    return Forecast(owner, Unit.GROUP, group | {pod.key}, why=role)
