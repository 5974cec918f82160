"""What a test does with a running control plane: ask kubectl, apply objects, act as a service account."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubernetes import client, config

from tests.testbed.nodes import Object
from tests.testbed.parts import Parts
from tests.testbed.waiting import wait_for

ADMIN_TOKEN = "admin-token-for-tests"


class Cluster:
    """A running control plane, whoever started it.

    Parameters
    ----------
    parts
        The binaries; ``kubectl`` is one of them.
    folder
        Where the control plane keeps its files; ``log/<component>.log`` are the logs.
    port
        Loopback port of the API server.
    """

    def __init__(self, parts: Parts, folder: Path, port: int) -> None:
        self.parts = parts
        self.folder = folder.resolve()
        self.port = port

    @property
    def server(self) -> str:
        """Address of the API server."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def certificate_authority(self) -> Path:
        """Certificate that signs the API server's."""
        return self.folder / "pki/ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig of a cluster administrator."""
        return self.folder / "kubeconfig"

    @contextmanager
    def api_client(self, kubeconfig: Path | None = None) -> Iterator[client.ApiClient]:
        """Open an API client for ``kubeconfig`` (default: the administrator's) and close it again."""
        connect: Any = config.new_client_from_config
        api = connect(str(kubeconfig or self.kubeconfig))
        with api:
            try:
                yield api
            finally:
                api.rest_client.pool_manager.clear()

    def kubectl(self, *args: str, stdin: str | None = None, check: bool = True) -> str:
        """Run kubectl as administrator and return what it printed.

        Raises
        ------
        RuntimeError
            It failed and ``check`` is true; the message is kubectl's.
        """
        command = [str(self.parts.binary("kubectl")), f"--kubeconfig={self.kubeconfig}", *args]
        done = subprocess.run(command, input=stdin, text=True, capture_output=True, env=self.environment(), check=False)
        if check and done.returncode:
            raise RuntimeError(f"kubectl {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects: Object) -> None:
        """Apply ``objects`` on the server's side, as one list."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(items))

    def get(self, *args: str) -> Object | None:
        """Return ``kubectl get <args>`` as an object; None if there is no such object."""
        printed = self.kubectl("get", *args, "--ignore-not-found", "-o", "json")
        found: Object | None = json.loads(printed) if printed.strip() else None
        return found

    def items(self, *args: str) -> list[Object]:
        """Return the objects that ``kubectl get <args>`` lists."""
        listed = self.get(*args) or {"items": []}
        found: list[Object] = listed["items"]
        return found

    def create_namespace(self, name: str) -> None:
        """Create a namespace and wait until pods can be created in it."""
        self.kubectl("create", "namespace", name)
        wait_for(f"the service account of namespace {name}", lambda: self.get("serviceaccount", "default", "-n", name))

    def service_account_kubeconfig(self, namespace: str, name: str, file: Path) -> Path:
        """Write a kubeconfig with a fresh token of a service account to ``file``, and return that."""
        token = self.kubectl("create", "token", name, "-n", namespace).strip()
        file.write_text(self.kubeconfig_text({"token": token}))
        return file

    def kubeconfig_text(self, user: Mapping[str, Any]) -> str:
        """Return a kubeconfig for ``user``, such as ``{"token": ...}`` or ``{"tokenFile": ...}``."""
        cluster = {"server": self.server, "certificate-authority": str(self.certificate_authority)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "bed",
            "clusters": [{"name": "bed", "cluster": cluster}],
            "users": [{"name": "user", "user": dict(user)}],
            "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": "user"}}],
        }
        return json.dumps(document, indent=1)

    def status_of(self, path: str) -> int:
        """Return the HTTP status of a GET as administrator; 0 while nobody answers."""
        context = ssl.create_default_context(cafile=str(self.certificate_authority))
        request = urllib.request.Request(self.server + path, headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})  # noqa: S310
        try:
            with urllib.request.urlopen(request, context=context, timeout=5) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            return 0

    def log_of(self, component: str) -> str:
        """Return the log of a component, such as ``vc-scheduler``."""
        return (self.folder / "log" / f"{component}.log").read_text(errors="replace")

    def environment(self) -> dict[str, str]:
        """Environment of the bed's own programs: nothing of the user's but PATH."""
        return {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder)}
