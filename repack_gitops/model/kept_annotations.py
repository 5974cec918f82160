"""Which annotations of cluster objects are kept."""

from __future__ import annotations

import msgspec

from repack_gitops.model.kubernetes_base import ObjectMeta
from repack_gitops.model.protection import PROTECTING

#: Annotations that planning reads; all others are dropped, since people keep secrets and manifests in them.
KEPT_ANNOTATIONS = frozenset(
    {
        "scheduling.k8s.io/group-name",
        "kubernetes.io/config.mirror",
        "volcano.sh/task-spec",
        *PROTECTING,
    }
)


def keep_annotations(meta: ObjectMeta) -> None:
    """Drop every annotation of a freshly decoded object but KEPT_ANNOTATIONS."""
    if meta.annotations is not None:
        kept = {name: value for name, value in meta.annotations.items() if name in KEPT_ANNOTATIONS}
        msgspec.structs.force_setattr(meta, "annotations", kept or None)
