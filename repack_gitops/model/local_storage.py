"""Which volumes of a pod are on its node's disk, so that what is in them is lost when the pod moves."""

from __future__ import annotations

from repack_gitops.model.kubernetes import PodSpec, Volume


def local_volumes(spec: PodSpec) -> tuple[str, ...]:
    """Return the hostPath and disk-backed emptyDir volumes, as ``hostPath(name)`` and ``emptyDir(name)``, in their order."""
    return tuple(f"{kind}({volume.name})" for volume in spec.volumes or () if (kind := _kind(volume)))


def _kind(volume: Volume) -> str:
    if volume.host_path is not None:
        return "hostPath"
    if volume.empty_dir is None:
        return ""
    medium = str(volume.empty_dir.get("medium") or "")
    # Memory and HugePages-<size> are memory: shared memory of a container, gone with every restart anyway
    return "" if medium == "Memory" or medium.startswith("HugePages") else "emptyDir"
