"""Small clusters as Kubernetes objects, for tests of known faults: what kubectl prints, cut down to what matters.

Most tests use one stage: ``source`` with the pod ``subject`` of one card, and ``target`` with a pod that never moves. The
one possible plan moves ``subject`` to ``target``; a test shows that, adds the fault, and looks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from repack_gitops.model.cluster import ClusterSnapshot
from repack_gitops.model.decode import build_snapshot
from repack_gitops.model.kinds import KINDS
from repack_gitops.model.kubernetes import Wire, keep_annotations
from repack_gitops.model.options import PlannerOptions
from repack_gitops.model.plan import Evaluation
from repack_gitops.model.run import Goal, MaxPerRun, RunTemplateSpec
from repack_gitops.planner import evaluate
from repack_gitops.planner.verify import verify

GPU = "nvidia.com/gpu"
Object = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def owner(kind: str = "ReplicaSet", name: str = "web", api_version: str = "apps/v1") -> Object:
    """Return an ownerReference of a controller."""
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


VCJOB = "batch.volcano.sh/v1alpha1"


def node(name: str, cards: int | str = 8, *, labels: Mapping[str, str] | None = None, **fields: Any) -> Object:
    """Return a Ready node; ``fields`` are allocatable amounts, or spec fields and conditions under their own names."""
    spec = {key: fields.pop(key) for key in ("unschedulable", "taints") if key in fields}
    ready = fields.pop("ready", "True")
    plenty = {GPU: str(cards), "cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110"}
    amounts = {**plenty, **fields.pop("allocatable", {}), **fields}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec,
        "status": {
            "allocatable": {k: v for k, v in amounts.items() if v is not None},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def container(name: str = "main", **resources: Any) -> Object:
    """Return a container; ``resources`` are those of its ``resources``, such as ``requests`` and ``limits``."""
    return {"name": name, "image": "registry.example.com/app:1", "resources": resources}


def sidecar(name: str, **resources: Any) -> Object:
    """Return a restartable init container."""
    return {**container(name, **resources), "restartPolicy": "Always"}


def cards(count: int | str, **more: str) -> Object:
    """Return the ``resources`` of a container with ``count`` cards, as the API server stores them."""
    amounts = {GPU: str(count)} if count else {}
    return {"requests": {**amounts, "cpu": "1", **more}, "limits": amounts}


def pod(name: str, on: str | None, count: int | str = 1, **fields: Any) -> Object:
    """Return a Running and Ready pod of a ReplicaSet under Volcano, in a PodGroup of its own.

    ``fields`` are those of metadata (``labels``, ``annotations``, ``owner``, ``deletionTimestamp``), of status (``phase``,
    ``conditions``, ``status``), ``group`` for the PodGroup (None for none), and otherwise of the spec.
    """
    group, controller = fields.pop("group", f"pg-{name}"), fields.pop("owner", owner(name=f"rs-{name}"))
    annotations = {**({"scheduling.k8s.io/group-name": group} if group else {}), **fields.pop("annotations", {})}
    meta = {
        "name": name,
        "namespace": fields.pop("namespace", "team"),
        "uid": f"uid-{name}",
        "labels": {"app": name, **fields.pop("labels", {})},
        "annotations": annotations,
        "ownerReferences": [controller] if controller else [],
        **{key: fields.pop(key) for key in ("deletionTimestamp", "creationTimestamp") if key in fields},
    }
    phase = fields.pop("phase", "Running" if on else "Pending")
    ready = {"type": "Ready", "status": "True" if fields.pop("ready", phase == "Running") else "False"}
    status = {"phase": phase, "conditions": [ready], **fields.pop("status", {})}
    spec = {"schedulerName": "volcano", "containers": [container(**cards(count))], **({"nodeName": on} if on else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**spec, **fields}, "status": status}


def anchor(on: str = "target", count: int | str = 4, **fields: Any) -> Object:
    """Return a pod that holds cards and never moves: another scheduler placed it."""
    made = {"schedulerName": "default-scheduler", "group": None, "labels": {"app": "anchor"}, **fields}
    return pod(f"anchor-{on}", on, count, **made)


def stage(*subjects: Object, target: Object | None = None, resident: Object | None = None) -> list[Object]:
    """Return ``source`` with ``subjects`` and ``target`` with a pod that never moves."""
    return [node("source"), target or node("target"), resident or anchor(), *subjects]


def subject(count: int | str = 1, **fields: Any) -> Object:
    """Return the pod that a test is about, on ``source``."""
    return pod("subject", "source", count, **fields)


def pod_group(name: str, minimum: int | None = 1, namespace: str = "team", **more: Any) -> Object:
    """Return a PodGroup; ``minimum`` None leaves minMember out."""
    spec = {**({} if minimum is None else {"minMember": minimum}), **more}
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}


def budget(name: str, app: str | None, allowed: int, *, healthy: int = 2, desired: int = 1, **spec: Any) -> Object:
    """Return a PodDisruptionBudget of the pods labelled ``app`` (None: all) with its controller's last word."""
    selector = {"matchLabels": {"app": app}} if app else {}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "team", "generation": 1},
        "spec": {"minAvailable": desired, "selector": selector, **spec},
        "status": {
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": healthy,
            "observedGeneration": 1,
        },
    }


