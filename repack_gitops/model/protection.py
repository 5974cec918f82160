"""Annotations by which people say: leave this alone. They are always honoured; no option switches them off.

Ours is read generously: a typing error in its value must not expose what somebody meant to protect. Other tools' are read
exactly as those tools read them.
"""

from __future__ import annotations

from collections.abc import Mapping

OURS = "gitops.repack.volcano.sh/do-not-disrupt"
KARPENTER = "karpenter.sh/do-not-disrupt"
CLUSTER_AUTOSCALER = "cluster-autoscaler.kubernetes.io/safe-to-evict"

PROTECTING = frozenset({OURS, KARPENTER, CLUSTER_AUTOSCALER})


def pod_protection(annotations: Mapping[str, str] | None) -> str:
    """Return the annotation that protects a pod, as ``name=value``, or an empty string."""
    found = annotations or {}
    if found.get(CLUSTER_AUTOSCALER) == "false":
        return f"{CLUSTER_AUTOSCALER}=false"
    return node_protection(found)


def node_protection(annotations: Mapping[str, str] | None) -> str:
    """Return the annotation that keeps a node from being emptied, as ``name=value``, or an empty string."""
    found = annotations or {}
    return group_protection(found) or (f"{KARPENTER}=true" if found.get(KARPENTER) == "true" else "")


def group_protection(annotations: Mapping[str, str] | None) -> str:
    """Return the annotation that protects every member of a PodGroup, as ``name=value``, or an empty string."""
    value = (annotations or {}).get(OURS)
    return "" if value is None or value.lower() == "false" else f"{OURS}={value[:40]}"
