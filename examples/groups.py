"""PodGroups, VCJobs, ModelServings and PodDisruptionBudgets as the API server shows them."""

from __future__ import annotations

from collections.abc import Sequence

from examples.fleet import DEPLOYMENT, JOB, MODEL_SERVING, STATEFUL_SET, Object, Replica, Workload
from examples.identity import metadata, owner, stamp, uid
from examples.pods import controller, group_name, pod_labels

#: Labels that tell pods of one controller apart, or that belong to it; Volcano does not copy them to a PodGroup.
_UNSTABLE = (
    "pod-template-hash",
    "controller-revision-hash",
    "apps.kubernetes.io/pod-index",
    "statefulset.kubernetes.io/pod-name",
)


def pod_group_object(members: Sequence[Replica], resource: str) -> Object:
    """Return the PodGroup of ``members``, all of one group."""
    first = members[0]
    workload, minimum = first.workload, first.workload.minimum
    name = group_name(first) or ""
    waiting = all(m.node is None for m in members)
    template = first.task.template
    amounts = {"cpu": template.cpu * minimum, "pods": minimum, resource: template.cards * minimum}
    resources = {k: str(v) for k, v in amounts.items()} | {"memory": f"{template.memory * minimum}Gi"}
    spec: Object = {"minMember": minimum, "minResources": resources, "queue": "default"}
    if workload.kind == JOB:
        spec["minTaskMember"] = {t.name: t.replicas if minimum == _members(workload) else 0 for t in workload.tasks}
    labels = _group_labels(first)
    made = metadata(
        "PodGroup", name, workload.start, workload.namespace, labels=labels, ownerReferences=owner(*controller(workload))
    )
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {**made, "generation": 2},
        "spec": spec,
        "status": _group_status(members, waiting, name),
    }


def _members(workload: Workload) -> int:
    return sum(t.replicas for t in workload.tasks)


def _group_labels(first: Replica) -> dict[str, str]:
    """A VCJob's and a ModelServing's own labels; of other workloads the pods' stable ones."""
    workload = first.workload
    if workload.kind in (DEPLOYMENT, STATEFUL_SET):
        return {k: v for k, v in pod_labels(first).items() if k not in _UNSTABLE}
    if workload.kind == MODEL_SERVING:
        named = {"modelserving.volcano.sh/name": workload.name, "modelserving.volcano.sh/group-name": group_name(first) or ""}
        return {**workload.labels, **named}
    return {**workload.labels, "volcano.sh/job-name": workload.name, "volcano.sh/job-namespace": workload.namespace}


def _group_status(members: Sequence[Replica], waiting: bool, name: str) -> Object:
    since = max(m.since for m in members)
    if waiting:
        message = f"{len(members)}/{len(members)} tasks in gang unschedulable: pod group is not ready, {len(members)} Pending"
        condition = {"message": message, "reason": "NotEnoughResources", "status": "True", "type": "Unschedulable"}
        phase: Object = {"phase": "Inqueue"}
    else:
        condition = {"reason": "tasks in gang are ready to be scheduled", "status": "True", "type": "Scheduled"}
        running = sum(1 for m in members if not m.done)
        phase = {"phase": "Running", "running": running} if running else {"phase": "Completed", "succeeded": len(members)}
    transition = {"lastTransitionTime": stamp(since, 5), "transitionID": uid("transition", name)}
    return {"conditions": [{**condition, **transition}], **phase}


def job_object(workload: Workload, members: Sequence[Replica], resource: str) -> Object:
    """Return the VCJob ``workload`` with pods ``members``."""
    made = metadata("Job", workload.name, workload.start, workload.namespace, labels=dict(workload.labels))
    spec: Object = {
        "maxRetry": 3,
        "minAvailable": workload.minimum,
        "queue": "default",
        "schedulerName": workload.scheduler,
        "tasks": [_task(workload, index, resource) for index in range(len(workload.tasks))],
    }
    if workload.policies:
        spec["policies"] = [dict(p) for p in workload.policies]
    counts = {"succeeded": sum(m.done for m in members), "pending": sum(m.node is None for m in members)}
    counts["running"] = len(members) - counts["succeeded"] - counts["pending"]
    phase = "Completed" if counts["succeeded"] else "Running" if counts["running"] else "Pending"
    state = {"lastTransitionTime": stamp(1.5 if phase == "Completed" else workload.start, 40), "phase": phase}
    status = {"minAvailable": workload.minimum, **{k: v for k, v in counts.items() if v}, "state": state}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {**made, "generation": 1},
        "spec": spec,
        "status": status,
    }


def serving_object(workload: Workload, members: Sequence[Replica]) -> Object:
    """Return the ModelServing ``workload`` with pods ``members``; its roles have one pod each, as its controller makes them."""
    made = metadata("ModelServing", workload.name, workload.start, workload.namespace, labels=dict(workload.labels))
    groups = len({group_name(m) for m in members})
    roles: list[Object] = [
        {"entryTemplate": {"spec": {}}, "name": t.name, "replicas": 1, "workerReplicas": 0} for t in workload.tasks
    ]
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {**made, "generation": 1},
        "spec": {
            "recoveryPolicy": "RoleRecreate",
            "replicas": groups,
            "schedulerName": workload.scheduler,
            "template": {"restartGracePeriodSeconds": 0, "roles": roles},
        },
        "status": {"availableReplicas": groups, "observedGeneration": 1, "replicas": groups, "updatedReplicas": groups},
    }


def _task(workload: Workload, index: int, resource: str) -> Object:
    task = workload.tasks[index]
    template, devices = task.template, {resource: str(task.template.cards)}
    requests = {"cpu": str(template.cpu), "memory": f"{template.memory}Gi", **devices}
    container = {"image": template.image, "name": task.name, "resources": {"limits": devices, "requests": requests}}
    return {
        "maxRetry": 3,
        "minAvailable": task.replicas if workload.minimum == _members(workload) else 0,
        "name": task.name,
        "replicas": task.replicas,
        "template": {"metadata": {}, "spec": {"containers": [container], "restartPolicy": "OnFailure"}},
    }


def budget_object(workload: Workload, members: Sequence[Replica]) -> Object:
    """Return the PodDisruptionBudget that keeps ``keeps_available`` of a service's pods."""
    minimum, healthy = workload.keeps_available or 0, len(members)
    made = metadata("PodDisruptionBudget", workload.name, workload.start, workload.namespace)
    allowed = max(healthy - minimum, 0)
    condition: Object = {
        "lastTransitionTime": stamp(workload.start, 60),
        "message": "",
        "observedGeneration": 1,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "status": "True" if allowed else "False",
        "type": "DisruptionAllowed",
    }
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {**made, "generation": 1},
        "spec": {"minAvailable": minimum, "selector": {"matchLabels": {"app.kubernetes.io/name": workload.name}}},
        "status": {
            "conditions": [condition],
            "currentHealthy": healthy,
            "desiredHealthy": minimum,
            "disruptionsAllowed": allowed,
            "expectedPods": healthy,
            "observedGeneration": 1,
        },
    }
