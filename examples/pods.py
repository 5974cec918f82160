"""Pods as the API server shows them: of VCJobs, ReplicaSets, StatefulSets, ModelServings and DaemonSets."""

from __future__ import annotations

from collections.abc import Mapping

from examples.fleet import DEPLOYMENT, JOB, MODEL_SERVING, Daemon, Hour, Machine, Object, Replica, Template, Workload
from examples.identity import digits, metadata, owner, stamp, suffix, uid
from examples.machines import BORN, address

#: When the one finished job that is still to be seen ended.
DONE: Hour = 1.5
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
#: What the API server adds to every pod.
DEFAULT_TOLERATIONS = tuple(
    {"effect": "NoExecute", "key": f"node.kubernetes.io/{state}", "operator": "Exists", "tolerationSeconds": 300}
    for state in ("not-ready", "unreachable")
)


def controller(workload: Workload) -> tuple[str, str, str, str]:
    """Return apiVersion, kind, name and UID of what owns a workload's pods."""
    namespace, name = workload.namespace, workload.name
    if workload.kind == DEPLOYMENT:
        name = f"{name}-{template_hash(workload)}"
        return ("apps/v1", "ReplicaSet", name, uid("ReplicaSet", namespace, name))
    versions = {JOB: "batch.volcano.sh/v1alpha1", MODEL_SERVING: "workload.serving.volcano.sh/v1alpha1"}
    return (versions.get(workload.kind, "apps/v1"), workload.kind, name, uid(workload.kind, namespace, name))


def template_hash(workload: Workload) -> str:
    """Return the hash that Deployments and ReplicaSets name their pods by."""
    return suffix(9, "template", workload.namespace, workload.name)


def group_name(replica: Replica) -> str | None:
    """Return the name of the pod's PodGroup, as its controller or Volcano's makes it."""
    workload = replica.workload
    if workload.scheduler != "volcano":
        return None
    if workload.kind == JOB:
        return f"{workload.name}-{controller(workload)[3]}"
    if workload.kind == MODEL_SERVING:
        return f"{workload.name}-{_serving_group(replica)}"
    return f"podgroup-{controller(workload)[3]}"


def _serving_group(replica: Replica) -> int:
    """Every task of a ModelServing has as many replicas as there are serving groups."""
    return replica.index


def pod_name(replica: Replica) -> str:
    """Return the pod's name."""
    workload, task = replica.workload, replica.task
    if workload.kind == JOB:
        return f"{workload.name}-{task.name}-{replica.index}"
    if workload.kind == DEPLOYMENT:
        return f"{controller(workload)[2]}-{suffix(5, workload.name, replica.index, replica.since)}"
    if workload.kind == MODEL_SERVING:
        return f"{workload.name}-{_serving_group(replica)}-{task.name}-0-0"
    return f"{workload.name}-{replica.index}"


def pod_labels(replica: Replica) -> dict[str, str]:
    """Return the pod's labels: the workload's own and those that its controller adds."""
    workload, task = replica.workload, replica.task
    common = {"app.kubernetes.io/name": workload.name, **workload.labels}
    if workload.kind == JOB:
        named = {"job-name": workload.name, "job-namespace": workload.namespace, "queue-name": "default"}
        named |= {"task-index": str(replica.index), "task-spec": task.name}
        return {**common, **{f"volcano.sh/{k}": v for k, v in named.items()}}
    if workload.kind == DEPLOYMENT:
        return {**common, "pod-template-hash": template_hash(workload)}
    if workload.kind == MODEL_SERVING:
        named = {"name": workload.name, "group-name": group_name(replica) or "", "role": task.name}
        named |= {"role-id": f"{task.name}-0", "entry": "true"}
        return {**common, **{f"modelserving.volcano.sh/{k}": v for k, v in named.items()}}
    revision = f"{workload.name}-{suffix(9, 'revision', workload.name)}"
    index = {"apps.kubernetes.io/pod-index": str(replica.index), "statefulset.kubernetes.io/pod-name": pod_name(replica)}
    return {**common, **index, "controller-revision-hash": revision}


def pod_object(replica: Replica, machines: Mapping[str, int], resource: str, pools: Mapping[str, str]) -> Object:
    """Return the pod of ``replica``; ``machines`` number the nodes, ``pools`` give the label that selects each pool."""
    workload, template = replica.workload, replica.task.template
    name, annotations = pod_name(replica), {}
    group = group_name(replica)
    if group is not None:
        annotations[GROUP_ANNOTATION] = group
    if workload.kind == JOB:
        named = {"job-name": workload.name, "job-version": "0", "queue-name": "default", "task-index": str(replica.index)}
        named |= {"task-spec": replica.task.name, "template-uid": f"{workload.name}-{replica.task.name}"}
        annotations |= {f"volcano.sh/{k}": v for k, v in named.items()}
    made = metadata(
        "Pod",
        name,
        replica.since,
        workload.namespace,
        annotations=annotations,
        labels=pod_labels(replica),
        ownerReferences=owner(*controller(workload)),
        generateName=f"{controller(workload)[2]}-" if workload.kind == DEPLOYMENT else "",
    )
    requests = {"cpu": str(template.cpu), "memory": f"{template.memory}Gi", resource: str(template.cards)}
    container = _container(replica.task.name if workload.kind == JOB else workload.name, template, requests)
    spec = _spec([container], replica.node, workload.scheduler, [*map(dict, template.tolerations), *DEFAULT_TOLERATIONS])
    spec |= {
        "restartPolicy": "OnFailure" if workload.kind == JOB else "Always",
        "terminationGracePeriodSeconds": workload.grace,
    }
    if len(template.pools) == 1 and pools.get(template.pools[0]):
        spec["nodeSelector"] = {"accelerator-pool": pools[template.pools[0]]}
    spec["volumes"] = [*map(dict, template.volumes), *spec["volumes"]]
    status = _status(name, replica.node, machines, container, replica.since, done=replica.done)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": spec, "status": status}


