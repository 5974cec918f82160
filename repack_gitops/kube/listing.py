"""Complete lists: every page at one resourceVersion, or an error; never a part that looks like the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec

from repack_gitops.errors import ClusterUnavailable, Forbidden
from repack_gitops.kube.answers import Expired, decode
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.interface import PodList
from repack_gitops.kube.resources import BUDGETS, NODES, POD_GROUPS, PODS, STRUCTS, Resource
from repack_gitops.model import kubernetes as wire
from repack_gitops.model.cluster import TERMINAL_PHASES, Node, PodDisruptionBudget
from repack_gitops.model.decode import decode_budget, decode_node
from repack_gitops.model.decode_pod import PodDecoder, Shared

PAGE = 500
#: etcd forgets a version after five minutes by default; a list that is too slow for that three times will not succeed.
RESTARTS = 3

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """One answer to a list request."""

    metadata: wire.ListMeta
    items: list[T] | None = None


class Listing(msgspec.Struct, Generic[T], frozen=True):
    """All objects of a kind at one resourceVersion."""

    items: list[T]
    resource_version: str


def list_objects(api: ApiServer) -> Iterator[wire.Wire]:
    """Yield everything a snapshot consists of; kinds that the API server does not know are left out.

    A pod on a node that joined after the nodes were listed makes the nodes be listed once more.

    Raises
    ------
    ClusterUnavailable
        A list is incomplete, or Volcano is not installed.
    """
    nodes = _required(api, NODES)
    yield from nodes
    pods = _required(api, PODS)
    yield from _joined_since(api, nodes, pods)
    yield from pods
    del pods
    yield from _required(api, POD_GROUPS)
    for resource in STRUCTS:
        if resource not in (NODES, PODS, POD_GROUPS):
            yield from _installed(api, resource)


def list_nodes(api: ApiServer) -> tuple[Node, ...]:
    """Return all nodes, sorted by name."""
    shared = Shared()
    found = (decode_node(item, shared) for item in _required(api, NODES))
    return tuple(sorted(found, key=lambda node: node.name))


def list_budgets(api: ApiServer) -> tuple[PodDisruptionBudget, ...]:
    """Return all PodDisruptionBudgets, sorted by namespace and name."""
    found = (decode_budget(item) for item in _optional(api, BUDGETS))
    return tuple(sorted(found, key=lambda budget: (budget.namespace, budget.name)))


def list_pods(api: ApiServer) -> PodList:
    """Return all pods of all namespaces at one resourceVersion."""
    listing = list_all(api, PODS, wire.Pod)
    if listing is None:
        raise _missing(PODS)
    decoder = PodDecoder()
    return PodList(tuple(decoder.pod(item) for item in listing.items), listing.resource_version)


def list_all(api: ApiServer, resource: Resource, struct: type[T]) -> Listing[T] | None:
    """Return all objects of a resource; None if the API server does not know it.

    Raises
    ------
    ClusterUnavailable
        The list could not be read to its end.
    Forbidden
        The account must not list it.
    """
    decoder = msgspec.json.Decoder(Page[struct])  # type: ignore[valid-type]
    for _ in range(RESTARTS):
        try:
            return _pages(api, resource, decoder)
        except Expired:
            continue
    raise ClusterUnavailable(
        f"cannot list {resource.name}: the list expired {RESTARTS} times before its last page",
        hint="The API server is too slow for this cluster's size; try again when it is less busy.",
    )


def _pages(api: ApiServer, resource: Resource, decoder: msgspec.json.Decoder[Page[T]]) -> Listing[T] | None:
    items: list[T] = []
    version = token = ""
    while True:
        page = _page(api, resource, decoder, token)
        if page is None:
            return None
        if not page.metadata.resource_version or (version and page.metadata.resource_version != version):
            raise _incomplete(resource, "its pages are of different versions")
        version = page.metadata.resource_version
        for item in page.items or ():
            _drop_annotations(item)
            items.append(item)
        if not page.metadata.continue_:
            break
        if page.metadata.continue_ == token:
            raise _incomplete(resource, "the server sends the same page again and again")
        token = page.metadata.continue_
    if page.metadata.remaining_item_count:
        raise _incomplete(resource, f"{page.metadata.remaining_item_count} objects are missing after the last page")
    return Listing(items, version)


def _page(api: ApiServer, resource: Resource, decoder: msgspec.json.Decoder[Page[T]], token: str) -> Page[T] | None:
    query = {"limit": str(PAGE), **({"continue": token} if token else {})}
    request = Request(f"list {resource.name}", "GET", resource.path(), query, compressed=True)
    answer = api.read(request, 404)
    if answer.code == 404:
        if token:
            raise _incomplete(resource, "the resource was removed")
        return None
    return decode(answer, decoder, request.what)


def _drop_annotations(item: Any) -> None:
    if isinstance(item, wire.Wire):
        wire.keep_annotations(item.metadata)  # type: ignore[attr-defined]


def _required(api: ApiServer, resource: Resource) -> list[Any]:
    listing = list_all(api, resource, STRUCTS[resource])
    if listing is None:
        raise _missing(resource)
    return listing.items


def _optional(api: ApiServer, resource: Resource) -> list[Any]:
    listing = list_all(api, resource, STRUCTS[resource])
    return [] if listing is None else listing.items


def _installed(api: ApiServer, resource: Resource) -> list[Any]:
    """Return the objects of a kind that may not be installed: an account need not have the permission to list nothing."""
    try:
        return _optional(api, resource)
    except Forbidden:
        group = Request(f"look for {resource.api_version}", "GET", f"/apis/{resource.api_version}")
        if api.read(group, 404).code == 404:
            return []
        raise


def _joined_since(api: ApiServer, nodes: list[wire.Node], pods: list[wire.Pod]) -> list[wire.Node]:
    known = {node.metadata.name for node in nodes}
    if all(pod.spec.node_name in known for pod in pods if _runs(pod)):
        return []
    return [node for node in _required(api, NODES) if node.metadata.name not in known]


def _runs(pod: wire.Pod) -> bool:
    """Whether the pod needs its node to be there; what is over may outlive it."""
    over = pod.status.phase in TERMINAL_PHASES or pod.metadata.deletion_timestamp is not None
    return bool(pod.spec.node_name) and not over


def _incomplete(resource: Resource, why: str) -> ClusterUnavailable:
    return ClusterUnavailable(f"cannot list {resource.name}: the list is incomplete: {why}", hint="Try again.")


def _missing(resource: Resource) -> ClusterUnavailable:
    volcano = "Install Volcano, or choose the context of a cluster that runs it."
    other = "Is this the address of a Kubernetes API server?"
    return ClusterUnavailable(
        f"cannot list {resource.name}: the API server does not know this resource",
        hint=volcano if "volcano" in resource.name else other,
    )
