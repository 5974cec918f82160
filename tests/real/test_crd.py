"""The CRD on a real API server: what it accepts, refuses and shows, through real kubectl.

The control plane is this file's own. Another test's sweep may delete finished runs, and these are meant to stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repack_gitops.model.documents import InvalidDocument, read_run
from repack_gitops.model.run import RepackRun, RunMetadata, RunSpec, RunStatus, new_run
from repack_gitops.model.syntax.scalars import read_word
from repack_gitops.model.writing import to_yaml
from tests.real.crd_cases import COMPARISON, JSONPATHS, MESSAGE, REFUSED, Object
from tests.testbed.control_plane import ControlPlane
from tests.testbed.parts import Parts
from tests.unit.model.broken_documents import RUN
from tests.unit.model.strategies import NASTY, TEXT, filled

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "tests/unit/model/guide"
CRD = ROOT / "schemas/repack.volcano.sh_repackruns.yaml"
NAME = "repackruns.repack.volcano.sh"


@pytest.fixture(scope="module")
def plane(testbed_parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(testbed_parts, tmp_path_factory.mktemp("crd") / "bed", volcano=False) as running:
        running.kubectl("apply", "-f", str(CRD))
        running.kubectl("wait", "--for=condition=Established", "--timeout=60s", f"crd/{NAME}")
        yield running


def run_object(name: str, **spec: object) -> Object:
    """Return a small RepackRun; a field of ``spec`` that is None is left out."""
    fields = {"mode": "DryRun", "goals": [{"resource": "nvidia.com/gpu"}], **spec}
    document = {"apiVersion": "repack.volcano.sh/v1alpha1", "kind": "RepackRun", "metadata": {"name": name}}
    return {**document, "spec": {field: value for field, value in fields.items() if value is not None}}


def create(plane: ControlPlane, document: Object) -> str:
    return plane.kubectl("create", "--validate=strict", "-f", "-", stdin=json.dumps(document))


def write_status(plane: ControlPlane, name: str, status: Object) -> None:
    stored = plane.get(f"repackrun/{name}")
    replaced = json.dumps({**(stored or {}), "status": status})
    plane.kubectl("replace", "--subresource=status", "--validate=strict", "-f", "-", stdin=replaced)


def with_status(plane: ControlPlane, run: str, status: str) -> str:
    """Make sure that the guide's ``run`` exists with the guide's ``status``, and return its name."""
    document = yaml.safe_load((GUIDE / f"{run}.yaml").read_text())
    plane.kubectl("apply", "--validate=strict", "-f", str(GUIDE / f"{run}.yaml"))
    name = str(document["metadata"]["name"])
    write_status(plane, name, yaml.safe_load((GUIDE / f"{status}.yaml").read_text())["status"])
    return name


# ---- the definition ----
def test_it_is_established_and_structural(plane: ControlPlane) -> None:
    status = (plane.get(f"crd/{NAME}") or {})["status"]
    conditions = {condition["type"]: condition["status"] for condition in status["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert status["acceptedNames"]["shortNames"] == ["rpr"]


def test_it_is_accepted_strictly_and_applying_it_again_changes_nothing(plane: ControlPlane) -> None:
    assert "unchanged" in plane.kubectl("apply", "--validate=strict", "-f", str(CRD))


@pytest.mark.parametrize("word", ["repackrun", "repackruns", "rpr", "repackruns.repack.volcano.sh", "volcano"])
def test_every_name_finds_it(plane: ControlPlane, word: str) -> None:
    plane.apply(run_object("by-name"))
    assert "by-name" in plane.kubectl("get", word)


def test_the_singular_cannot_become_a_short_name(plane: ControlPlane) -> None:
    """It would be redundant, and an update to a CRD that lists it is refused; the spec's wish is served by the singular."""
    definition = yaml.safe_load(CRD.read_text())
    names = {"plural": "shortruns", "singular": "shortrun", "kind": "ShortRun", "listKind": "ShortRunList"}
    definition["metadata"]["name"] = "shortruns.repack.volcano.sh"
    for short_names, accepted in ((["sr"], "True"), (["sr", "shortrun"], "False")):
        definition["spec"]["names"] = {**names, "shortNames": short_names}
        plane.apply(definition)
        path = '{.status.conditions[?(@.type=="NamesAccepted")].status}'
        plane.kubectl("wait", f"--for=jsonpath={path}={accepted}", "--timeout=30s", "crd/shortruns.repack.volcano.sh")
    path = '{.status.conditions[?(@.type=="NamesAccepted")].message}'
    assert (
        plane.kubectl("get", "crd", "shortruns.repack.volcano.sh", "-o", f"jsonpath={path}") == '"shortrun" is already in use'
    )
    plane.kubectl("delete", "crd", "shortruns.repack.volcano.sh")


