"""The environment, command and paths of a container, as its process will see them."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.testbed.kubelet_api import KubeletApi, ReferenceMissingError
from tests.testbed.nodes import Object
from tests.testbed.pod_fields import field_of

REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")
BEFORE_PATH, AFTER_PATH = r"(?<![\w./-])", r"(?=$|[/:,;\s\"'=)])"


def environment_of(container: Object, pod: Object, api: KubeletApi) -> dict[str, str]:
    """Return the variables that a container's ``envFrom`` and ``env`` define, in that order.

    Raises
    ------
    ReferenceMissingError
        A Secret, ConfigMap or key that is not optional does not exist.
    """
    found: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        found |= _all_of(source, pod, api)
    for variable in container.get("env") or []:
        value = _value_of(variable, pod, api)
        if value is not None:
            found[variable["name"]] = expand(value, found) if "value" in variable else value
    return found


def command_of(container: Object, environment: Mapping[str, str], entrypoint: Sequence[str]) -> list[str]:
    """Return a container's command line; ``entrypoint`` is the image's, used when the pod names none."""
    command = list(container.get("command") or entrypoint) + list(container.get("args") or [])
    return [expand(word, environment) for word in command]


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace ``$(NAME)`` by known variables as Kubernetes does; ``$$`` is a dollar, unknown names stay."""

    def replacement(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else environment.get(match[1], match[0])

    return REFERENCE.sub(replacement, text)


def rewrite_paths(text: str, mounts: Mapping[str, Path]) -> str:
    """Replace every mount path in ``text`` by the local folder that stands for it; the longest path wins.

    Only whole path components count: ``/etc/repack`` is found in ``--config=/etc/repack/a`` but not in
    ``/etc/repack-old`` or ``https://host/etc/repack``.
    """
    if not mounts:
        return text
    paths = "|".join(re.escape(path) for path in sorted(mounts, key=len, reverse=True))
    return re.sub(f"{BEFORE_PATH}({paths}){AFTER_PATH}", lambda match: str(mounts[match[1]]), text)


def decoded(kind: str, data: Object) -> dict[str, bytes]:
    """Return the keys of a Secret or ConfigMap with their content."""
    plain = {} if kind == "Secret" else data.get("data") or {}
    encoded = (data.get("data") if kind == "Secret" else data.get("binaryData")) or {}
    return {k: v.encode() for k, v in plain.items()} | {k: base64.b64decode(v) for k, v in encoded.items()}


def _all_of(source: Object, pod: Object, api: KubeletApi) -> dict[str, str]:
    kind, reference = ("Secret", source["secretRef"]) if "secretRef" in source else ("ConfigMap", source["configMapRef"])
    try:
        data = api.data_of(kind, pod["metadata"]["namespace"], reference["name"])
    except ReferenceMissingError:
        if reference.get("optional"):
            return {}
        raise
    return {source.get("prefix", "") + k: v.decode() for k, v in decoded(kind, data).items()}


def _value_of(variable: Object, pod: Object, api: KubeletApi) -> str | None:
    source = variable.get("valueFrom")
    if not source:
        return str(variable.get("value", ""))
    if "fieldRef" in source:
        return field_of(pod, source["fieldRef"]["fieldPath"])
    if "secretKeyRef" in source:
        return _key_of("Secret", source["secretKeyRef"], pod, api)
    if "configMapKeyRef" in source:
        return _key_of("ConfigMap", source["configMapKeyRef"], pod, api)
    raise ValueError(f"the agent does not know the source of variable {variable['name']}: {', '.join(source)}")


def _key_of(kind: str, reference: Object, pod: Object, api: KubeletApi) -> str | None:
    try:
        keys = decoded(kind, api.data_of(kind, pod["metadata"]["namespace"], reference["name"]))
        if reference["key"] not in keys:
            raise ReferenceMissingError(f"{kind} {reference['name']} has no key {reference['key']}")
    except ReferenceMissingError:
        if reference.get("optional"):
            return None
        raise
    return keys[reference["key"]].decode()
