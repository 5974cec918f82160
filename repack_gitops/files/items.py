"""One item of a Kubernetes List in a file, still undecoded; and what makes a document a complete List."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from repack_gitops.errors import InvalidInput
from repack_gitops.files.contents import TAKE_AGAIN
from repack_gitops.model.kubernetes import ListMeta, TypeMeta, Wire

T = TypeVar("T", bound=Wire)


@dataclass(frozen=True, slots=True)
class Item:
    """One item.

    Attributes
    ----------
    where
        Its place in the file, for messages: ``item 17``, or ``document 2, item 17``.
    type_meta
        Its apiVersion and kind.
    value
        JSON bytes, or Python's types as YAML was read into them.
    """

    where: str
    type_meta: TypeMeta
    value: Raw | Any

    def convert(self, struct: type[T]) -> T:
        """Return the item as ``struct``.

        Raises
        ------
        UNREADABLE
            The value is broken or has a wrong type; the message names the field.
        """
        if isinstance(self.value, Raw):
            decoded: T = decoder(struct).decode(self.value)
            return decoded
        return msgspec.convert(self.value, struct)


@cache
def decoder(struct: type[T]) -> msgspec.json.Decoder[T]:
    """Return the JSON decoder of ``struct``; making one costs more than an item."""
    return msgspec.json.Decoder(struct)


def check_complete_list(head: TypeMeta, metadata: ListMeta | None) -> None:
    """Refuse what is no List, and a List that is only a page of one.

    Raises
    ------
    InvalidInput
        It is one of these.
    """
    if not head.kind.endswith("List"):
        what = f"a single {head.kind}" if head.kind else "a document without kind"
        raise InvalidInput(f"{what}, not a List", hint=TAKE_AGAIN)
    if metadata is not None and (metadata.continue_ or metadata.remaining_item_count):
        raise InvalidInput(
            "the List is only the first page of a longer one (metadata.continue is set)",
            hint="Take it again without a limit; kubectl get joins all pages by itself.",
        )


def item_type(own: TypeMeta, of_list: TypeMeta) -> TypeMeta:
    """Return what an item is: what it says itself, or, in a typed list such as PodList, what the list is of."""
    if own.kind or of_list.kind == "List":
        return own
    return TypeMeta(api_version=of_list.api_version, kind=of_list.kind.removesuffix("List"))