def test_explain_shows_the_descriptions(plane: ControlPlane) -> None:
    assert "Most distinct PodGroups touched." in plane.kubectl("explain", "repackrun.spec.maxPerRun.podGroups")


# ---- what is refused ----
@pytest.mark.parametrize("name", REFUSED)
def test_refused(plane: ControlPlane, name: str) -> None:
    spec, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message):
        create(plane, run_object("refused", **spec))


def test_a_namespace_means_nothing_to_the_server_but_ours_is_an_error(plane: ControlPlane) -> None:
    with pytest.raises(InvalidDocument, match=r"metadata\.namespace: is an unknown field"):
        read_run(RUN.replace("  name: nightly-1\n", "  name: nightly-1\n  namespace: default\n"), "a.yaml")


def test_a_line_without_value_would_widen_the_scope_and_only_we_notice(plane: ControlPlane) -> None:
    text = RUN + "  scope:\n    nodes:\n      include:\n"
    with pytest.raises(InvalidDocument, match=r"spec\.scope\.nodes\.include: has no value"):
        read_run(text, "a.yaml")
    plane.kubectl("apply", "--validate=strict", "-f", "-", stdin=text)
    assert (plane.get("repackrun/nightly-1") or {})["spec"]["scope"] == {"nodes": {}}


# ---- the spec does not change ----
@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"mode": "Execute"}},
        {"spec": {"ttlSecondsAfterFinished": 60}},
        {"spec": {"scope": {"nodes": {"exclude": {"names": ["a"]}}}}},
        {"spec": {"goals": [{"resource": "amd.com/gpu"}]}},
    ],
)
def test_the_spec_is_immutable(plane: ControlPlane, patch: Object) -> None:
    plane.apply(run_object("immutable"))
    with pytest.raises(RuntimeError, match="spec is immutable; create a new RepackRun under another name"):
        plane.kubectl("patch", "repackrun", "immutable", "--type=merge", "-p", json.dumps(patch))


def test_the_spec_cannot_be_taken_away_and_brought_back(plane: ControlPlane) -> None:
    plane.apply(run_object("immutable"))
    with pytest.raises(RuntimeError, match="spec: Required value"):
        plane.kubectl("patch", "repackrun", "immutable", "--type=json", "-p", '[{"op": "remove", "path": "/spec"}]')


def test_labels_may_change(plane: ControlPlane) -> None:
    plane.apply(run_object("labelled"))
    assert "labeled" in plane.kubectl("label", "repackrun", "labelled", "change-ticket=CHG1")


def test_the_largest_spec_stays_within_what_rules_may_cost(plane: ControlPlane) -> None:
    expressions = [{"key": f"k{i}", "operator": "In", "values": [f"v{j}" for j in range(256)]} for i in range(64)]
    names = [f"n{i:04}.{'a' * 60}" for i in range(1024)]
    groups = {"selector": {"matchExpressions": expressions}, "names": [f"team/{name}" for name in names]}
    nodes = {"selector": {"matchExpressions": expressions}, "names": names}
    scope = {"podGroups": {"include": groups, "exclude": groups}, "nodes": {"include": nodes, "exclude": nodes}}
    budget = {"resources": {f"d{i}.{'a' * 60}.com/gpu": 1 for i in range(16)}}
    create(plane, run_object("largest", scope=scope, maxPerRun=budget))
    plane.kubectl("label", "repackrun", "largest", "a=b")
    plane.kubectl("delete", "repackrun", "largest")


# ---- status ----
def test_the_status_is_written_through_its_subresource_only(plane: ControlPlane) -> None:
    create(plane, {**run_object("journal"), "status": {"phase": "Running"}})
    assert "status" not in (plane.get("repackrun/journal") or {})
    write_status(plane, "journal", {"phase": "Running", "message": "planning"})
    stored = plane.get("repackrun/journal") or {}
    assert stored["status"] == {"phase": "Running", "message": "planning"}
    assert stored["metadata"]["generation"] == 1


