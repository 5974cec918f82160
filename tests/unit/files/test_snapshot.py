"""The file door: what kubectl prints is read, everything else is refused with one clear message."""

from __future__ import annotations

import gzip
import io
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.files.snapshot import read_objects, read_snapshot
from tests.unit.files.objects import as_json, as_yaml, cluster, list_of, named, node, pod


def write(folder: Path, content: bytes, name: str = "snapshot") -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


def refusal(folder: Path, content: bytes) -> InvalidInput:
    file = write(folder, content)
    with pytest.raises(InvalidInput) as caught:
        read_snapshot(file)
    assert caught.value.message.startswith(f"{file}: ")
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 600
    return caught.value


WHOLE = list_of(*cluster())
SAME = {
    "JSON": as_json(WHOLE),
    "JSON on one line": as_json(WHOLE).replace(b"\n", b""),
    "YAML": as_yaml(WHOLE),
    "YAML, a stream of Lists": as_yaml(list_of(*cluster()[:2]), list_of(*cluster()[2:])),
    "YAML with comments and empty documents": b"# made by hand\n---\n" + as_yaml(WHOLE) + b"---\n",
    "gzipped JSON": gzip.compress(as_json(WHOLE)),
    "gzipped YAML": gzip.compress(as_yaml(WHOLE)),
    "several gzip members and padding": gzip.compress(as_json(WHOLE)[:100]) + gzip.compress(as_json(WHOLE)[100:]) + b"\0" * 9,
    "with a byte order mark": b"\xef\xbb\xbf" + as_json(WHOLE),
    "UTF-16 from PowerShell": as_json(WHOLE).decode().encode("utf-16"),
}


@pytest.mark.parametrize("case", SAME)
def test_every_way_to_print_it_gives_the_same_snapshot(tmp_path: Path, case: str) -> None:
    snapshot = read_snapshot(write(tmp_path, SAME[case]))
    assert snapshot == read_snapshot(write(tmp_path, as_json(WHOLE), "other"))
    assert (len(snapshot.nodes), len(snapshot.pods), len(snapshot.budgets)) == (1, 1, 1)
    assert list(snapshot.pod_groups) == list({("team", "g")})
    assert snapshot.volcano_jobs["team", "j"].policies[0].action == "RestartTask"
    assert snapshot.pods[0].labels["größe"] == "1e3"


@pytest.mark.parametrize("encode", [as_json, as_yaml])
def test_a_typed_list_tells_what_its_items_are(tmp_path: Path, encode: Any) -> None:
    items = [{k: v for k, v in pod(name).items() if k not in ("kind", "apiVersion")} for name in ("a", "b")]
    file = write(tmp_path, encode({"apiVersion": "v1", "kind": "PodList", "items": items, "metadata": {}}))
    assert [o.metadata.name for o in read_objects(file)] == ["a", "b"]  # type: ignore[attr-defined]


def test_an_empty_list_is_an_empty_cluster(tmp_path: Path) -> None:
    for content in (as_json(list_of()), as_yaml(list_of()), as_json(list_of() | {"items": None})):
        assert read_snapshot(write(tmp_path, content)).nodes == ()


@pytest.mark.parametrize("encode", [as_json, as_yaml])
def test_other_kinds_are_counted(tmp_path: Path, encode: Any) -> None:
    others = [named("v1", "Secret", "s"), named("v1", "Secret", "t"), named("batch/v1", "CronJob", "j")]
    skipped: Counter[str] = Counter()
    assert read_snapshot(write(tmp_path, encode(list_of(node(), *others))), skipped=skipped).nodes[0].name == "n1"
    assert skipped == {"Secret": 2, "CronJob.batch": 1}


def test_annotations_that_nobody_reads_are_dropped_at_once(tmp_path: Path) -> None:
    found = [o.metadata.annotations for o in read_objects(write(tmp_path, as_json(list_of(node(), pod()))))]  # type: ignore[attr-defined]
    assert found == [None, {"scheduling.k8s.io/group-name": "g"}]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(as_json(WHOLE))))
    assert len(read_snapshot(Path("-")).pods) == 1
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    with pytest.raises(InvalidInput, match=r"^standard input: broken JSON"):
        read_snapshot(Path("-"))


