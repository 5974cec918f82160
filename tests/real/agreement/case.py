"""A case: a few nodes, pods that are bound to them, a probe that wants a node, and what these refer to.

Names in a case are its own: ``%`` stands for the case's identity, ``@home`` and ``@away`` for its two namespaces. So any
number of cases may live on one control plane. Topology keys and labels of nodes carry the ``%`` too, so that no domain
and no selector reaches into another case.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.testbed.nodes import Object

#: On every node of a placed case, and in the node selector of its probes.
CASE_LABEL = "agreement.test/case"
#: On every object that is not in a namespace.
ROUND_LABEL = "agreement.test/round"
#: On both probes; the value is the scheduler.
PROBE_LABEL = "agreement.test/probe"
#: Of a resident that is deleted but not gone.
TERMINATING = "agreement.test/terminating"


@dataclass(frozen=True)
class Case:
    """What a seed stands for.

    Attributes
    ----------
    kinds
        The filters it was built to exercise, named as in Kubernetes.
    binds
        Whether a probe may really be bound; false where binding would wait for somebody who is not there.
    """

    seed: int
    kinds: tuple[str, ...]
    nodes: tuple[Object, ...]
    residents: tuple[Object, ...]
    probe: Object
    others: tuple[Object, ...] = field(default=())
    binds: bool = True

    def parts(self) -> Object:
        """Return the case as one JSON value."""
        return {
            "nodes": list(self.nodes),
            "residents": list(self.residents),
            "probe": self.probe,
            "others": list(self.others),
        }

    def with_parts(self, parts: Object) -> Case:
        """Return the same case with other objects."""
        return Case(
            self.seed,
            self.kinds,
            tuple(parts["nodes"]),
            tuple(parts["residents"]),
            parts["probe"],
            tuple(parts["others"]),
            self.binds,
        )

    def as_yaml(self) -> str:
        """Return the objects as a reader may apply them, one document each."""
        placed = place(self, Place("x", "home", "away"))
        return yaml.safe_dump_all([*placed.nodes, *placed.others, *placed.residents, placed.probe], sort_keys=False)


@dataclass(frozen=True)
class Place:
    """Where a case lives: its identity and its namespaces."""

    ident: str
    home: str
    away: str


def place(case: Case, where: Place) -> Case:
    """Return ``case`` under the names of ``where``."""
    text = json.dumps(case.parts())
    for token, name in (("%", where.ident), ("@home", where.home), ("@away", where.away)):
        text = text.replace(token, name)
    parts: dict[str, Any] = json.loads(text)
    return case.with_parts(parts)


def local_name(name: str, ident: str) -> str:
    """Return the name that an object of a placed case had before."""
    return name.removesuffix(f"-{ident}")
