"""Reads one document from disk: a regular file, not too large, and not outside the folder it should be in."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from repack_gitops.errors import InvalidInput
from repack_gitops.model.documents import MAX_BYTES


def read_document(path: Path, *, within: Path | None = None) -> bytes:
    """Return the content of ``path``; ``model.documents`` turns it into a document.

    Parameters
    ----------
    path
        A file, or a symbolic link to one.
    within
        The folder that must hold the file, links resolved. A checkout of a pull request is a stranger's: a link in it
        must not make us print a file of this machine.

    Raises
    ------
    InvalidInput
        When there is no such regular file, it cannot be read, is larger than ``MAX_BYTES``, or lies elsewhere.
    """
    if within is not None and not _resolved(path).is_relative_to(_resolved(within)):
        raise InvalidInput(f"{path}: leads out of {within}", hint="Replace the link by the file itself.")
    try:
        # A named pipe that nobody writes to would wait for ever without O_NONBLOCK.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InvalidInput(f"{path}: is not a regular file", hint="Name a YAML or JSON file.")
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path}: cannot be read: {_reason(error)}", hint=_advice(error)) from error
    if len(content) > MAX_BYTES:
        raise InvalidInput(f"{path}: is larger than {MAX_BYTES // 1024**2} MiB", hint="Is this the right file?")
    return content


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(
            f"{path}: cannot be resolved: {error}", hint="Name an existing file; links must not form a loop."
        ) from error


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error).lower()


def _advice(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "Check the name, and the folder that you are in."
    if isinstance(error, PermissionError):
        return "Give this user the right to read it."
    return "Name a YAML or JSON file."