def vcjob(name: str, policies: Sequence[Object] = (), tasks: Sequence[Object] = (), **more: Any) -> Object:
    """Return a VCJob with lifecycle policies."""
    spec = {"policies": list(policies), "tasks": list(tasks), "maxRetry": 3, **more}
    meta = {"name": name, "namespace": "team", "uid": f"uid-{name}"}
    return {"apiVersion": VCJOB, "kind": "Job", "metadata": meta, "spec": spec, "status": {}}


def other(api_version: str, kind: str, name: str, spec: Object, status: Object | None = None, **meta: Any) -> Object:
    """Return an object of any kind; a namespace of None makes it cluster-scoped."""
    found = {"name": name, "namespace": "team", "uid": f"uid-{name}", **meta}
    found = {key: value for key, value in found.items() if value is not None}
    return {"apiVersion": api_version, "kind": kind, "metadata": found, "spec": spec, "status": status or {}}


def snapshot(*objects: Object) -> ClusterSnapshot:
    """Return the snapshot of ``objects``, read as a file is: kinds that are no part of it are skipped, JSON is decoded.

    PodGroups that a pod names and ``objects`` lack are added, with minMember 1.
    """
    return build_snapshot(d for d in map(_decoded, [*objects, *_missing_groups(objects)]) if d is not None)


def _decoded(item: Object) -> Wire | None:
    struct = KINDS.get((item["apiVersion"], item["kind"]))
    if struct is None:
        return None
    decoded = msgspec.json.decode(msgspec.json.encode(item), type=struct)
    keep_annotations(decoded.metadata)  # type: ignore[attr-defined]
    return decoded


def _missing_groups(objects: Sequence[Object]) -> list[Object]:
    def key(item: Object) -> tuple[str, str]:
        return (item["metadata"]["namespace"], item["metadata"]["name"])

    present = {key(o) for o in objects if o["kind"] == "PodGroup"}
    pods = [o["metadata"] for o in objects if o["kind"] == "Pod"]
    named = {(p["namespace"], p["annotations"].get("scheduling.k8s.io/group-name")) for p in pods}
    return [pod_group(name, namespace=space) for space, name in sorted(named - present, key=str) if name]


def run(resource: str = GPU, percent: int = 0, *, pod_groups: int | None = None, most: int | None = None) -> RunTemplateSpec:
    """Return a run's spec for ``resource``; ``most`` caps the devices moved."""
    limits = MaxPerRun(pod_groups=pod_groups, resources={} if most is None else {resource: most})
    capped = pod_groups is not None or most is not None
    goal = Goal(resource=resource, min_frag_improvement_percent=percent)
    return RunTemplateSpec(goals=[goal], max_per_run=limits if capped else None)


def plan(*objects: Object, spec: RunTemplateSpec | None = None, options: PlannerOptions | None = None) -> Evaluation:
    """Return the evaluation of ``objects``, after the independent judge accepted it."""
    found, spec = snapshot(*objects), spec or run()
    evaluation = evaluate(found, spec, options)
    assert verify(found, spec, evaluation, options) == ()
    return evaluation


def moves(*objects: Object, spec: RunTemplateSpec | None = None, options: PlannerOptions | None = None) -> dict[str, str]:
    """Return where the plan sends pods, by their names."""
    return {m.pod: m.to_node for m in plan(*objects, spec=spec, options=options).moves}


def why(*objects: Object, node: str = "source") -> str:
    """Return why ``node`` is not freed; no pod of it moves."""
    evaluation = plan(*objects)
    assert node not in evaluation.freed_nodes
    return reason_of(evaluation, node)


def reason_of(evaluation: Evaluation, node: str) -> str:
    """Return why ``node`` stays: the code, and what it says beyond that."""
    stay = evaluation.stays[node]
    return f"{stay.code.value}: {stay.detail}"


def stuck(*objects: Object, node: str = "source") -> bool:
    """Tell whether ``node`` stays because its pods fit nowhere else, and for no other reason."""
    return why(*objects, node=node).startswith("NoReceiver: ")


def told(evaluation: Evaluation) -> str:
    """Return whatever the plan says beyond its moves: warnings, reasons, and facts it may hold."""
    return repr(evaluation)


def after(objects: Sequence[Object], evaluation: Evaluation) -> list[Object]:
    """Return the objects once the plan was carried out: every moved pod runs at its receiver, with a new UID."""
    to = {(m.namespace, m.pod): m.to_node for m in evaluation.moves}
    return [_moved(o, to.get((o["metadata"].get("namespace"), o["metadata"]["name"]))) for o in objects]


def _moved(item: Object, to: str | None) -> Object:
    if item["kind"] != "Pod" or to is None:
        return item
    meta = {**item["metadata"], "uid": item["metadata"]["uid"] + "+"}
    return {**item, "metadata": meta, "spec": {**item["spec"], "nodeName": to}}
