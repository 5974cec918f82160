"""A real Kubernetes and Volcano control plane on loopback ports: no containers, no root, up in about eight seconds.

To look around by hand: ``python -m tests.testbed.control_plane FOLDER``, then ``KUBECONFIG=FOLDER/kubeconfig kubectl ...``.
"""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.testbed.certificates import make_certificates
from tests.testbed.cluster import ADMIN_TOKEN, Cluster
from tests.testbed.parts import Parts, find_parts
from tests.testbed.processes import ProcessDiedError, ProcessGroup, free_port, listening
from tests.testbed.volcano import SCHEDULER_CONF, admission_paths, webhook_configurations
from tests.testbed.waiting import wait_for

ATTEMPTS = 3


class ControlPlane(Cluster):
    """A control plane that lives as long as this context manager: etcd, the API server, controllers, Volcano, KWOK.

    Parameters
    ----------
    parts
        The binaries.
    folder
        Emptied first; keeps certificates, kubeconfig and logs. The database goes when the control plane does.
    volcano, webhooks
        Whether Volcano runs, and whether its admission does.
    kube_scheduler
        Whether the default scheduler runs. Without it, pods that ask for it stay pending, or an agent binds them.
    feature_gates
        Of the API server, such as ``"A=true,B=false"``.
    scheduler_conf
        Configuration of Volcano's scheduler.
    schedule_period
        Of Volcano's scheduler, whose own default is a second; shorter makes tests quicker and races tighter.
    flags
        More command-line flags, by component.
    """

    def __init__(
        self,
        parts: Parts,
        folder: Path,
        *,
        volcano: bool = True,
        webhooks: bool = True,
        kube_scheduler: bool = False,
        feature_gates: str = "",
        scheduler_conf: str = SCHEDULER_CONF,
        schedule_period: str = "200ms",
        flags: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(parts, folder, free_port())
        self.volcano = volcano
        self.webhooks = webhooks
        self.kube_scheduler = kube_scheduler
        self.feature_gates = feature_gates
        self.scheduler_conf = scheduler_conf
        self.schedule_period = schedule_period
        self.flags = flags or {}
        self._processes = ProcessGroup(self.folder)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything; once more with other ports if somebody was quicker to take one.

        Raises
        ------
        ProcessDiedError
            A component ended while it should come up; the message ends with its log.
        TimeoutError
            A component did not become ready.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._start_once()
                return
            except ProcessDiedError as death:
                self.stop()
                if not death.port_taken or attempt == ATTEMPTS:
                    raise
                self.port = free_port()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End every process and wait until it is gone; logs stay."""
        self._processes.stop()
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def pids(self) -> dict[str, int]:
        """Return the process id of every component, by name."""
        return self._processes.pids()

    def _start_once(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        make_certificates(self.folder / "pki", f"test-bed-ca-{self.port}")
        (self.folder / "pki/tokens.csv").write_text(f'{ADMIN_TOKEN},admin,1,"system:masters"\n')
        self.kubeconfig.write_text(self.kubeconfig_text({"token": ADMIN_TOKEN}))
        self._start_api_server(self._start_etcd())
        self._start_controllers()
        if self.kube_scheduler:
            self._start_kube_scheduler()
        self._start_kwok()
        if self.volcano:
            self._start_volcano()
        self._processes.check()

    def _start_etcd(self) -> str:
        client, peer = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        self._run(
            "etcd",
            "--data-dir=etcd",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        )
        return client

    def _start_api_server(self, etcd: str) -> None:
        self._run(
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            "--tls-cert-file=pki/server.crt",
            "--tls-private-key-file=pki/server.key",
            "--client-ca-file=pki/ca.crt",
            "--token-auth-file=pki/tokens.csv",
            "--service-account-key-file=pki/sa.key",
            "--service-account-signing-key-file=pki/sa.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--allow-privileged=true",
            "--profiling=false",
            *([f"--feature-gates={self.feature_gates}"] if self.feature_gates else []),
        )
        self._await("kube-apiserver", lambda: self.status_of("/readyz") == 200)

    def _start_controllers(self) -> None:
        self._run(
            "kube-controller-manager",
            "--kubeconfig=kubeconfig",
            "--leader-elect=false",
            "--service-account-private-key-file=pki/sa.key",
            "--root-ca-file=pki/ca.crt",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
            "--controllers=*,-nodeipam,-cloud-node-lifecycle",
        )
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self._await("the default service account", lambda: self.status_of(account) == 200)

    def _start_kube_scheduler(self) -> None:
        self._run(
            "kube-scheduler",
            "--kubeconfig=kubeconfig",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
        )

    def _start_kwok(self) -> None:
        stages = "\n---\n".join(stage.read_text() for stage in self.parts.kwok_stages)
        (self.folder / "stages.yaml").write_text(stages)
        self._run(
            "kwok",
            "--kubeconfig=kubeconfig",
            "--manage-all-nodes=false",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--config=stages.yaml",
            "--node-lease-duration-seconds=40",
            "--cidr=10.244.0.0/16",
        )

    def _start_volcano(self) -> None:
        self.kubectl("apply", "--server-side", "-f", str(self.parts.volcano_crds))
        self._await("Volcano's CRDs", self._crds_established)  # `kubectl wait` fails on one whose conditions are not there yet
        self.kubectl("create", "namespace", "volcano-system")
        if self.webhooks:
            self._start_admission()
        self._start_volcano_scheduler()
        self._run("vc-controller-manager", "--kubeconfig=kubeconfig", "--leader-elect=false", "--enable-healthz=false")
        self._await("Volcano's default queue", self._default_queue_open)

    def _start_admission(self) -> None:
        port = free_port()
        hooks = webhook_configurations(self.parts.volcano_manifest, self.certificate_authority, port)
        self.apply(*hooks)
        self._run(
            "vc-webhook-manager",
            "--kubeconfig=kubeconfig",
            f"--port={port}",
            "--listen-address=127.0.0.1",
            f"--enabled-admission={admission_paths(hooks, port)}",
            "--tls-cert-file=pki/server.crt",
            "--tls-private-key-file=pki/server.key",
            "--ca-cert-file=pki/ca.crt",
            f"--webhook-url=https://127.0.0.1:{port}",
            "--webhook-namespace=volcano-system",
            "--webhook-service-name=volcano-admission",
        )
        self._await("Volcano's admission", lambda: listening(port))

    def _start_volcano_scheduler(self) -> None:
        (self.folder / "volcano.conf").write_text(self.scheduler_conf)
        self._run(
            "vc-scheduler",
            "--kubeconfig=kubeconfig",
            "--leader-elect=false",
            "--scheduler-conf=volcano.conf",
            "--enable-healthz=false",
            "--enable-metrics=false",
            f"--schedule-period={self.schedule_period}",
        )

    def _crds_established(self) -> bool:
        conditions = [crd.get("status", {}).get("conditions") or () for crd in self.items("crd")]
        return all(any(c["type"] == "Established" and c["status"] == "True" for c in found) for found in conditions)

    def _default_queue_open(self) -> bool:
        return "default" in self.kubectl("get", "queues.scheduling.volcano.sh", "-o", "name", check=False)

    def _run(self, program: str, *args: str) -> None:
        self._processes.start(self.parts.binary(program), *args, *self.flags.get(program, ()), env=self.environment())

    def _await(self, what: str, ready: Callable[[], bool]) -> None:
        def look() -> bool:
            self._processes.check()
            return ready()

        wait_for(what, look)


if __name__ == "__main__":
    with ControlPlane(find_parts(), Path(sys.argv[1])) as plane:
        print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()
