"""Bounds of what is read."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.files import contents
from repack_gitops.files.contents import read_content


def test_the_decoded_size_is_bounded(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(b"x" * 3000)
    packed.write_bytes(gzip.compress(b"x" * 3000))
    for file in (plain, packed):
        assert len(read_content(file, max_bytes=3000)) == 3000
        with pytest.raises(InvalidInput, match="more than 2999 bytes"):
            read_content(file, max_bytes=2999)


def test_a_bomb_is_noticed_while_it_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "RATIO_FROM", 2**21)
    file = tmp_path / "bomb"
    file.write_bytes(gzip.compress(b"\n" * 2**24))
    with pytest.raises(InvalidInput, match="unpacks to more than 300 times its size"):
        read_content(file)


def test_a_small_file_may_shrink_as_much_as_it_likes(tmp_path: Path) -> None:
    file = tmp_path / "small"
    file.write_bytes(gzip.compress(b"{" * 2**20))
    assert len(read_content(file)) == 2**20


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(b"{}" * 1000),))
    writer.start()
    assert len(read_content(pipe)) == 2000
    writer.join()
