"""Fields of a pod that a container may ask for: the downward API, in environment variables and in files."""

from __future__ import annotations

import re

from tests.testbed.nodes import Object

KEYED = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]")


def field_of(pod: Object, path: str) -> str:
    """Return the field ``path`` of a pod as text.

    Raises
    ------
    ValueError
        The agent does not know that field.
    """
    meta, spec = pod["metadata"], pod["spec"]
    keyed = KEYED.fullmatch(path)
    if keyed:
        return str((meta.get(keyed[1]) or {}).get(keyed[2], ""))
    known = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": "127.0.0.1",
        "status.podIP": "127.0.0.1",
    }
    if path not in known:
        raise ValueError(f"the agent does not know the pod field {path}")
    return str(known[path])
