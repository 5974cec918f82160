"""A quick way to create, list and delete plain objects: kept-alive connections, a few threads, no client library."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import urllib3

from tests.testbed.cluster import ADMIN_TOKEN, Cluster
from tests.testbed.nodes import Object

THREADS = 6
T = TypeVar("T")

#: Path of a collection, by kind; ``{}`` is the namespace.
PATHS = {
    "Node": "/api/v1/nodes",
    "Namespace": "/api/v1/namespaces",
    "Pod": "/api/v1/namespaces/{}/pods",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "PersistentVolumeClaim": "/api/v1/namespaces/{}/persistentvolumeclaims",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "CSINode": "/apis/storage.k8s.io/v1/csinodes",
    "CSIDriver": "/apis/storage.k8s.io/v1/csidrivers",
    "VolumeAttachment": "/apis/storage.k8s.io/v1/volumeattachments",
    "RuntimeClass": "/apis/node.k8s.io/v1/runtimeclasses",
    "PodGroup": "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups",
    "Queue": "/apis/scheduling.volcano.sh/v1beta1/queues",
}
MERGE = "application/merge-patch+json"


class RefusedError(Exception):
    """The API server does not take an object; the message is its own."""


class Api:
    """The API server as administrator; a context manager that closes its connections."""

    def __init__(self, cluster: Cluster) -> None:
        self._server = cluster.server
        self._pool = urllib3.PoolManager(
            maxsize=THREADS, block=True, ca_certs=str(cluster.certificate_authority), retries=False, timeout=60
        )
        self._threads = ThreadPoolExecutor(THREADS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._threads.shutdown()
        self._pool.clear()

    def request(self, method: str, path: str, body: Object | None = None, content_type: str = "application/json") -> Object:
        """Make one call and return the answer.

        Raises
        ------
        RefusedError
            The status is 400 or above.
        """
        headers = {"Authorization": f"Bearer {ADMIN_TOKEN}", "Content-Type": content_type}
        data = None if body is None else json.dumps(body).encode()
        answer = self._pool.request(method, self._server + path, body=data, headers=headers)
        document: Object = json.loads(answer.data)
        if answer.status >= 400:
            raise RefusedError(f"{method} {path}: {document.get('message', answer.status)}")
        return document

    def create(self, item: Object) -> Object:
        """Create an object of one of PATHS; a status is written too where Create leaves it out."""
        path = collection(item)
        created = self.request("POST", path, item)
        if item["kind"] == "Pod" and "status" in item:
            name = f"{path}/{item['metadata']['name']}/status"
            created = self.request("PATCH", name, {"status": item["status"]}, MERGE)
        return created

    def list_items(self, path: str, selector: str = "") -> list[Object]:
        """Return the objects of a collection."""
        query = f"?labelSelector={selector}" if selector else ""
        items: list[Object] = self.request("GET", path + query)["items"]
        return items

    def each(self, call: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
        """Return ``call`` of every item, several at a time, in the items' order."""
        return list(self._threads.map(call, items))


def collection(item: Object) -> str:
    """Return the path of the collection that an object belongs to."""
    return PATHS[item["kind"]].format(item["metadata"].get("namespace", ""))
