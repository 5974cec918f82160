"""Documents on disk: only a regular file of bounded size, in the folder where it should be."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.files.documents import read_document
from repack_gitops.model.documents import MAX_BYTES, read_run
from tests.unit.model.broken_documents import RUN


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(RUN)
    assert read_run(read_document(tmp_path / "run.yaml", within=tmp_path), "run.yaml").metadata.name == "nightly-1"


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to("a")
    assert read_document(tmp_path / "b", within=tmp_path) == b"x"


@pytest.mark.parametrize("target", ["../secret", "/etc/hostname", "../repository-2/secret"])
def test_a_link_out_of_the_folder_is_not(tmp_path: Path, target: str) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "repository-2").mkdir()
    (tmp_path / "repository-2/secret").write_text("secret")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "run.yaml").symlink_to(target)
    with pytest.raises(InvalidInput, match=r"run\.yaml: leads out of") as caught:
        read_document(folder / "run.yaml", within=folder)
    assert caught.value.hint == "Replace the link by the file itself."


def test_a_folder_that_is_a_link_leads_out_too(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/run.yaml").write_text("secret")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="leads out of"):
        read_document(tmp_path / "repository/runs/run.yaml", within=tmp_path / "repository")


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_document(tmp_path / "run.yaml")
    assert str(caught.value) == (
        f"{tmp_path}/run.yaml: cannot be read: no such file or directory\n  Check the name, and the folder that you are in."
    )


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InvalidInput, match=r"is not a regular file|is a directory"):
            read_document(path)


def test_links_in_a_loop_and_names_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "loop", tmp_path / "a\0b", tmp_path / ("n" * 300)):
        for within in (None, tmp_path):
            with pytest.raises(InvalidInput, match="cannot be"):
                read_document(path, within=within)


def test_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, flags: int) -> int:  # root may read everything, so a mode of 0 would not do
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(InvalidInput, match=r"run\.yaml: cannot be read: permission denied") as caught:
        read_document(tmp_path / "run.yaml")
    assert caught.value.hint == "Give this user the right to read it."


def test_the_largest_file_and_one_byte_more(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * MAX_BYTES)
    assert len(read_document(tmp_path / "a")) == MAX_BYTES
    (tmp_path / "a").write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(InvalidInput, match="is larger than 8 MiB"):
        read_document(tmp_path / "a")
