"""From a kubeconfig, or from inside a pod, to an API server: the one place that loads the official client.

Order, as kubectl's: the kubeconfig that is named, KUBECONFIG, ``~/.kube/config``, the pod's service account.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from repack_gitops.errors import InvalidInput
from repack_gitops.kube.api_server import ApiServer, Timeouts
from repack_gitops.kube.credentials import Account, TokenFile
from repack_gitops.kube.keepalive import SOCKET_OPTIONS
from repack_gitops.kube.kubeconfig import load_kubeconfig

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_NO_CLUSTER = "Name one with --kubeconfig or KUBECONFIG, or run in a pod with a service account token."


def open_api_server(
    kubeconfig: Path | None = None,
    context: str | None = None,
    *,
    as_user: str = "",
    timeouts: Timeouts | None = None,
    environment: Mapping[str, str] | None = None,
    service_account: Path = SERVICE_ACCOUNT,
) -> ApiServer:
    """Return the API server; nothing is sent yet.

    Parameters
    ----------
    kubeconfig
        A file; else those of ``KUBECONFIG``, else ``~/.kube/config``, else the pod's service account.
    context
        One of the kubeconfig's contexts; else its current one.
    as_user
        Impersonate this user.
    timeouts
        Bounds of every call.
    environment
        ``os.environ``, unless a test says otherwise.
    service_account
        The folder with ``token`` and ``ca.crt``.

    Raises
    ------
    InvalidInput
        There is no configuration, or it cannot be used; the message names the file.
    Forbidden
        A token file is missing or empty, or a credential plug-in failed.
    """
    environment = os.environ if environment is None else environment
    paths = _kubeconfigs(kubeconfig, environment)
    if paths:
        account = load_kubeconfig(paths, context)
    elif context is not None:
        raise InvalidInput(f"there is no kubeconfig to look for context {context} in", hint=_NO_CLUSTER)
    else:
        account = _from_service_account(service_account, environment)
    headers = {**account.headers, **({"impersonate-user": as_user} if as_user else {})}
    return ApiServer(
        _pool(account.configuration), account.configuration.host, account.credentials, headers=headers, timeouts=timeouts
    )


def _kubeconfigs(kubeconfig: Path | None, environment: Mapping[str, str]) -> list[Path]:
    """Return the files to read; those that KUBECONFIG lists may be missing, as long as one is there."""
    if kubeconfig is not None:
        if not kubeconfig.is_file():
            raise InvalidInput(f"kubeconfig {kubeconfig}: no such file", hint=_NO_CLUSTER)
        return [kubeconfig]
    listed = [Path(p) for p in environment.get("KUBECONFIG", "").split(os.pathsep) if p]
    home = environment.get("HOME")  # a container's user may have none
    at_home = [Path(home) / ".kube/config"] if home else []
    found = [p for p in listed or at_home if p.is_file()]
    if listed and not found:
        raise InvalidInput(f"KUBECONFIG={environment['KUBECONFIG']}: no such file", hint=_NO_CLUSTER)
    return found


def _pool(configuration: Any) -> Any:
    from kubernetes.client.rest import RESTClientObject

    configuration.socket_options = SOCKET_OPTIONS
    return RESTClientObject(configuration).pool_manager


def _from_service_account(folder: Path, environment: Mapping[str, str]) -> Account:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException

    client: Any = import_module("kubernetes.config.incluster_config")
    token, authority = folder / "token", folder / "ca.crt"
    if "KUBERNETES_SERVICE_HOST" not in environment and not token.exists():
        raise InvalidInput("no cluster: there is neither a kubeconfig nor a service account", hint=_NO_CLUSTER)
    configuration = Configuration()
    loader = client.InClusterConfigLoader(str(token), str(authority), try_refresh_token=False, environ=environment)
    try:
        loader.load_and_set(configuration)
    except (ConfigException, OSError) as error:
        raise InvalidInput(f"the pod's service account cannot be used: {error}", hint=_NO_CLUSTER) from error
    return Account(configuration, TokenFile(token), {})
