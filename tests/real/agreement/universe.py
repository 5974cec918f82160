"""Many cases side by side on one control plane: each in two namespaces of its own, on nodes of its own."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from tests.real.agreement.api import PATHS, Api, RefusedError, collection
from tests.real.agreement.case import CASE_LABEL, PROBE_LABEL, ROUND_LABEL, TERMINATING, Case, Place, place
from tests.real.agreement.extender import Key
from tests.testbed.nodes import Object
from tests.testbed.waiting import wait_for

VOLCANO, KUBE = "volcano", "kube-scheduler"
SCHEDULERS = {VOLCANO: "volcano", KUBE: "default-scheduler"}
SIDES = ("home", "away")
#: What a case may own outside of namespaces; deleted by the label of its round.
OPEN = ("Node", "PersistentVolume", "StorageClass", "CSINode", "VolumeAttachment", "CSIDriver", "RuntimeClass", "Queue")
#: The same inside of its namespaces.
CLOSED = ("PodGroup", "PersistentVolumeClaim")
#: Seconds until the volume controller has bound what belongs together.
BINDING = 30
#: What must exist before anything else of the case does.
FIRST = {kind: order for order, kind in enumerate(("Queue", "StorageClass", "CSIDriver", "RuntimeClass", "Node"))}


@dataclass
class Placed:
    """A case on the control plane; ``refused`` is what the API server had against it."""

    case: Case
    where: Place
    placed: Case
    refused: str | None = None

    def probe_key(self, scheduler: str) -> Key:
        """Return namespace and name of the probe for ``scheduler``."""
        return (self.where.home, f"probe-{scheduler}-{self.where.ident}")

    def node_names(self) -> tuple[str, ...]:
        """Return the names of the case's nodes, as placed."""
        return tuple(n["metadata"]["name"] for n in self.placed.nodes)


