"""What ``repack snapshot`` writes, read back."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import pytest
import yaml

from repack_gitops.errors import InvalidInput
from repack_gitops.files.snapshot import read_objects, read_snapshot, write_snapshot
from repack_gitops.model.kubernetes import Wire
from tests.unit.files.objects import as_json, cluster, list_of, node, pod


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "source.json"
    more = [node("n2"), pod("z", "a"), pod("a", "z"), pod("m", on="n2")]
    file.write_bytes(as_json(list_of(*cluster(), *more)))
    return file


@pytest.fixture
def objects(source: Path) -> list[Wire]:
    return list(read_objects(source))


@pytest.mark.parametrize("name", ["s.json", "s.yaml", "s.yml", "s.json.gz", "s.yaml.gz", "s"])
def test_reading_it_back_gives_an_equal_snapshot(tmp_path: Path, source: Path, objects: list[Wire], name: str) -> None:
    assert write_snapshot(tmp_path / name, objects) == len(objects)
    assert read_snapshot(tmp_path / name) == read_snapshot(source)
    assert list(read_objects(tmp_path / name)) == sorted(objects, key=lambda o: list(read_objects(tmp_path / name)).index(o))


@pytest.mark.parametrize("name", ["s.json", "s.yaml", "s.json.gz", "s.yaml.gz"])
def test_the_order_of_the_input_does_not_matter(tmp_path: Path, objects: list[Wire], name: str) -> None:
    write_snapshot(tmp_path / name, objects)
    before = (tmp_path / name).read_bytes()
    write_snapshot(tmp_path / name, random.Random(3).sample(objects, len(objects)))
    assert (tmp_path / name).read_bytes() == before


def test_objects_are_ordered_by_kind_namespace_and_name(tmp_path: Path, objects: list[Wire]) -> None:
    write_snapshot(tmp_path / "s.json", objects)
    items = json.loads((tmp_path / "s.json").read_text())["items"]
    found = [(i["apiVersion"], i["kind"], i["metadata"].get("namespace"), i["metadata"]["name"]) for i in items]
    assert found == [
        ("v1", "Node", None, "n1"),
        ("v1", "Node", None, "n2"),
        ("v1", "Pod", "a", "z"),
        ("v1", "Pod", "team", "m"),
        ("v1", "Pod", "team", "p"),
        ("v1", "Pod", "z", "a"),
        ("scheduling.volcano.sh/v1beta1", "PodGroup", "team", "g"),
        ("policy/v1", "PodDisruptionBudget", "team", "b"),
        ("batch.volcano.sh/v1alpha1", "Job", "team", "j"),
    ]


def test_yaml_and_json_say_the_same(tmp_path: Path, objects: list[Wire]) -> None:
    write_snapshot(tmp_path / "s.json", objects)
    write_snapshot(tmp_path / "s.yaml", objects)
    assert yaml.safe_load((tmp_path / "s.yaml").read_text()) == json.loads((tmp_path / "s.json").read_text())


def test_one_object_a_line(tmp_path: Path, objects: list[Wire]) -> None:
    write_snapshot(tmp_path / "s.json", objects)
    assert len((tmp_path / "s.json").read_text().splitlines()) == len(objects) + 2


def test_secrets_are_not_written(tmp_path: Path, objects: list[Wire]) -> None:
    for name in ("s.json", "s.yaml"):
        write_snapshot(tmp_path / name, objects)
        assert "secret" not in (tmp_path / name).read_text()
        assert "PASSWORD" not in (tmp_path / name).read_text()


def test_a_gzip_header_holds_neither_time_nor_name(tmp_path: Path, objects: list[Wire]) -> None:
    write_snapshot(tmp_path / "s.json.gz", objects)
    header = (tmp_path / "s.json.gz").read_bytes()[:10]
    assert (header[3], header[4:8]) == (0, b"\0\0\0\0")
    assert json.loads(gzip.decompress((tmp_path / "s.json.gz").read_bytes()))["kind"] == "List"


def test_a_stream_is_written_to_and_the_layout_can_be_named(objects: list[Wire]) -> None:
    plain, as_yaml = io.BytesIO(), io.BytesIO()
    write_snapshot(plain, objects)
    write_snapshot(as_yaml, objects, layout="yaml")
    assert yaml.safe_load(as_yaml.getvalue()) == json.loads(plain.getvalue())


def test_the_layout_beats_the_suffix(tmp_path: Path, objects: list[Wire]) -> None:
    write_snapshot(tmp_path / "s.json", objects, layout="yaml")
    assert (tmp_path / "s.json").read_text().startswith("apiVersion: v1\n")


def test_an_empty_cluster_can_be_written(tmp_path: Path) -> None:
    for name in ("s.json", "s.yaml"):
        assert write_snapshot(tmp_path / name, []) == 0
        assert read_snapshot(tmp_path / name).nodes == ()


def test_a_list_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    def failing() -> list[Wire]:
        raise InvalidInput("no")

    file = tmp_path / "s.json"
    file.write_text("old")
    with pytest.raises(InvalidInput, match="no"):
        write_snapshot(file, (o for o in failing()))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
