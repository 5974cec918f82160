"""The GPU fleet: 60 machines of 8 cards in three pools, three weeks of training, inference and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from examples.fleet import (
    DEPLOYMENT,
    JOB,
    MODEL_SERVING,
    STATEFUL_SET,
    Daemon,
    Machine,
    Task,
    Template,
    Workload,
)

RESOURCE = "nvidia.com/gpu"
SEED = 9
#: The label accelerator-pool that selects a pool.
POOLS = {"train": "a800-train", "serve": "l40s-serve", "dev": "a800-dev", "cpu": ""}
SERVE_TAINT = {"effect": "NoSchedule", "key": "dedicated", "value": "inference"}
SERVE = ({"effect": "NoSchedule", "key": "dedicated", "operator": "Equal", "value": "inference"},)
#: Machines in trouble: one is being drained for maintenance, one stopped answering this morning.
CORDONED, LOST = "gpu-train-17", "gpu-serve-12"
DAYS = 24.0
PYTORCH = "registry.example.com/ml/pytorch:2.7.1-cuda12.8"
VLLM = "registry.example.com/serving/vllm-openai:0.9.2"
ELIGIBLE = {"repack.volcano.sh/eligible": "true"}
PROTECTED = {"repack.volcano.sh/protected": "true"}
RESTART = ({"action": "RestartJob", "event": "PodEvicted"},)
DONE = ({"action": "CompleteJob", "event": "TaskCompleted"},)


def machines() -> list[Machine]:
    """Return all machines, in order of their names."""
    found = [_gpu(f"gpu-train-{i:02d}", "train", "NVIDIA-A800-SXM4-80GB", i) for i in range(1, 33)]
    found += [_gpu(f"gpu-serve-{i:02d}", "serve", "NVIDIA-L40S", i, taints=(SERVE_TAINT,)) for i in range(1, 21)]
    found += [_gpu(f"gpu-dev-{i:02d}", "dev", "NVIDIA-A800-SXM4-80GB", i) for i in range(1, 9)]
    found += [Machine(f"cpu-{i:02d}", "cpu", f"cn-north-4{'ab'[i % 2]}", 0, 64, 256) for i in range(1, 5)]
    return sorted(found, key=lambda m: m.name)


def _gpu(name: str, pool: str, product: str, number: int, taints: tuple[Mapping[str, str], ...] = ()) -> Machine:
    labels = {"accelerator-pool": POOLS[pool], "nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": product}
    if name == CORDONED:
        labels["maintenance-state"] = "draining"
    return Machine(
        name=name,
        pool=pool,
        zone=f"cn-north-4{'ab'[number % 2]}",
        cards=8,
        cpu=128,
        memory=1024,
        labels=labels,
        taints=taints,
        cordoned=30.0 if name == CORDONED else None,
        lost=7.0 if name == LOST else None,
    )


def daemons() -> list[Daemon]:
    """Return the DaemonSets; one of them uses a card, on two machines."""
    gpu = ("train", "serve", "dev")
    images = "registry.example.com"
    plugin, burn = f"{images}/nvidia/k8s-device-plugin:v0.17.2", f"{images}/infra/gpu-burn:1.2"
    return [
        Daemon("kube-system", "calico-node", f"{images}/calico/node:v3.30.1", "250m", "256Mi", (*gpu, "cpu")),
        Daemon("gpu-operator", "nvidia-device-plugin", plugin, "100m", "128Mi", gpu),
        Daemon("monitoring", "node-exporter", f"{images}/prometheus/node-exporter:v1.9.1", "100m", "180Mi", (*gpu, "cpu")),
        Daemon("gpu-operator", "gpu-burn-in", burn, "1", "4Gi", gpu, cards=1, only=("gpu-serve-19", "gpu-train-31")),
    ]


def workloads() -> list[Workload]:
    """Return every workload of the last three weeks."""
    random = Random(SEED)
    return [*_services(), *_servings(), *_notebooks(), *_long_jobs(), *_passing_jobs(random), *_latest()]


def _train(cards: int, pools: tuple[str, ...]) -> Template:
    return Template(PYTORCH, cards, cards * 11, cards * 96, pools, command=("torchrun", "--nnodes=auto", "train.py"))


def _serve(cards: int, volumes: tuple[Mapping[str, object], ...] = ()) -> Template:
    return Template(VLLM, cards, cards * 8, cards * 64, ("serve",), SERVE, port=8000, volumes=volumes)


def _service(
    name: str,
    replicas: int,
    cards: int,
    *scaled: tuple[float, int],
    since: float,
    kind: str = DEPLOYMENT,
    labels: Mapping[str, str] = ELIGIBLE,
    keeps: int | None = None,
    volumes: tuple[Mapping[str, object], ...] = (),
) -> Workload:
    """Return a service; ``since`` and the times of ``scaled`` are in days before the snapshot."""
    return Workload(
        kind=kind,
        namespace="inference",
        name=name,
        tasks=(Task("server", replicas, _serve(cards, volumes)),),
        start=since * DAYS,
        labels={"workload-type": "inference", "team": "inference", **labels},
        scaled=tuple((days * DAYS, count) for days, count in scaled),
        keeps_available=keeps,
        grace=60,
    )


def _services() -> Iterator[Workload]:
    """Inference services: started with some replicas, scaled with the traffic."""
    yield _service("embedding-bge-m3", 10, 1, (15, 14), (6, 11), since=21, keeps=4)
    yield _service("reranker-bge", 6, 1, (9, 5), since=20.8, keeps=3)
    yield _service("asr-streaming", 8, 1, (12, 11), (4, 9), since=20.5, keeps=5)
    yield _service("ocr-pipeline", 5, 1, (3, 3), since=19)
    yield _service("image-moderation", 6, 2, (8, 7), (2, 6), since=18, labels=PROTECTED, keeps=4)
    yield _service("qwen2-7b-instruct", 6, 2, (7, 11), (1.5, 9), since=17, keeps=6)
    yield _service("sdxl-turbo", 6, 2, (5, 4), since=14)
    yield _service("tts-zh", 4, 1, (2.5, 2), since=11)
    yield _service("llama3-8b-chat", 4, 2, (10, 3), since=16, kind=STATEFUL_SET)
    yield _service("recsys-online", 4, 1, since=13, kind=STATEFUL_SET, labels={**ELIGIBLE, **PROTECTED}, keeps=4)
    index = {"name": "index", "persistentVolumeClaim": {"claimName": "vector-index"}}
    yield _service("vector-search", 2, 1, since=12, kind=STATEFUL_SET, volumes=(index,))


def _servings() -> Iterator[Workload]:
    """Kthena ModelServings: every serving group is a gang of a prefill and a decode pod."""
    for name, groups, cards, since, labels in (
        ("qwen2-72b", 3, 4, 15.5, ELIGIBLE),
        ("deepseek-v2-lite", 2, 2, 9.5, ELIGIBLE),
        ("glm4-9b", 1, 2, 4.5, {**ELIGIBLE, **PROTECTED}),
    ):
        tasks = (Task("prefill", groups, _serve(cards)), Task("decode", groups, _serve(cards)))
        named = {"workload-type": "inference", "team": "inference", **labels}
        yield Workload(MODEL_SERVING, "inference", name, tasks, since * DAYS, minimum=2, labels=named, grace=120)


def _notebooks() -> Iterator[Workload]:
    """Notebooks of the developers, which kube-scheduler places: no PodGroup, so they stay."""
    image = "registry.example.com/ml/jupyter-gpu:2026.7"
    users = (
        ("alice", 1, 12),
        ("bob", 2, 10),
        ("chen", 1, 8),
        ("dora", 1, 5),
        ("emil", 2, 2),
        ("fang", 1, 1),
    )
    for user, cards, since in users:
        yield Workload(
            kind=STATEFUL_SET,
            namespace="notebooks",
            name=f"jupyter-{user}",
            tasks=(Task("notebook", 1, Template(image, cards, 8, 64, ("dev",), port=8888)),),
            start=since * DAYS,
            labels={"team": "research", "user": user},
            scheduler="default-scheduler",
        )


def _job(
    name: str,
    workers: int,
    cards: int,
    minimum: int,
    *,
    since: float,
    until: float | None = None,
    pools: tuple[str, ...] = ("train",),
    labels: Mapping[str, str] = ELIGIBLE,
    policies: tuple[Mapping[str, str], ...] = DONE,
    grace: int = 30,
    kept: bool = False,
) -> Workload:
    """Return a training job; ``since`` and ``until`` are in days before the snapshot."""
    return Workload(
        kind=JOB,
        namespace="training",
        name=name,
        tasks=(Task("worker", workers, _train(cards, pools)),),
        start=since * DAYS,
        end=None if until is None else until * DAYS,
        minimum=minimum,
        labels={"workload-type": "training", "team": "research", **labels},
        policies=policies,
        kept_when_done=kept,
        grace=grace,
    )


def _long_jobs() -> Iterator[Workload]:
    """Jobs that still run; elastic ones can miss members (minimum below the number of workers)."""
    yield _job("llama3-70b-pretrain", 6, 8, 6, since=20, policies=RESTART, labels=PROTECTED, grace=600)
    yield _job("deepseek-moe-pretrain", 5, 8, 5, since=15, policies=RESTART, grace=600)
    yield _job("qwen2-vl-sft", 4, 4, 4, since=11.3, policies=RESTART, grace=300)
    yield _job("qwen2-14b-sft", 4, 4, 3, since=9.2, grace=300)
    yield _job("internvl-finetune", 2, 8, 2, since=7.5)
    yield _job("mixtral-expert-ft", 4, 4, 4, since=7.2)
    yield _job("baichuan-dpo", 3, 4, 2, since=6.1, grace=300)
    yield _job("whisper-large-ft", 4, 2, 2, since=5.4)
    yield _job("clip-vit-l14", 3, 2, 3, since=4.6)
    yield _job("speech-encoder", 4, 2, 4, since=3.9)
    yield _job("reward-model-v3", 2, 4, 2, since=3.3, policies=RESTART)
    yield _job("sdxl-lora-brand", 4, 1, 1, since=2.6)
    yield _job("bert-retrieval", 2, 2, 1, since=2.1)
    yield _job("protein-fold-mini", 3, 1, 3, since=1.7)
    yield _job("eval-mmlu-nightly", 4, 1, 1, since=0.9, pools=("train", "dev"))
    yield _job("eval-code-nightly", 3, 1, 1, since=0.8, pools=("train", "dev"))


def _passing_jobs(random: Random) -> Iterator[Workload]:
    """Jobs that came and went: each left holes for small pods to spread into."""
    names = ("resnet-ablation", "vit-sweep", "tokenizer-ab", "lora-grid", "distill-3b", "dpo-beta", "ocr-ft", "speech-ctc")
    for number in range(64):
        cards = random.choices((1, 2, 4, 8), weights=(3, 4, 4, 3))[0]
        workers = random.choice((1, 2, 2, 3, 4, 6))
        since = random.uniform(1.5, 20.5)
        until = max(since - random.uniform(0.4, 4.5), 0.05)
        pools = ("dev",) if random.random() < 0.2 else ("train",)
        yield _job(f"{names[number % len(names)]}-{number:02d}", workers, cards, workers, since=since, until=until, pools=pools)


def _latest() -> Iterator[Workload]:
    """A job that ended just now, and the one that all this is about: it waits for five whole machines."""
    yield _job("tokenizer-bench", 2, 1, 2, since=0.4, until=0.0625, kept=True)
    yield _job("llama3-405b-continue", 5, 8, 5, since=0.25, labels={"priority": "high"}, grace=600)
