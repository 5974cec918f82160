"""What all Kubernetes objects on the wire share: the base of their structs, metadata and label selectors."""

from __future__ import annotations

import msgspec
from msgspec import Struct

#: What decoding raises; releases of msgspec differ in how they report broken UTF-8.
UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)

Quantity = str | int | float


class Wire(Struct, rename="camel", frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """Base of all wire structs; none can hold a cycle, so the garbage collector need not look at a million of them."""


class OwnerReference(Wire, frozen=True):
    api_version: str
    kind: str
    name: str
    uid: str = ""
    controller: bool = False


class ObjectMeta(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class SelectorRequirement(Wire, frozen=True):
    key: str
    operator: str
    values: list[str] | None = None


class LabelSelector(Wire, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: list[SelectorRequirement] | None = None