def test_a_write_of_the_status_cannot_change_the_spec(plane: ControlPlane) -> None:
    plane.apply(run_object("journal-2"))
    patch = json.dumps({"spec": {"mode": "Execute"}, "status": {"phase": "Pending"}})
    plane.kubectl("patch", "repackrun", "journal-2", "--subresource=status", "--type=merge", "-p", patch)
    stored = plane.get("repackrun/journal-2") or {}
    assert (stored["spec"]["mode"], stored["status"]["phase"]) == ("DryRun", "Pending")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"phase": "Done"}, 'status.phase: Unsupported value: "Done"'),
        ({"message": "no phase"}, "status.phase: Required value"),
        ({"phase": "Running", "startTime": "yesterday"}, "startTime in body must be of type date-time"),
        ({"phase": "Running", "cards": 1}, 'unknown field "status.cards"'),
    ],
)
def test_a_status_that_is_wrong_is_refused(plane: ControlPlane, status: Object, message: str) -> None:
    plane.apply(run_object("journal-3"))
    with pytest.raises(RuntimeError, match=message):
        write_status(plane, "journal-3", status)


def test_conditions_are_one_per_type(plane: ControlPlane) -> None:
    plane.apply(run_object("journal-4"))
    condition = {
        "type": "Complete",
        "status": "True",
        "reason": "A",
        "message": "",
        "lastTransitionTime": "2026-07-30T10:00:00Z",
    }
    with pytest.raises(RuntimeError, match=r"status\.conditions\[1\]: Duplicate value"):
        write_status(plane, "journal-4", {"phase": "Succeeded", "conditions": [condition, condition]})


# ---- what our structs write, kubectl and the server read ----
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=filled(RunSpec), status=filled(RunStatus), number=st.integers(0, 10**9))
def test_every_field_of_our_structs_is_a_field_of_the_server(
    plane: ControlPlane, spec: RunSpec, status: RunStatus, number: int
) -> None:
    name = f"filled-{number}"
    conditions = {condition.type: condition for condition in status.conditions}
    status = msgspec.structs.replace(status, conditions=list(conditions.values()))
    run = new_run(RunMetadata(name=name), spec, status)
    plane.kubectl("create", "--validate=strict", "-f", "-", stdin=to_yaml(run))
    write_status(plane, name, msgspec.to_builtins(status))
    stored = msgspec.json.decode(plane.kubectl("get", "repackrun", name, "-o", "json", "--show-managed-fields"), type=RepackRun)
    assert (stored.spec, stored.status) == (spec, status)
    plane.kubectl("delete", "repackrun", name)


def test_server_side_apply_round_trip(plane: ControlPlane) -> None:
    text = (GUIDE / "complete-execute.yaml").read_text()
    run = read_run(text, "a.yaml")
    run = msgspec.structs.replace(run, metadata=RunMetadata(name="applied", labels=run.metadata.labels))
    for _ in range(2):
        plane.kubectl("apply", "--server-side", "--field-manager=repack", "--validate=strict", "-f", "-", stdin=to_yaml(run))
    stored = read_run(plane.kubectl("get", "rpr", "applied", "-o", "json", "--show-managed-fields"), "a.json")
    assert stored.spec == run.spec
    assert stored.metadata.labels == run.metadata.labels
    assert stored.metadata.generation == 1
    assert [entry["manager"] for entry in stored.metadata.managed_fields] == ["repack"]


