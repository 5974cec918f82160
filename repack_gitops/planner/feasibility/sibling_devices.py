"""Sibling devices: whole cards and shares of them on one node.

Where some pod holds a share of a card (vGPU memory, cores), the node's count of whole cards does not tell which are free,
so the node neither receives nor is emptied. Profiles that partition cards for good (MIG) are resources of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

from repack_gitops.model.cluster import Node, Pod
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.unsupported import is_share


def why_not(node: Node, pods: Iterable[Pod]) -> Reason | None:
    """Return the first pod of ``pods``, active on ``node``, that holds a share of a card, or None."""
    for pod in pods:
        for name, amount in pod.requests.items():
            if amount and is_share(name):
                return Reason(
                    Code.SIBLING_DEVICES, f"pod {pod.namespace}/{pod.name} on node {node.name} holds {name}, a share of a card"
                )
    return None
