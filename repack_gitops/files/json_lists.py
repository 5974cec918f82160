"""Items of a List in JSON: one pass finds them, as slices of the text."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from repack_gitops.errors import InvalidInput
from repack_gitops.files.contents import TAKE_AGAIN
from repack_gitops.files.items import Item, check_complete_list, decoder, item_type
from repack_gitops.model.kubernetes import UNREADABLE, ListMeta, TypeMeta, Wire


class _Document(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


def json_items(content: bytearray) -> Iterator[Item]:
    """Yield the items of the List.

    Raises
    ------
    InvalidInput
        The JSON is broken, no List, or an incomplete one.
    """
    try:
        document = msgspec.json.decode(content, type=_Document)
    except UNREADABLE as error:
        raise InvalidInput(f"broken JSON: {error}", hint=TAKE_AGAIN) from error
    of_list = TypeMeta(api_version=document.api_version, kind=document.kind)
    check_complete_list(of_list, document.metadata)
    for index, raw in enumerate(document.items or ()):
        yield Item(f"item {index}", item_type(_type(raw, index), of_list), raw)


def _type(raw: msgspec.Raw, index: int) -> TypeMeta:
    try:
        found: TypeMeta = decoder(TypeMeta).decode(raw)
    except UNREADABLE as error:
        raise InvalidInput(f"item {index}: {error}", hint=TAKE_AGAIN) from error
    return found
