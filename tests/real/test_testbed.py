"""The test bed itself: what it promises to the tests that rely on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes import client

from tests.testbed.agent import ProcessAgent
from tests.testbed.cluster import Cluster
from tests.testbed.control_plane import ControlPlane
from tests.testbed.gitea import Gitea
from tests.testbed.gitea_api import ForgeRepo, GiteaApi, GiteaError, MergeStyle
from tests.testbed.nodes import Object, fake_node
from tests.testbed.parts import Parts
from tests.testbed.shared import joined, keeper_lives
from tests.testbed.waiting import wait_for

pytestmark = pytest.mark.real
ROOT = Path(__file__).parents[2]

WHO_AM_I = """
from kubernetes import client, config
config.load_kube_config()
review = client.AuthenticationV1Api().create_self_subject_review({"kind": "SelfSubjectReview"})
print("I am", review.status.user_info.username, *review.status.user_info.extra["authentication.kubernetes.io/pod-name"])
"""
SAY_WHAT_I_SEE = f"""
import os, pathlib, sys
print("secret:", os.environ["TOKEN"], "file:", pathlib.Path(sys.argv[1]).read_text(), "pod:", os.environ["POD"])
{WHO_AM_I}
"""
IGNORE_SIGTERM = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def test_volcano_replaces_an_evicted_pod(control_plane: Cluster, namespace: str, make_nodes: Callable[..., None]) -> None:
    """Admission fills in defaults, the scheduler places, an eviction is answered with a new pod."""
    labels = {"test": namespace}
    make_nodes(fake_node(f"{namespace}-a", {"nvidia.com/gpu": 8}, labels=labels))
    control_plane.apply(volcano_job(namespace, labels))
    first = wait_for("the first pod", lambda: running_pod(control_plane, namespace))
    evict(control_plane, first)
    second = wait_for("another pod", lambda: running_pod(control_plane, namespace, but=first["metadata"]["uid"]))
    assert second["spec"]["nodeName"] == f"{namespace}-a"
    assert second["spec"]["schedulerName"] == "volcano"


def test_agent_gives_a_pod_its_secret_its_files_and_its_token(
    control_plane: Cluster, namespace: str, process_agent: ProcessAgent
) -> None:
    """Environment, mounts and identity are those that the pod's manifest names."""
    control_plane.kubectl("create", "secret", "generic", "forge", "--from-literal=token=s3cret", "-n", namespace)
    control_plane.kubectl("create", "configmap", "settings", "--from-literal=a.yaml=hello", "-n", namespace)
    control_plane.kubectl("create", "serviceaccount", "executor", "-n", namespace)
    pod = finished_pod(control_plane, job(namespace, SAY_WHAT_I_SEE, "/etc/repack/a.yaml", **PRIVILEGES))
    name = pod["metadata"]["name"]
    printed = process_agent.log_of(namespace, name)
    assert pod["status"]["phase"] == "Succeeded", printed
    assert f"secret: s3cret file: hello pod: {name}" in printed
    assert f"I am system:serviceaccount:{namespace}:executor {name}" in printed


def test_agent_reports_a_failing_job(control_plane: Cluster, namespace: str, process_agent: ProcessAgent) -> None:
    """Exit status and phase arrive at the Job, as from a kubelet."""
    pod = finished_pod(control_plane, job(namespace, "import sys; print('no', flush=True); sys.exit(6)"))
    state = pod["status"]["containerStatuses"][0]["state"]
    assert (pod["status"]["phase"], state["terminated"]["exitCode"]) == ("Failed", 6)
    assert process_agent.log_of(namespace, pod["metadata"]["name"]) == "no\n"
    control_plane.kubectl("wait", "--for=condition=Failed", "job/work", "-n", namespace, "--timeout=30s")


def test_agent_withholds_the_token_that_a_pod_does_not_mount(
    control_plane: Cluster, namespace: str, process_agent: ProcessAgent
) -> None:
    """A pod without a mounted token has no identity, as on a real node."""
    work = job(namespace, "import os; print(sorted(os.environ))", automountServiceAccountToken=False)
    pod = finished_pod(control_plane, work)
    printed = process_agent.log_of(namespace, pod["metadata"]["name"])
    assert "PATH" in printed
    assert "KUBECONFIG" not in printed