class Universe:
    """The namespaces, and what is put into them round by round."""

    def __init__(self, api: Api, slots: int) -> None:
        self._api = api
        self.slots = slots
        self._idents = (f"c{n}" for n in itertools.count())
        self._rounds = itertools.count()
        names = [(f"{side}-{slot}", side) for slot in range(slots) for side in SIDES]
        api.each(self._namespace, names)
        wait_for("service accounts of the namespaces", lambda: self._accounts() >= 2 * slots)

    def _namespace(self, name_and_side: tuple[str, str]) -> None:
        name, side = name_and_side
        meta = {"name": name, "labels": {"side": side, "agreement": "true"}}
        self._api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})

    def _accounts(self) -> int:
        found = self._api.list_items("/api/v1/serviceaccounts")
        return sum(a["metadata"]["namespace"].startswith(SIDES) for a in found)

    def settle(self, cases: Sequence[Case]) -> list[Placed]:
        """Put nodes, residents and volumes of up to ``slots`` cases on the control plane, and wait until volumes are bound."""
        number = next(self._rounds)
        found = [self._place(case, slot) for slot, case in enumerate(cases)]
        self._api.each(lambda placed: self._create(placed, number), found)
        self._await_claims([p for p in found if p.refused is None and p.case.others])
        return found

    def _await_claims(self, found: Sequence[Placed]) -> None:
        """Wait for claims to be bound; a case in which they never are is none."""
        with suppress(TimeoutError):
            wait_for("claims to be bound", lambda: all(map(self._claims_bound, found)), BINDING)
        for placed in found:
            if not self._claims_bound(placed):
                placed.refused = "its claims are not bound"

    def _place(self, case: Case, slot: int) -> Placed:
        where = Place(next(self._idents), *(f"{side}-{slot}" for side in SIDES))
        return Placed(case, where, place(case, where))

    def _create(self, placed: Placed, number: int) -> None:
        others = sorted(placed.placed.others, key=lambda o: FIRST.get(o["kind"], len(FIRST)))
        nodes = [_labelled(n, {CASE_LABEL: placed.where.ident}) for n in placed.placed.nodes]
        early = [o for o in others if o["kind"] in FIRST]
        late = [o for o in others if o["kind"] not in FIRST]
        try:
            for item in (*early, *nodes, *late):
                self._api.create(_labelled(item, {ROUND_LABEL: str(number)}))
            for pod in placed.placed.residents:
                self._resident(pod)
        except RefusedError as refusal:
            placed.refused = str(refusal)

    def _resident(self, pod: Object) -> None:
        self._api.create(pod)
        if TERMINATING in pod["metadata"].get("annotations", {}):
            self._api.request("DELETE", f"{collection(pod)}/{pod['metadata']['name']}")

    def _claims_bound(self, placed: Placed) -> bool:
        """A claim that names its volume, and the volume it names, must both say that they are bound."""
        wanted = [o for o in placed.placed.others if o["kind"] == "PersistentVolumeClaim" and o["spec"].get("volumeName")]
        found = [self._api.request("GET", f"{collection(o)}/{o['metadata']['name']}") for o in wanted]
        return all(o["status"].get("phase") == "Bound" for o in found)

    def probe(self, found: Sequence[Placed], scheduler: str) -> None:
        """Create every case's probe for ``scheduler``."""
        self._api.each(lambda placed: self._probe(placed, scheduler), [p for p in found if p.refused is None])

    def _probe(self, placed: Placed, scheduler: str) -> None:
        try:
            for item in probe_objects(placed, scheduler):
                self._api.create(item)
        except RefusedError as refusal:
            placed.refused = str(refusal)

    def forget(self, found: Sequence[Placed], scheduler: str) -> None:
        """Delete probes again."""
        self._api.each(lambda placed: self._forget(placed, scheduler), found)

    def _forget(self, placed: Placed, scheduler: str) -> None:
        namespace, name = placed.probe_key(scheduler)
        for kind in ("Pod", "PodGroup") if scheduler == VOLCANO else ("Pod",):
            self._api.request("DELETE", f"{PATHS[kind].format(namespace)}/{name}?gracePeriodSeconds=0")

    def probes(self, scheduler: str) -> dict[Key, Object]:
        """Return all probes for ``scheduler``."""
        items = self._api.list_items("/api/v1/pods", f"{PROBE_LABEL}={scheduler}")
        return {(p["metadata"]["namespace"], p["metadata"]["name"]): p for p in items}

    def clear(self, count: int) -> None:
        """Delete everything that the last ``settle`` of ``count`` cases put up, pods first."""
        spaces = [f"{side}-{slot}" for slot in range(count) for side in SIDES]
        now = "?gracePeriodSeconds=0"
        self._api.each(lambda space: self._api.request("DELETE", PATHS["Pod"].format(space) + now), spaces)
        inside = [PATHS[kind].format(space) for kind in CLOSED for space in spaces]
        outside = [f"{PATHS[kind]}?labelSelector={ROUND_LABEL}" for kind in OPEN]
        self._api.each(lambda path: self._api.request("DELETE", path), [*inside, *outside])
        wait_for("nodes to be gone", lambda: not self._api.list_items(PATHS["Node"], ROUND_LABEL))


def probe_objects(placed: Placed, scheduler: str) -> list[Object]:
    """Return the probe for ``scheduler``, after its PodGroup if it needs one."""
    namespace, name = placed.probe_key(scheduler)
    pod = copy.deepcopy(placed.placed.probe)
    pod["metadata"].update(name=name, namespace=namespace)
    pod["metadata"].setdefault("labels", {})[PROBE_LABEL] = scheduler
    pod["spec"]["schedulerName"] = SCHEDULERS[scheduler]
    pod["spec"].setdefault("nodeSelector", {})[CASE_LABEL] = placed.where.ident
    if scheduler == KUBE:
        return [pod]
    annotations = pod["metadata"].setdefault("annotations", {})
    annotations["scheduling.k8s.io/group-name"] = name
    queue = annotations.pop("agreement.test/queue", "default")
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minMember": 1, "queue": queue},
        "status": {"phase": "Pending"},
    }
    return [group, pod]


def _labelled(item: Object, labels: Object) -> Object:
    if item["metadata"].get("namespace"):
        return item
    meta = item["metadata"]
    return {**item, "metadata": {**meta, "labels": {**meta.get("labels", {}), **labels}}}
