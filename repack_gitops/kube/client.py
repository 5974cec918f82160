"""A live cluster: the Cluster port over one API server, one module per verb and object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from repack_gitops.kube import eviction, jobs, leases, listing, nomination, permissions, pods, runs, watching
from repack_gitops.kube.api_server import ApiServer, Timeouts
from repack_gitops.kube.connect import open_api_server
from repack_gitops.kube.interface import (
    Access,
    Conflict,
    EvictionAnswer,
    JobState,
    Lease,
    Nominated,
    NotNominated,
    PodEvent,
    PodList,
)
from repack_gitops.model.cluster import Node, Pod, PodDisruptionBudget
from repack_gitops.model.kubernetes import Wire
from repack_gitops.model.run import RepackRun


def connect(
    kubeconfig: Path | None = None, context: str | None = None, *, as_user: str = "", timeouts: Timeouts | None = None
) -> LiveCluster:
    """Return the cluster that a kubeconfig or the pod's service account names; see ``open_api_server``."""
    return LiveCluster(open_api_server(kubeconfig, context, as_user=as_user, timeouts=timeouts))


class LiveCluster:
    """The Cluster port (see ``interface``) on a real API server; ``connect`` makes one.

    Safe to use from several threads. As a context manager it closes its connections in the end.
    """

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._api.close()

    @property
    def address(self) -> str:
        """Address of the API server."""
        return self._api.address

    def list_objects(self) -> Iterable[Wire]:
        """Yield every object a snapshot consists of."""
        return listing.list_objects(self._api)

    def list_nodes(self) -> tuple[Node, ...]:
        """Return all nodes, sorted by name."""
        return listing.list_nodes(self._api)

    def list_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """Return all PodDisruptionBudgets, sorted by namespace and name."""
        return listing.list_budgets(self._api)

    def list_pods(self) -> PodList:
        """Return all pods at one resourceVersion."""
        return listing.list_pods(self._api)

    def watch_pods(self, resource_version: str, seconds: int) -> Iterator[PodEvent]:
        """Yield changes of pods since ``resource_version`` for about ``seconds``."""
        return watching.watch_pods(self._api, resource_version, seconds)

    def get_pod(self, namespace: str, name: str) -> Pod | None:
        """Return the pod, or None."""
        return pods.get_pod(self._api, namespace, name)

    def evict(self, namespace: str, name: str, uid: str, *, grace_period_seconds: int | None, dry_run: bool) -> EvictionAnswer:
        """Ask for the eviction of the pod with ``uid``, once."""
        return eviction.evict(self._api, namespace, name, uid, grace_period_seconds=grace_period_seconds, dry_run=dry_run)

    def nominate(self, namespace: str, name: str, uid: str, node: str | None) -> Nominated | NotNominated:
        """Write or clear a nomination."""
        return nomination.nominate(self._api, namespace, name, uid, node)

    def get_run(self, name: str) -> RepackRun | None:
        """Return the RepackRun, or None."""
        return runs.get_run(self._api, name)

    def list_runs(self) -> tuple[RepackRun, ...]:
        """Return all RepackRuns, sorted by name."""
        return runs.list_runs(self._api)

    def create_run(self, run: RepackRun) -> RepackRun | Conflict:
        """Create the RepackRun without its status."""
        return runs.create_run(self._api, run)

    def update_run_status(self, run: RepackRun) -> RepackRun | Conflict:
        """Replace the RepackRun's status by compare-and-swap."""
        return runs.update_run_status(self._api, run)

    def delete_run(self, name: str, uid: str) -> None:
        """Delete the RepackRun if it still has ``uid``."""
        runs.delete_run(self._api, name, uid)

    def get_lease(self, namespace: str, name: str) -> Lease | None:
        """Return the Lease, or None."""
        return leases.get_lease(self._api, namespace, name)

    def put_lease(self, lease: Lease) -> Lease | Conflict:
        """Create or replace the Lease by compare-and-swap."""
        return leases.put_lease(self._api, lease)

    def get_config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        """Return the ConfigMap's data, or None."""
        return jobs.get_config_map(self._api, namespace, name)

    def create_job(self, namespace: str, manifest: Mapping[str, Any]) -> JobState | Conflict:
        """Create a Job; Conflict if its name is taken."""
        return jobs.create_job(self._api, namespace, manifest)

    def get_job(self, namespace: str, name: str) -> JobState | None:
        """Return the Job's state, or None."""
        return jobs.get_job(self._api, namespace, name)

    def allowed(self, access: Access) -> bool:
        """Ask whether this account has the permission."""
        return permissions.allowed(self._api, access)
