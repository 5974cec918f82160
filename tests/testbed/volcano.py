"""Volcano in the bed: its CRDs, its own webhook configurations on a loopback address, its scheduler's configuration."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from tests.testbed.nodes import Object

SCHEDULER_CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""


def webhook_configurations(manifest: Path, certificate_authority: Path, port: int) -> list[Object]:
    """Return the webhook configurations that Volcano ships, pointing at loopback ``port`` in place of a Service."""
    documents = yaml.safe_load_all(manifest.read_text())
    found = [d for d in documents if d and d["kind"].endswith("WebhookConfiguration")]
    bundle = base64.b64encode(certificate_authority.read_bytes()).decode()
    for hook in _hooks(found):
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
    return found


def admission_paths(configurations: list[Object], port: int) -> str:
    """Return the paths that the webhook server must serve, as its flag ``--enabled-admission`` wants them."""
    urls = (hook["clientConfig"]["url"] for hook in _hooks(configurations))
    return ",".join(sorted(url.partition(f":{port}")[2] for url in urls))


def _hooks(configurations: list[Object]) -> list[dict[str, Any]]:
    return [hook for configuration in configurations for hook in configuration["webhooks"]]