def test_agent_waits_for_a_secret(control_plane: Cluster, namespace: str, process_agent: ProcessAgent) -> None:
    """A pod that refers to something missing says so, and starts once it is there."""
    variable = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "late", "key": "token"}}}
    control_plane.apply(job(namespace, "import os; print(os.environ['TOKEN'])", env=[variable]))
    wait_for("the complaint", lambda: "CreateContainerConfigError" in str(control_plane.items("pods", "-n", namespace)))
    control_plane.kubectl("create", "secret", "generic", "late", "--from-literal=token=there", "-n", namespace)
    control_plane.kubectl("wait", "--for=condition=Complete", "job/work", "-n", namespace, "--timeout=30s")
    (pod,) = control_plane.items("pods", "-n", namespace)
    assert process_agent.log_of(namespace, pod["metadata"]["name"]) == "there\n"


def test_agent_kills_a_deleted_pod_after_its_grace(control_plane: Cluster, namespace: str, process_agent: ProcessAgent) -> None:
    """SIGTERM first, SIGKILL after the grace period, then the pod's object goes."""
    control_plane.apply(bare_pod(namespace, IGNORE_SIGTERM))
    wait_for("the process", lambda: process_agent.log_of(namespace, "bare") == "up\n")
    control_plane.kubectl("delete", "pod", "bare", "-n", namespace, "--grace-period=1", "--timeout=20s")
    assert control_plane.get("pod", "bare", "-n", namespace) is None
    assert processes_mentioning(namespace) == []


def test_agent_lets_a_test_crash_a_pod(control_plane: Cluster, namespace: str, process_agent: ProcessAgent) -> None:
    """A killed process is a failed pod with the kernel's exit status."""
    control_plane.apply(bare_pod(namespace, IGNORE_SIGTERM))
    wait_for("the process", lambda: process_agent.log_of(namespace, "bare") == "up\n")
    process_agent.crash(namespace, "bare")
    (pod,) = wait_for(
        "its failure", lambda: control_plane.items("pods", "-n", namespace, "--field-selector=status.phase=Failed")
    )
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
    with pytest.raises(LookupError):
        process_agent.crash(namespace, "bare")


@pytest.mark.parametrize("style", ["merge", "squash", "rebase"])
def test_forge_merges_what_was_approved(gitea: GiteaApi, forge_repo: ForgeRepo, tmp_path: Path, style: MergeStyle) -> None:
    """A protected branch refuses pushes and unapproved merges; after a review the change is on it."""
    reviewer = gitea.create_user("reviewer")
    forge_repo.add_collaborator("reviewer")
    forge_repo.protect_branch(approvals=1)
    clone = forge_repo.clone(tmp_path / "clone")
    forge_repo.push_file(clone, "change", "runs/1/run.yaml", "kind: RepackRun\n")
    number = forge_repo.open_pull_request("change")
    with pytest.raises(GiteaError, match="approvals"):
        forge_repo.merge(number, style)
    forge_repo.seen_by(reviewer).approve(number)
    head = forge_repo.merge(number, style)
    again = forge_repo.clone(tmp_path / "again")
    assert forge_repo.git("rev-parse", "HEAD", cwd=again).strip() == head
    assert (again / "runs/1/run.yaml").read_text() == "kind: RepackRun\n"
    with pytest.raises(RuntimeError, match="protected branch"):
        forge_repo.push_file(again, "main", "runs/1/run.yaml", "kind: Other\n")


def test_nothing_of_a_control_plane_is_left(own_control_plane: Callable[..., ControlPlane]) -> None:
    """Stopping ends every process; a second stop is harmless."""
    plane = own_control_plane(volcano=False)
    pids = plane.pids()
    assert {"etcd", "kube-apiserver", "kube-controller-manager", "kwok"} == set(pids)
    plane.stop()
    assert [name for name, pid in pids.items() if is_running(pid)] == []
    assert plane.status_of("/readyz") == 0
    plane.stop()


def test_a_control_plane_dies_with_the_process_that_started_it(testbed_parts: Parts, tmp_path: Path) -> None:
    """Even a SIGKILL of the test process leaves nothing behind."""
    program = f"""
import signal, pathlib
from tests.testbed.control_plane import ControlPlane
from tests.testbed.parts import find_parts
plane = ControlPlane(find_parts(), pathlib.Path({str(tmp_path / "bed")!r}), volcano=False)
plane.start()
print(*plane.pids().values(), flush=True)
signal.pause()
"""
    owner = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with owner:
        assert owner.stdout is not None
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert pids
        assert all(map(is_running, pids))
        owner.send_signal(signal.SIGKILL)
    wait_for("the end of its children", lambda: not any(map(is_running, pids)), 10)


