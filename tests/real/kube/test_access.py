"""Jobs, ConfigMaps, permissions and credentials on a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from repack_gitops.errors import ClusterUnavailable, Forbidden, InvalidInput
from repack_gitops.kube.client import LiveCluster, connect
from repack_gitops.kube.interface import Access, Conflict
from tests.testbed.cluster import Cluster
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real


def test_a_job_is_created_once(cluster: LiveCluster, namespace: str) -> None:
    template = {"spec": {"restartPolicy": "Never", "schedulerName": "nobody", "containers": [{"name": "c", "image": "x"}]}}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run-1"}, "spec": {"template": template}}
    assert cluster.get_job(namespace, "run-1") is None
    created = cluster.create_job(namespace, manifest)
    assert not isinstance(created, Conflict)
    assert (created.active, created.succeeded, created.failed) == (True, False, False)
    assert isinstance(cluster.create_job(namespace, manifest), Conflict)
    assert cluster.get_job(namespace, "run-1") == created


def test_a_job_that_is_none_or_in_no_namespace_is_an_error(cluster: LiveCluster, namespace: str) -> None:
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run-1"}, "spec": {}}
    with pytest.raises(InvalidInput, match=r"cannot create jobs.batch .*spec.template.spec.containers: Required"):
        cluster.create_job(namespace, manifest)
    with pytest.raises(ClusterUnavailable, match='namespaces "no-such" not found'):
        cluster.create_job("no-such", manifest | {"spec": {"template": {}}})


def test_a_config_map_is_read(cluster: LiveCluster, namespace: str) -> None:
    found = wait_for("the root certificates", lambda: cluster.get_config_map(namespace, "kube-root-ca.crt"))
    assert found["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    assert cluster.get_config_map(namespace, "none") is None


def test_permissions(control_plane: Cluster, cluster: LiveCluster, namespace: str, tmp_path: Path) -> None:
    control_plane.kubectl("create", "serviceaccount", "planner", "-n", namespace)
    control_plane.kubectl("create", "role", "r", "-n", namespace, "--verb=create", "--resource=pods/eviction")
    control_plane.kubectl("create", "rolebinding", "r", "-n", namespace, "--role=r", f"--serviceaccount={namespace}:planner")
    config = control_plane.service_account_kubeconfig(namespace, "planner", tmp_path / "config")
    here, everywhere = (Access("create", "", "pods", "eviction", n) for n in (namespace, ""))
    with connect(config) as planner:
        wait_for("the role to be known", lambda: planner.allowed(here))
        assert not planner.allowed(everywhere)
        assert not planner.allowed(Access("create", "", "pods", "", namespace))
        with pytest.raises(Forbidden, match=r"not allowed to list pods: .*cannot list resource"):
            planner.list_pods()
    assert cluster.allowed(everywhere)


def test_a_token_that_is_not_valid_is_an_error(control_plane: Cluster, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(control_plane.kubeconfig_text({"token": "nonsense"}))
    with connect(config) as nobody, pytest.raises(Forbidden, match="does not accept the credentials"):
        nobody.list_pods()


def test_a_token_file_rotates(control_plane: Cluster, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("admin-token-for-tests")
    config = tmp_path / "config"
    config.write_text(control_plane.kubeconfig_text({"tokenFile": "token"}))
    with connect(config) as cluster:
        cluster.list_nodes()
        token.write_text("expired")
        cluster._api._credentials.renew()
        token.write_text("admin-token-for-tests\n")
        cluster.list_nodes()


def test_an_untrusted_certificate_is_an_error(control_plane: Cluster, tmp_path: Path) -> None:
    text = control_plane.kubeconfig_text({"token": "x"}).replace("certificate-authority", "x-certificate-authority")
    (tmp_path / "config").write_text(text)
    with connect(tmp_path / "config") as cluster, pytest.raises(ClusterUnavailable, match=r"certificate of .* is not accepted"):
        cluster.list_pods()
