"""Files that are either the old ones or the new ones, never something in between."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from repack_gitops.errors import InvalidInput

MODE = 0o644


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of ``path`` when the block ends without an error; mode 0644.

    A symbolic link keeps pointing to the file it names. What is no regular file (a pipe, ``/dev/stdout``) is written to.

    Raises
    ------
    InvalidInput
        When the file cannot be written: a directory, no such folder, no permission, no space.
    """
    try:
        target = _target(path)
        with _special(target) if target.exists() and not target.is_file() else _temporary(target) as file:
            yield file
    except OSError as error:
        raise InvalidInput(
            f"cannot write {path}: {error.strerror or error}", hint="Name a file in a folder that exists and is writable."
        ) from error


def _target(path: Path) -> Path:
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InvalidInput(f"cannot write {path}: it is a directory", hint="Name a file in it.")
    return target


@contextmanager
def _special(target: Path) -> Iterator[BinaryIO]:
    # Renaming a file over a device or a pipe would remove it from the system.
    with target.open("wb") as file:
        yield file


@contextmanager
def _temporary(target: Path) -> Iterator[BinaryIO]:
    descriptor, name = tempfile.mkstemp(prefix=".repack-", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield cast(BinaryIO, file)
            file.flush()
            os.fchmod(file.fileno(), MODE)
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable; some file systems cannot, and then nothing more can be done."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
