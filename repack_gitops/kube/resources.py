"""Where the API server keeps the kinds that this project reads, and their names in RBAC."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from repack_gitops.model.kinds import KINDS, PLURALS, resource_name
from repack_gitops.model.kubernetes import Wire


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the API."""

    api_version: str
    plural: str

    @property
    def name(self) -> str:
        """As RBAC and kubectl name it: ``pods``, ``jobs.batch.volcano.sh``."""
        return resource_name(self.api_version, self.plural)

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of the collection, one object, or a subresource of it."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        scope = ("namespaces", namespace) if namespace else ()
        rest = tuple(part for part in (self.plural, name, subresource) if part)
        return "/".join([root, *(quote(part, safe="") for part in (*scope, *rest))])


NODES = Resource("v1", "nodes")
PODS = Resource("v1", "pods")
CONFIG_MAPS = Resource("v1", "configmaps")
POD_GROUPS = Resource("scheduling.volcano.sh/v1beta1", "podgroups")
BUDGETS = Resource("policy/v1", "poddisruptionbudgets")
RUNS = Resource("repack.volcano.sh/v1alpha1", "repackruns")
LEASES = Resource("coordination.k8s.io/v1", "leases")
JOBS = Resource("batch/v1", "jobs")
ACCESS_REVIEWS = Resource("authorization.k8s.io/v1", "selfsubjectaccessreviews")

#: The kinds of a snapshot, in the order in which they are listed, and what decodes them.
STRUCTS: dict[Resource, type[Wire]] = {Resource(kind[0], plural): KINDS[kind] for kind, plural in PLURALS.items()}
