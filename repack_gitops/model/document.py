"""The base of all documents, apart from them so that parts of a document can have modules of their own."""

from __future__ import annotations

from msgspec import Struct


class Document(Struct, rename="camel", frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """Base of what people write: an unknown field is an error."""
