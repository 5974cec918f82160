"""Documents with mistakes that people make, each with the answer that ``broken_documents.txt`` holds.

``python -m tests.unit.model.broken_documents`` writes that file anew; read the difference before keeping it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repack_gitops.model.documents import InvalidDocument, parse, read_any

GOLDEN = Path(__file__).with_suffix(".txt")

RUN = """\
apiVersion: repack.volcano.sh/v1alpha1
kind: RepackRun
metadata:
  name: nightly-1
spec:
  mode: DryRun
  goals:
    - resource: nvidia.com/gpu
"""
POLICY = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepackPolicy
metadata:
  name: nightly
spec:
  trigger:
    cronSchedule: 0 2 * * *
  runTemplate:
    spec:
      goals:
        - resource: nvidia.com/gpu
"""
REPOSITORY = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepositoryConfig
metadata:
  name: fleet
spec:
  cluster:
    name: gpu-west
  forge:
    kind: none
"""
_EXPRESSION = "  scope: {podGroups: {include: {selector: {matchExpressions: [{key: a, %s}]}}}}\n"
_LABELS = "metadata:\n  labels: {%s}\n"

#: Text that no kind of document can be.
TEXTS: dict[str, str | bytes] = {
    "empty": "",
    "only comments": "# nothing\n",
    "only a line of dashes": "---\n",
    "null": "null\n",
    "second document": "a: 1\n---\nb: 2\n",
    "empty second document": "a: 1\n---\n",
    "unclosed quote": "a: 'x\nb: 1\n",
    "unclosed bracket": "a: [1, 2\nb: 1\n",
    "colon in a value": "a: b: c\n",
    "bad indentation": "a:\n  b: 1\n c: 2\n",
    "tab as indentation": "a:\n\tb: 1\n",
    "value begins with @": "a: @b\n",
    "value begins with *": "a: */5 * * * *\n",
    "duplicate key": "a: 1\nb: 2\na: 3\n",
    "duplicate key in braces": "a: {b: 1, b: 2}\n",
    "duplicate mapping": "a: {b: 1}\nc: 2\na: {b: 1}\n",
    "number as key": "a: {1: x}\n",
    "boolean as key": "true: x\n",
    "null as key": "? \n: x\n",
    "list as key": "? [a]\n: x\n",
    "alias as key": "a: &x b\n*x : c\n",
    "on as key": "on: {push: x}\n",
    "merge key": "a: &x {b: c}\nd:\n  <<: *x\n",
    "tag of Python": "a: !!python/object/apply:os.system ['id']\n",
    "tag on a mapping": "a: !Ref {b: c}\n",
    "tag of an integer": "a: !!int '5'\n",
    "alias without anchor": "a: *x\n",
    "alias of itself": "a: &x [b, *x]\n",
    "yes": "a: yes\n",
    "off": "a: off\n",
    "n": "a: n\n",
    "leading zero": "a: 012\n",
    "octal": "a: 0o17\n",
    "hexadecimal": "a: 0x1F\n",
    "underscores": "a: 1_000\n",
    "base 60": "a: 1:30\n",
    "fraction": "a: 1.10\n",
    "exponent": "a: 1e3\n",
    "infinity": "a: .inf\n",
    "date": "a: 2026-07-30\n",
    "timestamp": "a: 2026-07-30T10:00:00Z\n",
    "equals sign": "a: =\n",
    "too many digits": "a: 12345678901234567890\n",
    "NUL in quotes": 'a: "x\\0y"\n',
    "mark that turns text": "a: x\u202ey\n",
    "line separator": "a: x\u2028y\n",
    "control character": "a: x\x07y\n",
    "half a character": "a: \ud800\n",
    "byte order mark in text": "\ufeffa: 1\n",
    "byte order mark": b"\xef\xbb\xbfa: 1\n",
    "UTF-16": b"\xff\xfea\x00",
    "UTF-16, big endian": b"\xfe\xff\x00a",
    "Latin-1": b"a: 1\nname: M\xfcller\n",
    "ELF": b"\x7fELF\x02\x00\x00",
    "gzip": b"\x1f\x8b\x08\x00",
    "three problems and then no YAML": "a: yes\nb: 012\na: 1\nb: [\n",
}
JSON: dict[str, str] = {
    "truncated": '{"a": [1, 2',
    "trailing comma": '{"a": 1,}',
    "NaN": '{"a": NaN}',
    "single quotes": "{'a': 1}",
    "fraction": '{"a": 1.5}',
    "duplicate key": '{"a": 1,\n "a": 2}',
    "half a character": '{"a": "\\ud83d"}',
    "YAML": "a: 1\n",
    "two values": '{"a": 1} {"b": 2}',
}
#: What stands instead of what in a valid document; an empty "what" is the end of it.
EDITS: dict[str, tuple[str, str, str]] = {
    "a list": (RUN, RUN, "- a\n"),
    "a word": (RUN, RUN, "hello\n"),
    "no kind": (RUN, "kind: RepackRun\n", ""),
    "unknown kind": (RUN, "RepackRun", "RepackRunn"),
    "kind is a list": (RUN, "RepackRun", "[a]"),
    "apiVersion": (RUN, "v1alpha1", "v1"),
    "unknown field": (RUN, "mode:", "mdoe:"),
    "field in upper case": (RUN, "", "  MaxPerRun: {}\n"),
    "field one level too high": (RUN, "", "  minFragImprovementPercent: 10\n"),
    "field of another level": (RUN, "  mode: DryRun", "mode: DryRun"),
    "field like no other": (RUN, "", "  zebra: 1\n"),
    "namespace": (RUN, "  name: nightly-1\n", "  name: nightly-1\n  namespace: default\n"),
    "generateName": (RUN, "  name: nightly-1", "  generateName: nightly-"),
    "no mode": (RUN, "  mode: DryRun\n", ""),
    "only the kind": (RUN, RUN, "kind: RepackRun\n"),
    "mode in lower case": (RUN, "DryRun", "dryrun"),
    "unknown mode": (RUN, "DryRun", "Simulate"),
    "mode without value": (RUN, "mode: DryRun", "mode:"),
    "name": (RUN, "nightly-1", "Nightly_1"),
    "name with a line break": (RUN, "nightly-1", '"nightly-1\\n"'),
    "name as number": (RUN, "nightly-1", "12"),
    "long name": (RUN, "nightly-1", "n" * 300),
    "no goals": (RUN, "goals:\n    - resource: nvidia.com/gpu", "goals: []"),
    "two goals": (RUN, "", "    - resource: amd.com/gpu\n"),
    "goals as mapping": (RUN, "    - resource", "      resource"),
    "cpu": (RUN, "nvidia.com/gpu", "cpu"),
    "memory": (RUN, "nvidia.com/gpu", "memory"),
    "no slash": (RUN, "nvidia.com/gpu", "gpu"),
    "resource of Kubernetes": (RUN, "nvidia.com/gpu", "kubernetes.io/batch"),
    "resource of a quota": (RUN, "nvidia.com/gpu", "requests.nvidia.com/gpu"),
    "two slashes": (RUN, "nvidia.com/gpu", "nvidia.com/gpu/0"),
    "percent above 100": (RUN, "", "      minFragImprovementPercent: 101\n"),
    "percent below 0": (RUN, "", "      minFragImprovementPercent: -1\n"),
    "percent in quotes": (RUN, "", '      minFragImprovementPercent: "10"\n'),
    "percent with its sign": (RUN, "", "      minFragImprovementPercent: 10%\n"),
    "percent with a fraction": (RUN, "", "      minFragImprovementPercent: 12.5\n"),
    "include without value": (RUN, "", "  scope:\n    nodes:\n      include:\n"),
    "scope as list": (RUN, "", "  scope: [nodes]\n"),
    "unknown operator": (RUN, "", _EXPRESSION % "operator: in, values: [b]"),
    "In without values": (RUN, "", _EXPRESSION % "operator: In"),
    "NotIn with an empty list": (RUN, "", _EXPRESSION % "operator: NotIn, values: []"),
    "Exists with values": (RUN, "", _EXPRESSION % "operator: Exists, values: [b]"),
    "label as boolean": (RUN, "", "  scope: {nodes: {include: {selector: {matchLabels: {eligible: true}}}}}\n"),
    "label without quotes": (RUN, "metadata:\n", _LABELS % "maintenance: on"),
    "label as number": (RUN, "metadata:\n", _LABELS % "tier: 1"),
    "label with a space": (RUN, "metadata:\n", _LABELS % "a: b c"),
    "label key": (RUN, "metadata:\n", _LABELS % "a b: c"),
    "PodGroup without namespace": (RUN, "", "  scope: {podGroups: {include: {names: [train-7]}}}\n"),
    "name twice": (RUN, "", "  scope: {nodes: {exclude: {names: [a, b, a]}}}\n"),
    "too many names": (RUN, "", f"  scope: {{nodes: {{exclude: {{names: [{', '.join(f'n{i}' for i in range(1025))}]}}}}}}\n"),
    "budget of cpu": (RUN, "", "  maxPerRun: {resources: {cpu: 4}}\n"),
    "budget below zero": (RUN, "", "  maxPerRun: {resources: {nvidia.com/gpu: -1}}\n"),
    "budget in thousandths": (RUN, "", "  maxPerRun: {resources: {nvidia.com/gpu: 1500m}}\n"),
    "budget of half a device": (RUN, "", "  maxPerRun: {resources: {nvidia.com/gpu: 0.5}}\n"),
    "grace period with a unit": (RUN, "", "  eviction: {gracePeriodSeconds: 30s}\n"),
    "more seconds than Kubernetes counts": (RUN, "", "  ttlSecondsAfterFinished: 99999999999\n"),
    "unknown phase": (RUN, "", "status: {phase: Done}\n"),
    "time of a status": (RUN, "", "status: {phase: Running, startTime: yesterday, cards: 1}\n"),
    "relocation": (RUN, "", "status:\n  phase: Running\n  relocations:\n    - eviction: {phase: Acepted}\n"),
    "no trigger": (POLICY, "\n    cronSchedule: 0 2 * * *", " {}"),
    "only a time zone": (POLICY, "cronSchedule: 0 2 * * *", "timeZone: UTC"),
    "minute 61": (POLICY, "0 2 * * *", "61 2 * * *"),
    "four cron fields": (POLICY, "0 2 * * *", "0 2 * *"),
    "six cron fields": (POLICY, "0 2 * * *", "0 0 2 * * *"),
    "@daily": (POLICY, "0 2 * * *", '"@daily"'),
    "31 February": (POLICY, "0 2 * * *", "0 0 31 2 *"),
    "hashed cron field": (POLICY, "0 2 * * *", "H 2 * * *"),
    "cron without quotes": (POLICY, "0 2 * * *", "*/5 * * * *"),
    "time zone": (POLICY, "0 2 * * *", "0 2 * * *\n    timeZone: Europe/Berln"),
    "time zone of the machine": (POLICY, "0 2 * * *", "0 2 * * *\n    timeZone: localtime"),
    "suspend: yes": (POLICY, "", "  suspend: yes\n"),
    "suspend in quotes": (POLICY, "", '  suspend: "true"\n'),
    "envelope": (POLICY, "", "  approval: {envelope: subset}\n"),
    "duration with a space": (POLICY, "", "  approval: {maxPlanAge: 10 m}\n"),
    "duration without unit": (POLICY, "", "  approval: {maxPlanAge: 3600}\n"),
    "no duration": (POLICY, "", "  execution: {placementTimeout: 0s}\n"),
    "duration out of order": (POLICY, "", "  execution: {cooldown: 5s1m}\n"),
    "27 years": (POLICY, "", "  execution: {cooldown: 9999d}\n"),
    "pattern of a ticket": (POLICY, "", '  changeTicket: {pattern: "CHG[0-9"}\n'),
    "window": (POLICY, "", "  windows: {allow: [{schedule: 0 2 * * *, duration: 0s, timeZone: Mars/Phobos}]}\n"),
    "mode in a policy": (POLICY, "", "      mode: Execute\n"),
    "goals in a policy's spec": (POLICY, "", "  goals: []\n"),
    "no parallel nodes": (POLICY, "", "  execution: {maxParallelNodes: 0}\n"),
    "budgets in lower case": (POLICY, "", "  safety: {disruptionBudgets: enforce}\n"),
    "cascades as boolean": (POLICY, "", "  safety:\n    cascades: false\n"),
    "age in words": (POLICY, "", "  safety:\n    maxPriority: 10\n    minPodAge: an hour\n"),
    "age without unit": (POLICY, "", "  safety: {minPodAge: 0}\n"),
    "priority class instead of its number": (POLICY, "", "  safety: {maxPriority: high}\n"),
    "priority above what Kubernetes counts": (POLICY, "", "  safety: {maxPriority: 2147483648}\n"),
    "caps below zero": (POLICY, "", "  safety:\n    maxPodsPerNamespace: -1\n    maxPodsPerOwner: -2\n"),
    "local storage": (POLICY, "", "  safety: {localStorage: Deny}\n"),
    "memory of moves": (POLICY, "", "  safety: {recentlyMoved: 24 hours}\n"),
    "safety option misspelt": (POLICY, "", "  safety:\n    maxPodPerOwner: 3\n"),
    "reviewer twice": (POLICY, "", "  pullRequest: {reviewers: [a, a]}\n"),
    "status of a policy": (POLICY, "", "status: {}\n"),
    "limit in words": (POLICY, "", "  failedRunsHistoryLimit: many\n"),
    "forge without url": (REPOSITORY, "kind: none", "kind: gitea"),
    "forge with an empty url": (REPOSITORY, "kind: none", 'kind: gitea\n    url: ""\n    repository: a/b'),
    "credentials": (REPOSITORY, "kind: none", "kind: gitea\n    url: https://bot:secret@example.com\n    repository: a/b"),
    "url of SSH": (REPOSITORY, "kind: none", "kind: gitea\n    url: git@example.com:a/b\n    repository: a/b"),
    "repository without owner": (REPOSITORY, "kind: none", "kind: gitea\n    url: https://x\n    repository: b"),
    "branch that is an option": (REPOSITORY, "", "  git: {baseBranch: --upload-pack=x}\n"),
    "identity of two lines": (REPOSITORY, "", '  git: {identity: {name: "a\\nb"}}\n'),
    "results": (REPOSITORY, "", "  results: pr\n"),
    "thirty problems": (REPOSITORY, "", "".join(f"  field{i}: 1\n" for i in range(30))),
}


def edited(name: str) -> str:
    """Return the document of one of ``EDITS``."""
    text, what, instead = EDITS[name]
    return text.replace(what, instead) if what else text + instead


def answers() -> Iterator[tuple[str, str]]:
    """Yield the name of every case and what reading it answers."""
    for name, text in TEXTS.items():
        yield f"text: {name}", _answer(lambda text=text: parse(text, "a.yaml"))
    for name, text in JSON.items():
        yield f"JSON: {name}", _answer(lambda text=text: parse(text, "a.json"))
    for name in EDITS:
        yield f"document: {name}", _answer(lambda name=name: read_any(edited(name), "a.yaml"))


def _answer(read: object) -> str:
    try:
        return f"no error: {read()!r}"  # type: ignore[operator]
    except InvalidDocument as error:
        return str(error)


def golden_text() -> str:
    """Return what ``broken_documents.txt`` should hold."""
    return "\n".join(f"[{name}]\n{answer}\n" for name, answer in answers())


if __name__ == "__main__":
    GOLDEN.write_text(golden_text(), encoding="utf-8")
