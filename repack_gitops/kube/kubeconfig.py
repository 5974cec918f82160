"""Kubeconfigs, read by the official client; and what that leaves out.

It reads a ``tokenFile`` once, ignores ``as``, and only logs that a credential plug-in failed. Going on as somebody else
than the kubeconfig says, or as nobody, would be worse than an error.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from repack_gitops.errors import Forbidden, InvalidInput
from repack_gitops.kube.credentials import Account, ClientCredentials, Credentials, TokenFile

_CHECK = "Check it with `kubectl config view`, or name another file or context."


def load_kubeconfig(paths: list[Path], context: str | None) -> Account:
    """Return the account of ``context`` (by default the current one) in the union of ``paths``.

    Raises
    ------
    InvalidInput
        A file is broken, or the context is not there.
    Forbidden
        There are no credentials although there should be.
    """
    import yaml
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException

    client: Any = import_module("kubernetes.config.kube_config")
    names = os.pathsep.join(map(str, paths))
    configuration = Configuration()
    try:
        merged = client.KubeConfigMerger(names).config
        user, folder = _user(merged, context)
        with _logged() as log:
            client.KubeConfigLoader(merged, context, config_base_path=None).load_and_set(configuration)
    except (ConfigException, yaml.YAMLError, OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"kubeconfig {names} cannot be used: {_one_line(error)}", hint=_CHECK) from error
    return Account(configuration, _credentials(user, folder, configuration, log), _impersonation(user, names))


def _user(merged: Any, context: str | None) -> tuple[Mapping[str, Any], Path]:
    """Return the user entry of the context, and the folder that its relative paths start from."""
    chosen = merged["contexts"].get_with_name(context or merged["current-context"])["context"]
    name = chosen.safe_get("user")
    entry = merged["users"].get_with_name(name, safe=True) if name else None
    if entry is None:
        return {}, Path()
    return entry.value.get("user") or {}, Path(entry.path or ".").resolve().parent


def _credentials(user: Mapping[str, Any], folder: Path, configuration: Any, log: list[str]) -> Credentials:
    if user.get("tokenFile"):
        return TokenFile(folder / user["tokenFile"])
    plug_in = user.get("exec") or user.get("auth-provider")
    if plug_in and not configuration.api_key and not configuration.cert_file:
        name = plug_in.get("command") or plug_in.get("name")
        raise Forbidden(
            f"the credential plug-in {name} of the kubeconfig gave no credentials: {'; '.join(log) or 'no reason given'}",
            hint="Run it by itself, or log in again.",
        )
    return ClientCredentials(configuration)


def _impersonation(user: Mapping[str, Any], names: str) -> dict[str, str]:
    unsupported = [key for key in ("as-groups", "as-user-extra") if user.get(key)]
    if unsupported:
        raise InvalidInput(f"kubeconfig {names}: {unsupported[0]} is not supported", hint="Use a user of its own.")
    headers = {"impersonate-user": user.get("as"), "impersonate-uid": user.get("as-uid")}
    return {name: str(value) for name, value in headers.items() if value}


@contextmanager
def _logged() -> Iterator[list[str]]:
    """Collect what the client logs as an error instead of raising it."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(" ".join(record.getMessage().split()))

    collector = Collector(logging.ERROR)
    logging.getLogger().addHandler(collector)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(collector)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
