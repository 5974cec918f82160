"""VolumeZone: the zone and region labels of bound volumes must agree with the node's."""

from __future__ import annotations

from repack_gitops.model.cluster import Node
from repack_gitops.model.plan import Code, Reason
from repack_gitops.model.storage import ZONE_LABELS
from repack_gitops.planner.feasibility.volume_binding import VolumeDemands

#: A volume's old label also matches the node's new one.
_CURRENT = dict(zip(ZONE_LABELS[:2], ZONE_LABELS[2:], strict=True))


def why_not(wanted: VolumeDemands, node: Node) -> Reason | None:
    """Return the zone that a volume is confined to and ``node`` is not in, or None; a node without zones fits all."""
    if not wanted.zones or not any(label in node.labels for label in ZONE_LABELS):
        return None
    for label, allowed in wanted.zones:
        value = node.labels.get(label, node.labels.get(_CURRENT.get(label, label)))
        if value not in allowed:
            return Reason(Code.VOLUME_ZONE, f"a bound volume is confined to {label} {', '.join(sorted(allowed))}")
    return None