def test_kubectl_reads_words_as_we_do(plane: ControlPlane) -> None:
    """Where we do not warn, kubectl must read the same; all words of up to three of these characters."""
    made = ("".join(letters) for size in (1, 2, 3) for letters in product("0129_.:+-eExobynOf~<=", repeat=size))
    longer = [
        "true",
        "False",
        "NULL",
        "yes",
        "On",
        "0b101",
        "1_000",
        "12:30:45",
        "2026-07-30",
        "2026-7-3 1:2:3",
        "1e400",
        "1.5e+3",
        ".inf",
    ]
    words = [word for word in [*made, *longer, *NASTY] if _is_one_word(word) and read_word(word)[1] is None]
    text = RUN + "  scope:\n    nodes:\n      include:\n        names:\n" + "".join(f"          - {word}\n" for word in words)
    read = json.loads(plane.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", stdin=text))
    theirs = read["spec"]["scope"]["nodes"]["include"]["names"]
    assert len(words) > 3000
    assert [(w, t) for w, t in zip(words, theirs, strict=True) if t != read_word(w)[0]] == []


def _is_one_word(text: str) -> bool:
    """Tell whether ``text`` is a plain scalar, that is: it looks the same written in a list."""
    try:
        events = list(yaml.parse(f"- {text}\n", Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        return False
    scalars = [event for event in events if isinstance(event, yaml.ScalarEvent)]
    plain = len(events) == 7 and len(scalars) == 1 and scalars[0].implicit[0] and scalars[0].value == text
    return bool(plain and text)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts=st.lists(TEXT, min_size=1, max_size=40))
def test_kubectl_reads_what_we_write(plane: ControlPlane, texts: list[str]) -> None:
    annotations = {f"k{i}": text for i, text in enumerate([*texts, *NASTY])}
    document = {**run_object("a"), "metadata": {"name": "a", "annotations": annotations}}
    text = to_yaml(document)
    read = json.loads(plane.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", stdin=text))
    assert read["metadata"]["annotations"] == annotations


# ---- the guide ----
@pytest.mark.parametrize("name", ["npu-dryrun", "scoped-dryrun", "guarded-dryrun", "execute", "complete-execute"])
def test_every_run_of_the_guide_is_accepted(plane: ControlPlane, name: str) -> None:
    plane.kubectl("apply", "--validate=strict", "-f", str(GUIDE / f"{name}.yaml"))
    run = read_run((GUIDE / f"{name}.yaml").read_text(), name)
    stored = plane.kubectl("get", "repackrun", run.metadata.name, "-o", "json")
    assert read_run(stored, "a.json").spec == run.spec


@pytest.mark.parametrize(("run", "status", "path", "expected"), JSONPATHS.values(), ids=JSONPATHS)
def test_the_guides_jsonpath(plane: ControlPlane, run: str, status: str, path: str, expected: str) -> None:
    name = with_status(plane, run, status)
    assert plane.kubectl("get", "repackrun", name, "-o", f"jsonpath={path}") == expected


def test_what_our_structs_write_answers_the_guides_jsonpath(plane: ControlPlane) -> None:
    """Fields at their default are left out of what we write, so a zero must never be one of the guide's answers."""
    texts = [(GUIDE / f"{name}.yaml").read_text() for name in ("execute", "execute-status")]
    run = read_run("".join(texts).replace("ascend-execute-001", "ours"), "a.yaml")
    plane.kubectl("apply", "-f", "-", stdin=to_yaml(new_run(run.metadata, run.spec)))
    write_status(plane, "ours", msgspec.to_builtins(run.status))
    assert plane.kubectl("get", "repackrun", "ours", "-o", f"jsonpath={COMPARISON}").startswith("plan: frag 33% -> 0%, freed 1")


def test_the_table(plane: ControlPlane) -> None:
    name = with_status(plane, "execute", "execute-status")
    header, line = plane.kubectl("get", "repackrun", name).splitlines()
    assert header.split() == ["NAME", "MODE", "RESOURCE", "PHASE", "PLAN-FREED", "ACTUAL-FREED", "AGE"]
    assert line.split()[:-1] == [name, "Execute", "huawei.com/ascend-1980", "Succeeded", "1", "1"]
    assert re.fullmatch(r"\d+[smhd].*", line.split()[-1])
    wide = plane.kubectl("get", "rpr", name, "-o", "wide").splitlines()
    assert wide[0].split()[-1] == "MESSAGE"
    assert wide[1].endswith(MESSAGE)


def test_the_guides_other_commands(plane: ControlPlane) -> None:
    name = with_status(plane, "execute", "execute-status")
    assert "Victim Pod Name:" in plane.kubectl("describe", "repackrun", name)
    assert read_run(plane.kubectl("get", "repackrun", name, "-o", "yaml"), "a.yaml").status is not None
    assert name in plane.kubectl("get", "repackrun", "-o", "wide")
    assert name in plane.kubectl("get", "repackrun", name, "-w", "--request-timeout=2s", check=False)
