"""The published schemas are those of the structs, are valid, and agree with our own reader."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from repack_gitops.model.formats import FORMATS
from repack_gitops.model.published import published_files
from repack_gitops.model.schema import KINDS, file_name, json_schema
from tests.unit.model.broken_documents import EDITS, edited
from tests.unit.model.strategies import documents

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
EXAMPLES = sorted(
    path for folder in ("guide", "examples") for path in (HERE / folder).glob("*.yaml") if "status" not in path.name
)


def published(kind: str) -> Any:
    return json.loads((ROOT / "schemas" / file_name(kind)).read_text(encoding="utf-8"))


def test_the_files_are_in_step() -> None:
    for name, text in published_files().items():
        assert (ROOT / "schemas" / name).read_text(encoding="utf-8") == text, "run scripts/generate"


def test_generate_checks_without_writing() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/generate", "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_generate_finds_a_stale_file(tmp_path: Path) -> None:
    script = (
        (ROOT / "scripts/generate")
        .read_text()
        .replace("SCHEMAS = Path(__file__).resolve().parent.parent", f"SCHEMAS = Path({str(tmp_path)!r})")
    )
    (tmp_path / "schemas").mkdir()
    (tmp_path / "generate.py").write_text(script)
    command = [sys.executable, str(tmp_path / "generate.py")]
    stale = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert stale.returncode == 1
    assert "schemas/guardrails.schema.json: is stale; run scripts/generate" in stale.stdout
    assert not list((tmp_path / "schemas").iterdir())
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    assert subprocess.run([*command, "--check"], check=False, capture_output=True, cwd=ROOT).returncode == 0


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_valid_and_explain_themselves(kind: str) -> None:
    schema = published(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].endswith(file_name(kind))
    assert schema["title"] == kind
    assert schema["description"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_is_closed_and_null_is_no_value(kind: str) -> None:
    parts = list(_parts(json_schema(kind)))
    assert not [part for part in parts if part.get("type") == "null"]
    assert all("additionalProperties" in part for part in parts if part.get("type") == "object")


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_has_a_rule(kind: str) -> None:
    assert {part["format"] for part in _parts(json_schema(kind)) if isinstance(part.get("format"), str)} <= set(FORMATS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_validates(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    assert list(Draft202012Validator(published(document["kind"])).iter_errors(document)) == []


def test_the_guides_statuses_validate() -> None:
    for run, status in (("guarded-dryrun", "dryrun-status"), ("complete-execute", "execute-status")):
        document = yaml.safe_load("".join((HERE / f"guide/{name}.yaml").read_text() for name in (run, status)))
        assert list(Draft202012Validator(published("RepackRun")).iter_errors(document)) == []


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=list(HealthCheck), max_examples=40, deadline=None)
@given(data=st.data())
def test_what_our_structs_encode_validates(kind: str, data: st.DataObject) -> None:
    document = msgspec.to_builtins(data.draw(documents(kind)))
    assert list(Draft202012Validator(json_schema(kind)).iter_errors(document)) == []


# An editor knows the schema but not our formats; these mistakes only our reader finds.
ONLY_OURS = {
    *(
        "field of another level",
        "name with a line break",
        "cpu",
        "memory",
        "no slash",
        "resource of Kubernetes",
        "resource of a quota",
    ),
    *(
        "label without quotes",
        "budget of cpu",
        "time of a status",
        "minute 61",
        "four cron fields",
        "six cron fields",
        "@daily",
    ),
    *(
        "31 February",
        "hashed cron field",
        "cron without quotes",
        "time zone",
        "time zone of the machine",
        "suspend: yes",
        "no duration",
    ),
    *("27 years", "pattern of a ticket", "window", "credentials", "url of SSH", "branch that is an option"),
}


@pytest.mark.parametrize("name", [name for name in EDITS if name not in ONLY_OURS])
def test_an_editor_finds_the_mistake_too(name: str) -> None:
    document = yaml.safe_load(edited(name))
    kind = (
        "RepackRun" if "RepackRun" in EDITS[name][0] else "RepackPolicy" if "Policy" in EDITS[name][0] else "RepositoryConfig"
    )
    assert not Draft202012Validator(published(kind)).is_valid(document)


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for name, part in schema.items():
            # Below "properties" stand names of fields, not keywords.
            for inner in part.values() if name in ("properties", "$defs") else [part]:
                yield from _parts(inner)
    elif isinstance(schema, list):
        for part in schema:
            yield from _parts(part)