def test_a_shared_service_lives_as_long_as_its_last_user(testbed_parts: Parts, tmp_path: Path) -> None:
    """The second user meets the first one's service; when both have left, it is gone, and a third gets a new one."""
    folder = tmp_path / "shared"
    with joined("gitea", folder) as first:
        with joined("gitea", folder) as second:
            assert second == first
        assert is_running(first["pids"]["gitea"])
    assert not keeper_lives(folder)
    assert not is_running(first["pids"]["gitea"])
    with joined("gitea", folder) as third:
        assert third["pids"] != first["pids"]


def test_a_forge_stops(testbed_parts: Parts, tmp_path: Path) -> None:
    """Its process is gone after the context manager ends."""
    with Gitea(testbed_parts, tmp_path / "gitea") as forge:
        pids = forge.pids()
        assert all(map(is_running, pids.values()))
    assert not any(map(is_running, pids.values()))


PRIVILEGES: Object = {
    "serviceAccountName": "executor",
    "env": [
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "forge", "key": "token"}}},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ],
    "volumes": [{"name": "settings", "configMap": {"name": "settings"}}],
    "mounts": [{"name": "settings", "mountPath": "/etc/repack"}],
}


def bare_pod(namespace: str, program: str, *args: str, **spec: object) -> Object:
    """Return a pod that runs a Python program; ``env``, ``mounts`` belong to its container, the rest to the pod."""
    container = {
        "name": "main",
        "image": "none",
        "command": ["python", "-c", program, *args, f"--{namespace}"],
        "env": spec.pop("env", []),
        "volumeMounts": spec.pop("mounts", []),
    }
    meta = {"name": "bare", "namespace": namespace}
    pod = {"containers": [container], "restartPolicy": "Never", **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod}


def job(namespace: str, program: str, *args: str, **spec: object) -> Object:
    """Return a Job ``work`` of one such pod, without retries."""
    template = {"spec": bare_pod(namespace, program, *args, **spec)["spec"]}
    meta = {"name": "work", "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"backoffLimit": 0, "template": template}}


def volcano_job(namespace: str, selector: Object) -> Object:
    """Return a VCJob of one pod with four GPUs that leaves what it can to Volcano's admission."""
    amounts = {"nvidia.com/gpu": "4"}
    container = {"name": "main", "image": "none", "resources": {"requests": amounts, "limits": amounts}}
    task = {"replicas": 1, "template": {"spec": {"nodeSelector": selector, "containers": [container]}}}
    policy = {"event": "PodEvicted", "action": "RestartTask"}
    meta = {"name": "train", "namespace": namespace}
    spec = {"schedulerName": "volcano", "tasks": [task], "policies": [policy], "maxRetry": 5}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": meta, "spec": spec}


def evict(cluster: Cluster, pod: Object) -> None:
    """Evict a pod through the Eviction API."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name=name, namespace=namespace))
    with cluster.api_client() as api:
        client.CoreV1Api(api).create_namespaced_pod_eviction(name, namespace, eviction)


def running_pod(cluster: Cluster, namespace: str, but: str = "") -> Object | None:
    """Return a running pod of a namespace, other than the one with uid ``but``."""
    pods = cluster.items("pods", "-n", namespace, "--field-selector=status.phase=Running")
    return next((p for p in pods if p["metadata"]["uid"] != but and "deletionTimestamp" not in p["metadata"]), None)


def finished_pod(cluster: Cluster, work: Object) -> Object:
    """Create a Job and return its pod once that has ended."""
    cluster.apply(work)
    selector = "--field-selector=status.phase!=Pending,status.phase!=Running"
    namespace = work["metadata"]["namespace"]
    return wait_for("the end of the pod", lambda: cluster.items("pods", "-n", namespace, selector))[0]


def is_running(pid: int) -> bool:
    """Say whether a process exists and is not only waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def processes_mentioning(text: str) -> list[int]:
    """Return the ids of other processes whose command line contains ``text``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in words and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
