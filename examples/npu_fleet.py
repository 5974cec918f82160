"""The NPU fleet: 24 machines of 8 Ascend NPUs, with the workloads of the user guide among others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from examples.fleet import DEPLOYMENT, JOB, MODEL_SERVING, Daemon, Machine, Task, Template, Workload

RESOURCE = "huawei.com/ascend-1980"
SEED = 1982
POOLS = {"npu": "ascend-npu"}
DAYS = 24.0
MINDSPORE = "swr.cn-north-4.example.com/ascend/mindspore:2.6.0-cann8.1"
MINDIE = "swr.cn-north-4.example.com/ascend/mindie:2.1"
ELIGIBLE = {"repack.volcano.sh/eligible": "true", "repack.volcano.sh/protected": "false"}
PROTECTED = {"repack.volcano.sh/eligible": "true", "repack.volcano.sh/protected": "true"}
RESTART = ({"action": "RestartJob", "event": "PodEvicted"},)


def machines() -> list[Machine]:
    """Return all machines, in order of their names."""
    return [_npu(i) for i in range(1, 25)]


def _npu(number: int) -> Machine:
    labels = {
        "accelerator": "huawei-ascend-1980",
        "accelerator-pool": "ascend-npu",
        "node.kubernetes.io/instance-type": "kat2ne",
    }
    cordoned = 20.0 if number == 8 else None
    if number == 8:
        labels["maintenance-state"] = "draining"
    zone = f"cn-north-4{'abc'[number % 3]}"
    name = f"ascend-node-{number:02d}"
    return Machine(name, "npu", zone, 8, 192, 1536, labels=labels, cordoned=cordoned, architecture="arm64")


def daemons() -> list[Daemon]:
    """Return the DaemonSets; none of them uses an NPU."""
    images = "swr.cn-north-4.example.com"
    return [
        Daemon("kube-system", "ascend-device-plugin", f"{images}/ascend/device-plugin:v6.0.0", "500m", "500Mi", ("npu",)),
        Daemon("monitoring", "node-exporter", f"{images}/prometheus/node-exporter:v1.9.1", "100m", "180Mi", ("npu",)),
    ]


def workloads() -> list[Workload]:
    """Return every workload of the last two weeks."""
    return [*_inference(), *_training(), *_passed(Random(SEED)), *_waiting()]


def _template(cards: int, image: str) -> Template:
    return Template(image, cards, cards * 16, cards * 120, ("npu",), port=1025 if image == MINDIE else None)


def _inference() -> Iterator[Workload]:
    labels = {"workload-type": "inference", **ELIGIBLE}
    tasks = (Task("inference", 2, _template(1, MINDIE)), Task("worker", 2, _template(1, MINDIE)))
    yield Workload(MODEL_SERVING, "repack-demo", "ascend-online-serving", tasks, 11 * DAYS, minimum=2, labels=labels)
    yield _service("pangu-nlp-api", 6, 1, (4, 4), since=13)
    yield _service("pangu-cv-api", 4, 2, (3, 2), since=12)
    yield _service("risk-scoring", 3, 1, since=12.5, labels=PROTECTED)
    yield _service("glm-chat", 4, 2, (1, 3), since=8)


def _service(
    name: str, replicas: int, cards: int, *scaled: tuple[float, int], since: float, labels: Mapping[str, str] = ELIGIBLE
) -> Workload:
    """Return a service; ``since`` and the times of ``scaled`` are in days before the snapshot."""
    return Workload(
        kind=DEPLOYMENT,
        namespace="online",
        name=name,
        tasks=(Task("server", replicas, _template(cards, MINDIE)),),
        start=since * DAYS,
        labels={"workload-type": "inference", **labels},
        scaled=tuple((days * DAYS, count) for days, count in scaled),
        keeps_available=2,
        grace=60,
    )


def _job(
    name: str,
    workers: int,
    cards: int,
    minimum: int,
    *,
    since: float,
    until: float | None = None,
    labels: Mapping[str, str] = ELIGIBLE,
    policies: tuple[Mapping[str, str], ...] = (),
    grace: int = 30,
) -> Workload:
    """Return a training job; ``since`` and ``until`` are in days before the snapshot."""
    return Workload(
        kind=JOB,
        namespace="repack-demo",
        name=name,
        tasks=(Task("worker", workers, _template(cards, MINDSPORE)),),
        start=since * DAYS,
        end=None if until is None else until * DAYS,
        minimum=minimum,
        labels={"workload-type": "training", **labels},
        policies=policies,
        grace=grace,
    )


def _training() -> Iterator[Workload]:
    yield _job("ascend-batch-training", 2, 1, 2, since=5)
    yield _job("pangu-38b-pretrain", 4, 8, 4, since=12.8, labels=PROTECTED, policies=RESTART, grace=600)
    yield _job("pangu-7b-sft", 3, 4, 2, since=6, grace=300)
    yield _job("pangu-vl-sft", 4, 4, 4, since=9.1, policies=RESTART, grace=300)
    yield _job("cosmos-video", 2, 8, 2, since=7.7)
    yield _job("yolo-defects", 4, 1, 2, since=4.4)
    yield _job("ernie-distill", 2, 4, 2, since=3, policies=RESTART)
    yield _job("mae-pretrain-small", 3, 2, 1, since=2.2)
    yield _job("weather-nowcast", 2, 2, 2, since=1.4)


def _passed(random: Random) -> Iterator[Workload]:
    """Jobs that came and went."""
    for number in range(26):
        cards = random.choice((1, 2, 4, 4, 8))
        workers = random.choice((1, 2, 2, 3, 4))
        since = random.uniform(1.0, 12.5)
        until = max(since - random.uniform(0.5, 4.0), 0.1)
        yield _job(f"sweep-{number:02d}", workers, cards, workers, since=since, until=until)


def _waiting() -> Iterator[Workload]:
    """The guide's large job, four times as large: it waits for whole machines."""
    yield _job("ascend-large-training", 4, 8, 4, since=0.3, labels={"priority": "high"})
