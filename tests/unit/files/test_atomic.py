"""Files are the old ones or the new ones."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.files.atomic import replacing


def write_file(path: Path, content: bytes | str) -> None:
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def fail_half_way(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half of it")
        raise KeyboardInterrupt


def test_bytes_and_text_are_written(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_file(file, b"\xff")
    assert file.read_bytes() == b"\xff"
    write_file(file, "größe\n")
    assert file.read_bytes() == "größe\n".encode()
    assert list(tmp_path.iterdir()) == [file]


def test_the_mode_does_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_file(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, old: bytes | None) -> None:
    file = tmp_path / "a"
    if old is not None:
        file.write_bytes(old)
    with pytest.raises(KeyboardInterrupt):
        fail_half_way(file)
    assert [f.read_bytes() for f in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "a"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match=r"cannot write .*/a: No space left on device"):
        write_file(file, b"new")
    assert [f.read_bytes() for f in tmp_path.iterdir()] == [b"old"]


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="it is a directory"):
        write_file(tmp_path, b"x")


def test_a_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file or directory") as caught:
        write_file(tmp_path / "none/a", b"x")
    assert "folder" in caught.value.hint


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real/file")
    write_file(link, b"x")
    assert link.is_symlink()
    assert (tmp_path / "real/file").read_bytes() == b"x"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, b"x")
    reader.join()
    assert read == [b"x"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
