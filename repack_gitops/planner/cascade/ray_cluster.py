"""RayCluster (ray.io, KubeRay): a head, and workers in groups.

Sources: ``ray-operator`` of KubeRay 1.4 to 1.5. Not tried on its controller.

* A worker is created again. In a group whose replicas have several hosts the whole replica is; before KubeRay 1.5 pods do
  not tell their replica, then the whole group stands for it.
* The head holds the cluster's state: actors, placement groups and running jobs go with it. It is not evicted.
"""

from __future__ import annotations

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.owners import RayCluster
from repack_gitops.model.plan import Code
from repack_gitops.planner.cascade.forecast import Forecast, Unit, idle, only, refused, title
from repack_gitops.planner.cascade.members import Members

TYPE, CLUSTER, GROUP, REPLICA = (f"ray.io/{n}" for n in ("node-type", "cluster", "group", "worker-group-replica-name"))


def forecast(pod: Pod, owner: Owner, found: RayCluster, members: Members) -> Forecast:
    """Return what evicting ``pod``, of ``found``, does."""
    if found.idle:
        return idle(pod, owner, found.idle)
    if pod.labels.get(TYPE) != "worker":
        role = pod.labels.get(TYPE) or "a pod without label ray.io/node-type"
        return refused(pod, owner, Code.FATAL_POLICY, f"{title(pod, owner)} would lose its state with {pod.name} ({role})")
    hosts = found.hosts.get(pod.labels.get(GROUP, ""), 1)
    if hosts <= 1:
        return only(pod, owner)
    replica = members.labelled_as(pod, CLUSTER, REPLICA) or members.labelled_as(pod, CLUSTER, GROUP) or frozenset()
    return Forecast(owner, Unit.GROUP, replica | {pod.key}, why=f"its replica has {hosts} hosts")
