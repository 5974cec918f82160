"""Which new pod takes the place of which victim (spec 4.4)."""

from __future__ import annotations

from repack_gitops.model.cluster import Owner, Pod
from repack_gitops.model.run import Relocation

#: Owners that give replacements new names; all others keep the victim's name.
GENERATED_NAMES = frozenset({"ReplicaSet", "ReplicationController"})


def replaces(pod: Pod, relocation: Relocation, owner: Owner | None, group_owner: Owner | None) -> bool:
    """Tell whether ``pod`` can be the replacement of the victim of ``relocation``; whether it is new is the caller's to know.

    Parameters
    ----------
    owner
        The victim's own controller; None when the victim was gone before this process could see it.
    group_owner
        The controller of the victim's PodGroup: the same for most workloads, another one where somebody made the group.
    """
    if pod.namespace != relocation.namespace or pod.uid == relocation.victim_pod_uid or pod.owner is None:
        return False
    if pod.name == relocation.victim_pod_name:
        return owner is None or _same(pod.owner, owner)
    if pod.owner.kind not in GENERATED_NAMES:
        return False
    if owner is not None:
        return _same(pod.owner, owner)
    in_group = pod.pod_group == relocation.pod_group_name
    return in_group or (group_owner is not None and _same(pod.owner, group_owner))


def _same(one: Owner, other: Owner) -> bool:
    """The same controller by name: one that was made anew has another UID and still replaces its pods."""
    return (one.group, one.kind, one.name) == (other.group, other.kind, other.name)
