"""The API calls of a kubelet, on plain dictionaries: its node, its pods, what pods refer to, tokens for them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Event
from typing import Any

from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from tests.testbed.nodes import Object

LEASES = "kube-node-lease"
WATCH_SECONDS = 1  # how long one watch lasts, and so how long a stop may take
STRATEGIC = "application/strategic-merge-patch+json"


class ReferenceMissingError(Exception):
    """A Secret or ConfigMap that a pod refers to does not exist, or lacks a key."""


def now() -> str:
    """Return the time as the API writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class KubeletApi:
    """Calls the API server as a kubelet would; one instance serves all threads of an agent."""

    def __init__(self, api: client.ApiClient) -> None:
        self._api: Any = api
        self._core: Any = client.CoreV1Api(api)  # Any: it takes dictionaries where it says that it takes models
        self._leases: Any = client.CoordinationV1Api(api)

    def register(self, node: Object) -> None:
        """Create the node and its lease."""
        created = self._core.create_node(node)
        name = node["metadata"]["name"]
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": created.metadata.uid}
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "ownerReferences": [owner]},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now()},
        }
        self._leases.create_namespaced_lease(LEASES, lease)

    def renew(self, node: str) -> None:
        """Renew the node's lease, which is what keeps it Ready."""
        self._leases.patch_namespaced_lease(node, LEASES, {"spec": {"renewTime": now()}})

    def unregister(self, node: str) -> None:
        """Delete the node; its lease goes with it."""
        _unless_gone(lambda: self._core.delete_node(node))

    def bind(self, namespace: str, pod: str, node: str) -> None:
        """Place a pod on a node, as a scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target}
        self._core.create_namespaced_binding(namespace, body, _preload_content=False)

    def report(self, pod: Object, status: Object) -> None:
        """Write a pod's status; conditions and containers that ``status`` does not name stay."""
        meta = pod["metadata"]
        body = {"metadata": {"uid": meta["uid"]}, "status": status}
        call = self._core.patch_namespaced_pod_status
        _unless_gone(lambda: call(meta["name"], meta["namespace"], body, _content_type=STRATEGIC))

    def remove(self, pod: Object) -> None:
        """Delete a pod's object for good, if it is still the same pod."""
        meta = pod["metadata"]
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
        _unless_gone(lambda: self._core.delete_namespaced_pod(meta["name"], meta["namespace"], body=body))

    def pods_on(self, node: str) -> list[Object]:
        """Return all pods that are bound to a node."""
        listed = self._core.list_pod_for_all_namespaces(field_selector=f"spec.nodeName={node}")
        items: list[Object] = self._api.sanitize_for_serialization(listed)["items"]
        return items

    def data_of(self, kind: str, namespace: str, name: str) -> Object:
        """Return a Secret or ConfigMap.

        Raises
        ------
        ReferenceMissingError
            There is none.
        """
        calls = {"Secret": self._core.read_namespaced_secret, "ConfigMap": self._core.read_namespaced_config_map}
        try:
            found: Object = self._api.sanitize_for_serialization(calls[kind](name, namespace))
        except ApiException as error:
            if error.status == 404:
                raise ReferenceMissingError(f"{kind} {namespace}/{name} not found") from error
            raise
        return found

    def token(self, pod: Object, *, audience: str = "", seconds: int = 3600) -> str:
        """Return a token of the pod's service account that is bound to the pod."""
        meta = pod["metadata"]
        bound = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        spec: dict[str, Any] = {"expirationSeconds": seconds, "boundObjectRef": bound}
        body = {"spec": {**spec, "audiences": [audience]} if audience else {**spec, "audiences": []}}
        account = pod["spec"].get("serviceAccountName", "default")
        answer = self._core.create_namespaced_service_account_token(account, meta["namespace"], body)
        return str(answer.status.token)

    def watch_pods(self, selector: str, stop: Event) -> Iterator[tuple[str, Object]]:
        """Yield ``(ADDED | MODIFIED | DELETED, pod)`` for a field selector until ``stop`` is set.

        After a lost connection or an expired version it starts over, so a pod may be ADDED more than once.
        """
        version: str | None = None
        while not stop.is_set():
            try:
                for event in self._watch_once(selector, version):
                    version = event["raw_object"]["metadata"]["resourceVersion"]
                    yield event["type"], event["raw_object"]
            except (ApiException, HTTPError):
                version = None
                stop.wait(0.2)

    def _watch_once(self, selector: str, version: str | None) -> Iterator[dict[str, Any]]:
        watcher: Any = watch.Watch
        events: Iterator[dict[str, Any]] = watcher().stream(
            self._core.list_pod_for_all_namespaces,
            field_selector=selector,
            resource_version=version,
            timeout_seconds=WATCH_SECONDS,
        )
        return events


def _unless_gone(call: Any) -> None:
    """Run ``call``; what it was about may be gone meanwhile, or replaced by another of that name."""
    try:
        call()
    except ApiException as error:
        if error.status not in {404, 409}:
            raise
