"""The bytes of a snapshot file: plain or gzipped, from a path or standard input, never more than a bound."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from repack_gitops.errors import InvalidInput

#: A snapshot is held in memory once as text; 4 GiB is about 700,000 pods.
MAX_BYTES = 4 * 2**30
#: Lists of Kubernetes objects shrink 10 to 60 times. More than this, beyond the first 64 MiB, is a bomb.
MAX_RATIO = 300
RATIO_FROM = 64 * 2**20

STANDARD_INPUT = Path("-")
TAKE_AGAIN = "Take it again with repack snapshot FILE, or with kubectl as docs/planning.md shows."
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**20


def read_content(path: Path, *, max_bytes: int = MAX_BYTES) -> bytearray:
    """Return the decoded text of ``path`` (``-`` is standard input) as UTF-8 bytes.

    Parameters
    ----------
    path
        A file, a pipe, or ``-``; gzip is recognised by its first bytes, whatever the name.
    max_bytes
        More than that, packed or unpacked, is refused.

    Raises
    ------
    InvalidInput
        When there is no such file, it is empty, too large, truncated, or not text.
    """
    content = _bounded(_chunks(path, max_bytes), max_bytes)
    if not content[:_CHUNK].strip():
        raise InvalidInput("the file is empty", hint=TAKE_AGAIN)
    return _text(content)


def _chunks(path: Path, max_bytes: int) -> Iterator[bytes]:
    try:
        if path == STANDARD_INPUT:
            if sys.stdin is None:
                raise InvalidInput("standard input is closed", hint=TAKE_AGAIN)
            yield from _unpacked(sys.stdin.buffer)
        else:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
                    raise InvalidInput("is a device, not a file", hint=TAKE_AGAIN)
                if status.st_size > max_bytes:
                    raise _too_large(max_bytes)
                yield from _unpacked(file)
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}", hint="Name a file that exists.") from error


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    first = file.read(_CHUNK)
    packed = _and_then(first, file)
    return _gunzip(packed) if first.startswith(_GZIP_MAGIC) else packed


def _and_then(first: bytes, file: BinaryIO) -> Iterator[bytes]:
    while first:
        yield first
        first = file.read(_CHUNK)


def _bounded(chunks: Iterator[bytes], max_bytes: int) -> bytearray:
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > max_bytes:
            raise _too_large(max_bytes)
    return content


def _too_large(max_bytes: int) -> InvalidInput:
    return InvalidInput(f"more than {max_bytes} bytes", hint="Snapshots of this size are not read.")


def _gunzip(packed: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack one or several gzip members in bounded steps, so that a bomb is noticed while it goes off."""
    member = zlib.decompressobj(wbits=31)
    read = written = 0
    try:
        for chunk in packed:
            read += len(chunk)
            while chunk:
                if member.eof:
                    if not chunk.strip(b"\0"):
                        break  # zero padding, as tape drives add it
                    member = zlib.decompressobj(wbits=31)
                text = member.decompress(chunk, _CHUNK)
                written += len(text)
                _check_ratio(read, written)
                yield text
                chunk = member.unused_data if member.eof else member.unconsumed_tail  # noqa: PLW2901
    except zlib.error as error:
        raise InvalidInput(f"broken gzip data after {written} bytes of text", hint=TAKE_AGAIN) from error
    if not member.eof:
        raise InvalidInput(f"the gzip data ends after {written} bytes of text: truncated", hint=TAKE_AGAIN)


def _check_ratio(read: int, written: int) -> None:
    if written > RATIO_FROM and written > MAX_RATIO * read:
        raise InvalidInput(
            f"unpacks to more than {MAX_RATIO} times its size", hint="This is no snapshot; unpack it yourself if you trust it."
        )


def _text(content: bytearray) -> bytearray:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _from_utf16(content)
    if content.startswith(codecs.BOM_UTF8):
        del content[: len(codecs.BOM_UTF8)]
    if b"\0" in content[:_CHUNK]:
        raise InvalidInput("binary data, neither JSON nor YAML", hint=TAKE_AGAIN)
    return content


def _from_utf16(content: bytearray) -> bytearray:
    """Windows PowerShell's ``>`` writes UTF-16."""
    try:
        return bytearray(content.decode("utf-16").encode())
    except UnicodeDecodeError as error:
        raise InvalidInput(f"broken UTF-16 text at byte {error.start}", hint=TAKE_AGAIN) from error
