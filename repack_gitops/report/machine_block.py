"""The hidden first line of a pull request body: what the bot must find again, whatever people edit below it.

It is base64, so that no name in it can end the comment, and first, so that no forge's truncation can cut it off.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import asdict, dataclass, fields

from repack_gitops.report.facts import ProposalFacts
from repack_gitops.report.plain import LONGEST, clip

SCHEMA = "repack-gitops/proposal/v1"
_BLOCK = re.compile(r"<!-- repack-gitops:([A-Za-z0-9+/=]{1,20000}) -->")


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineBlock:
    """What a body says about itself; ``version`` is the tool's."""

    schema: str
    version: str
    cluster: str
    policy: str
    run: str
    plan_digest: str
    policy_digest: str
    snapshot_time: str
    base_commit: str


def machine_block(facts: ProposalFacts) -> str:
    """Return the block as one line of hidden Markdown."""
    block = MachineBlock(
        schema=SCHEMA,
        version=facts.tool_version,
        cluster=facts.cluster,
        policy=facts.policy,
        run=facts.run,
        plan_digest=facts.plan_digest,
        policy_digest=facts.policy_digest,
        snapshot_time=facts.snapshot_time,
        base_commit=facts.base_commit,
    )
    # Clipped like everything shown: a field that somebody made endless must not push the plan out of the body.
    text = json.dumps({key: clip(value, LONGEST) for key, value in asdict(block).items()}, separators=(",", ":"))
    return f"<!-- repack-gitops:{base64.b64encode(text.encode()).decode()} -->"


def read_machine_block(body: str) -> MachineBlock | None:
    """Return the block a body starts with, or None where there is none that can be read; anyone may edit a body."""
    match = _BLOCK.match(body.lstrip())
    if match is None:
        return None
    try:
        found = json.loads(base64.b64decode(match[1], validate=True))
    except (binascii.Error, ValueError):
        return None
    names = {f.name for f in fields(MachineBlock)}
    if not isinstance(found, dict) or set(found) != names or not all(isinstance(v, str) for v in found.values()):
        return None
    return MachineBlock(**found) if found["schema"] == SCHEMA else None