def daemon_object(daemon: Daemon, machine: Machine, machines: Mapping[str, int], resource: str) -> Object:
    """Return the pod of ``daemon`` on ``machine``."""
    hash_label = suffix(9, "daemon", daemon.name)
    labels = {"app.kubernetes.io/name": daemon.name, "controller-revision-hash": hash_label, "pod-template-generation": "3"}
    since: Hour = BORN / 4
    made = metadata(
        "Pod",
        f"{daemon.name}-{suffix(5, daemon.name, machine.name)}",
        since,
        daemon.namespace,
        generateName=f"{daemon.name}-",
        labels=labels,
        ownerReferences=owner("apps/v1", "DaemonSet", daemon.name, uid("DaemonSet", daemon.namespace, daemon.name)),
    )
    requests = {"cpu": daemon.cpu, "memory": daemon.memory}
    if daemon.cards:
        requests[resource] = str(daemon.cards)
    container = _container(daemon.name, Template(daemon.image, daemon.cards, 0, 0), requests)
    spec = _spec([container], machine.name, "default-scheduler", [{"operator": "Exists"}])
    field = {"key": "metadata.name", "operator": "In", "values": [machine.name]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    spec |= {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
    status = _status(made["name"], machine.name, machines, container, since)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": made, "spec": spec, "status": status}


def _container(name: str, template: Template, requests: Mapping[str, str]) -> Object:
    devices = {k: v for k, v in requests.items() if "/" in k}
    found: Object = {"image": template.image, "imagePullPolicy": "IfNotPresent", "name": name}
    if template.command:
        found["command"] = list(template.command)
    if template.port:
        found["ports"] = [{"containerPort": template.port, "name": "http", "protocol": "TCP"}]
    limits = {"memory": requests["memory"], **devices}
    found |= {"resources": {"limits": limits, "requests": dict(requests)}}
    mount = {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": _token_volume(name), "readOnly": True}
    message = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    return {**found, **message, "volumeMounts": [mount]}


def _token_volume(container: str) -> str:
    return f"kube-api-access-{suffix(5, 'token', container)}"


def _token(container: str) -> Object:
    """Return the volume with a service account's token that the API server adds to every pod."""
    namespace = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": _token_volume(container), "projected": {"defaultMode": 420, "sources": sources}}


def _spec(containers: list[Object], node: str | None, scheduler: str, tolerations: list[Object]) -> Object:
    spec: Object = {
        "containers": containers,
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "schedulerName": scheduler,
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "tolerations": tolerations,
        "volumes": [_token(containers[0]["name"])],
    }
    if node is not None:
        spec["nodeName"] = node
    return spec


def _status(
    name: str, node: str | None, machines: Mapping[str, int], container: Object, since: Hour, *, done: bool = False
) -> Object:
    if node is None:
        message = f"0/{len(machines)} nodes are unavailable: {len(machines)} Insufficient devices."
        waits = _condition("PodScheduled", "False", since, reason="Unschedulable", message=message)
        return {"conditions": [waits], "phase": "Pending", "qosClass": "Burstable"}
    runs = not done
    pod_ip = f"10.{200 + machines[node] // 250}.{machines[node] % 250}.{digits(2, 250, name)}"
    started = stamp(since, 85)
    ended = {"exitCode": 0, "finishedAt": stamp(DONE), "reason": "Completed", "startedAt": started}
    state: Object = {"image": container["image"], "name": container["name"], "ready": runs, "restartCount": 0}
    state |= {"started": runs, "state": {"running": {"startedAt": started}} if runs else {"terminated": ended}}
    host = address(machines[node])
    return {
        "conditions": _conditions(since, runs),
        "containerStatuses": [state],
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "phase": "Running" if runs else "Succeeded",
        "podIP": pod_ip,
        "podIPs": [{"ip": pod_ip}],
        "qosClass": "Burstable",
        "startTime": stamp(since, 62),
    }


def _conditions(since: Hour, runs: bool) -> list[Object]:
    ready, why = ("True", {}) if runs else ("False", {"reason": "PodCompleted"})
    return [
        _condition("PodReadyToStartContainers", ready, since),
        _condition("Initialized", "True", since, **why),
        _condition("Ready", ready, since, **why),
        _condition("ContainersReady", ready, since, **why),
        _condition("PodScheduled", "True", since),
    ]


def _condition(kind: str, status: str, since: Hour, **more: str) -> Object:
    return {"lastProbeTime": None, "lastTransitionTime": stamp(since, 80), **more, "status": status, "type": kind}