def without(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {k: v for k, v in document.items() if k not in keys}


TRUNCATED = "the List is only the first page of a longer one"
#: name -> document, what the message says after the file's name
REFUSED: dict[str, tuple[Any, str]] = {
    "a single object": (pod(), "a single Pod, not a List"),
    "an object without kind": ({"items": []}, "a document without kind, not a List"),
    "a first page": (list_of(metadata={"continue": "abc"}), TRUNCATED),
    "a first page by count": (list_of(metadata={"remainingItemCount": 9}), TRUNCATED),
    "an item without kind": (list_of(without(pod(), "kind")), "item 0: the item has no kind or no apiVersion"),
    "an item without apiVersion": (list_of(node(), without(pod(), "apiVersion")), "item 1: the item has no kind or no"),
    "a List within a List": (list_of(node(), list_of(pod())), "item 1: a List within a List"),
    "an old version": (
        list_of(named("policy/v1beta1", "PodDisruptionBudget", "b")),
        "item 0: PodDisruptionBudget has apiVersion policy/v1beta1; policy/v1 is read",
    ),
    "a wrong type": (
        list_of(node(), pod(priority="high")),
        "item 1: Pod team/p: spec.priority: Expected `int | null`, got `str`",
    ),
    "a wrong type deep inside": (
        list_of(node(), pod(tolerations=[{}, {"key": 3}])),
        "item 1: Pod team/p: spec.tolerations[1].key: Expected `str`, got `int`",
    ),
    "a missing field": (
        list_of(named("v1", "Pod", "p", spec={})),
        "item 0: Pod team/p: spec: Object missing required field `containers`",
    ),
    "an item without metadata": (
        list_of({"apiVersion": "v1", "kind": "Node"}),
        "item 0: Node: Object missing required field `metadata`",
    ),
    "an item that is no object": (list_of(3), "item 0: Expected `object`, got `int`"),
    "the same pod twice": (list_of(node(), pod(), pod()), "item 2: Pod team/p occurs twice"),
    "negative devices": (list_of(node(), pod(cards="-1")), "item 1: Pod team/p: request of nvidia.com/gpu: '-1' is negative"),
    "half a device": (
        list_of(node(), pod(cards="500m")),
        "item 1: Pod team/p: request of nvidia.com/gpu: '500m' is not a whole",
    ),
    "a pod on an absent node": (list_of(pod()), "Pod team/p runs on node n1, which is not in the snapshot"),
    "metadata of a wrong type": (list_of(metadata=3), "Expected `object | null`, got `int`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_json_list_is_refused(tmp_path: Path, case: str) -> None:
    document, message = REFUSED[case]
    error = refusal(tmp_path, as_json(document))
    assert message in error.message
    assert error.hint


@pytest.mark.parametrize("case", [c for c in REFUSED if c not in ("metadata of a wrong type",)])
def test_a_bad_yaml_list_is_refused_in_the_same_words(tmp_path: Path, case: str) -> None:
    document, message = REFUSED[case]
    assert message in refusal(tmp_path, as_yaml(document)).message


def test_a_bad_item_of_a_later_document_names_the_document(tmp_path: Path) -> None:
    error = refusal(tmp_path, as_yaml(list_of(node()), list_of(pod("a"), pod("b", priority="x"))))
    assert "document 2, item 1: Pod team/b: spec.priority" in error.message


BROKEN: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the file is empty"),
    "white space": (b" \n\t\n", "the file is empty"),
    "nothing, gzipped": (gzip.compress(b""), "the file is empty"),
    "JSON cut short": (as_json(WHOLE)[:-300], "broken JSON: "),
    "JSON cut within an item": (as_json(WHOLE)[:900], "broken JSON: "),
    "JSON with a comma too much": (b'{"kind":"List","items":[],}', "broken JSON: "),
    "two JSON documents": (as_json(WHOLE) + as_json(WHOLE), "broken JSON: "),
    "a JSON array": (b"[1, 2]", "broken JSON: Expected `object`, got `array`"),
    "text": (b"hello world\n" * 9, "neither JSON nor the YAML of a List"),
    "an error of kubectl": (b"error: the server doesn't have a resource type\n", "neither JSON nor the YAML of a List"),
    "YAML cut short": (as_yaml(WHOLE)[:700], ""),
    "broken YAML": (b"apiVersion: v1\nkind: List\nitems:\n- {a: [}\n", "broken YAML: line 4, column "),
    "YAML with a tab": (b"apiVersion: v1\nkind: List\nitems:\n\t- a\n", "broken YAML: line 4, column 1: found character"),
    "YAML with an alias": (
        b"apiVersion: v1\nkind: List\nx: &a [1]\ny: *a\nitems: []\n",
        "broken YAML: line 4, column 4: an alias",
    ),
    "YAML with a Python object": (b"kind: !!python/object:os.system x\nitems: []\n", "could not determine a constructor"),
    "a YAML document that is no mapping": (b"- a\n---\nkind: List\n", "a document that is no mapping, not a List"),
    "binary": (b"\x7fELF\0\0\0" * 99, "binary data, neither JSON nor YAML"),
    "gzip cut short": (gzip.compress(as_json(WHOLE))[:-30], "the gzip data ends after"),
    "broken gzip": (gzip.compress(as_json(WHOLE))[:60] + b"xxxxxxxxxxxxxxx", "broken gzip data"),
    "gzip and then garbage": (gzip.compress(as_json(WHOLE)) + b"garbage", "broken gzip data"),
    "broken UTF-16": (b"\xff\xfe{\0}", "broken UTF-16 text"),
    "broken UTF-8 in JSON": (as_json(list_of(node())).replace(b'"n1"', b'"n\xff"'), "item 0: "),
    "deep JSON": (b'{"kind":"List","items":' + b"[" * 100_000, "broken JSON: "),
    "a kind that is a novel": (b"kind: |\n" + b"  word word\n" * 1000 + b"items: []\n", "a single word word word"),
    "deep YAML": (b"kind: List\nitems: " + b"[" * 600 + b"]" * 600, "YAML nested too deeply"),
    "very deep YAML": (b"kind: List\nitems: " + b"[" * 20_000, "YAML"),
    "YAML with a key twice": (b"kind: List\nitems: []\nitems: []\n", "'items' occurs twice in one List"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused(tmp_path: Path, case: str) -> None:
    content, message = BROKEN[case]
    error = refusal(tmp_path, content)
    assert message in error.message
    assert error.hint


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InvalidInput, match=r"cannot be read: (No such file|Is a directory)"):
            read_snapshot(path)


@pytest.mark.parametrize("garbage", [b"k9$ @zz\n", b"kind: x\n", b"a: b\n- c\n"])
def test_fifty_megabytes_of_garbage_are_refused_quickly(tmp_path: Path, garbage: bytes) -> None:
    started = time.process_time()
    refusal(tmp_path, garbage * (50 * 2**20 // len(garbage)))
    assert time.process_time() - started < 10
