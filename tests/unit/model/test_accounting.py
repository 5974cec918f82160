"""What a pod is charged; rows are those of the list of known faults (C5)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from repack_gitops.model import kubernetes as wire
from repack_gitops.model.accounting import charged_request, parse_amounts, template_request
from repack_gitops.model.quantity import QuantityError

GPU = "nvidia.com/gpu"
GI = 2**30 * 1000


def container(name: str = "c", *, always: bool = False, limits: Any = None, **requests: Any) -> dict[str, Any]:
    amounts = {GPU if key == "gpu" else key: value for key, value in requests.items()}
    resources = {"requests": amounts} | ({"limits": limits} if limits else {})
    return {"name": name, "resources": resources} | ({"restartPolicy": "Always"} if always else {})


def pod(*containers: Any, init: Any = (), status: Any = None, **spec: Any) -> wire.Pod:
    body = {"metadata": {"name": "p", "namespace": "t"}, "spec": {"containers": containers, "initContainers": init, **spec}}
    return msgspec.convert({**body, "status": status or {}}, wire.Pod)


def template(*containers: Any, **more: Any) -> dict[str, int]:
    return template_request(pod(*containers, **more).spec)


def resizing(spec: Any, actual: Any, allocated: Any, reason: str | None = None, name: str = "c") -> wire.Pod:
    status = {"name": name, "resources": {"requests": actual}, "allocatedResources": allocated}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
    return pod(container(name, **spec), status={"containerStatuses": [status], "conditions": conditions})


def test_containers_add_up() -> None:
    assert template(container(gpu=1, cpu="500m"), container("d", gpu=2, memory="1Gi")) == {
        GPU: 3000,
        "cpu": 500,
        "memory": GI,
        "pods": 1000,
    }


def test_a_pod_that_asks_for_nothing_still_counts_as_a_pod() -> None:
    assert template({"name": "c"}) == {"pods": 1000}


def test_row_82_each_pod_takes_one_of_a_nodes_pods() -> None:
    assert template(container(gpu=1))["pods"] == 1000


INIT: dict[str, tuple[Any, Any, int]] = {
    "an init container needs more than the pod": ([container("i", gpu=8)], [container(gpu=1)], 8),
    "init containers run one after another": ([container("i", gpu=2), container("j", gpu=3)], [container(gpu=1)], 3),
    "a sidecar and a container add up": ([container("s", always=True, gpu=1)], [container(gpu=1)], 2),
    "an init container runs beside the sidecars before it": (
        [container("s", always=True, gpu=1), container("i", gpu=4)],
        [container(gpu=2)],
        5,
    ),
    "an init container does not run beside later sidecars": (
        [container("i", gpu=4), container("s", always=True, gpu=1)],
        [container(gpu=2)],
        4,
    ),
    "several sidecars": (
        [container("s", always=True, gpu=1), container("t", always=True, gpu=2), container("i", gpu=1)],
        [container(gpu=1)],
        4,
    ),
}


@pytest.mark.parametrize("case", INIT)
def test_row_83_init_containers_and_sidecars(case: str) -> None:
    init, containers, cards = INIT[case]
    assert template(*containers, init=init)[GPU] == cards * 1000


def test_row_85_a_resize_down_still_holds_what_it_held() -> None:
    found = resizing({"cpu": 1}, {"cpu": 4}, {"cpu": 2})
    assert (charged_request(found)["cpu"], template_request(found.spec)["cpu"]) == (4000, 1000)


def test_row_85_a_resize_up_is_charged_at_once() -> None:
    assert charged_request(resizing({"cpu": 4}, {"cpu": 1}, {"cpu": 1}, "Deferred"))["cpu"] == 4000


def test_row_85_an_infeasible_resize_up_is_not_charged() -> None:
    assert charged_request(resizing({"cpu": 4}, {"cpu": 1}, {"cpu": 2}, "Infeasible"))["cpu"] == 2000


def test_row_85_a_status_without_resources_says_nothing() -> None:
    """A kubelet that does not know resizes writes none."""
    status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": 9}}]}
    assert charged_request(pod(container(cpu=1), status=status))["cpu"] == 1000


def test_row_85_a_sidecars_status_counts_and_an_init_containers_does_not() -> None:
    held = {"resources": {"requests": {"cpu": 8}}}
    status = {"initContainerStatuses": [{"name": "s", **held}, {"name": "i", **held}]}
    found = pod(container(cpu=1), init=[container("s", always=True, cpu=1), container("i", cpu=1)], status=status)
    assert charged_request(found)["cpu"] == 9000


def test_row_86_pod_level_requests_replace_cpu_and_memory_and_never_devices() -> None:
    resources = {"requests": {"cpu": 4, "memory": "2Gi", GPU: 7, "hugepages-2Mi": "4Mi"}}
    found = template(container(gpu=1, cpu=1, memory="1Gi"), resources=resources)
    assert found == {GPU: 1000, "cpu": 4000, "memory": 2 * GI, "hugepages-2Mi": 4 * 2**20 * 1000, "pods": 1000}


def test_row_86_a_pod_level_resize_down_still_holds_what_it_held() -> None:
    status = {"resources": {"requests": {"cpu": 6}}, "allocatedResources": {"cpu": 5, GPU: 9}}
    found = pod(container(gpu=1), resources={"requests": {"cpu": 4}}, status=status)
    assert charged_request(found) == {GPU: 1000, "cpu": 6000, "pods": 1000}


def test_row_88_requests_without_limits_count() -> None:
    assert template(container(gpu=2))[GPU] == 2000


def test_row_88_limits_without_requests_count_as_the_api_server_fills_them_in() -> None:
    assert template(container(limits={GPU: "2", "cpu": "1"}, cpu="500m")) == {GPU: 2000, "cpu": 500, "pods": 1000}


@pytest.mark.parametrize(
    ("written", "cards"), [("1e0", 1), ("8000m", 8), ("1k", 1000), ("1E3", 1000), ("0.008k", 8), (8, 8), (2.0, 2)]
)
def test_row_89_every_way_to_write_a_number_of_devices(written: Any, cards: int) -> None:
    assert template(container(gpu=written))[GPU] == cards * 1000


def test_row_89_exa_is_no_exponent() -> None:
    assert template(container(memory="1E"))["memory"] == 10**21


def test_row_91_large_amounts_are_exact() -> None:
    assert template(container(**{"ephemeral-storage": "100P"}))["ephemeral-storage"] == 10**20


def test_row_92_requests_and_capacity_have_one_unit() -> None:
    assert template(container(gpu="2000m"))[GPU] == parse_amounts({GPU: "2"})[GPU]


def test_row_101_devices_are_counted_by_their_exact_name() -> None:
    found = template(container(**{"nvidia.com/mig-1g.10gb": 2, GPU: 1}))
    assert (found["nvidia.com/mig-1g.10gb"], found[GPU]) == (2000, 1000)


def test_overhead_is_added_in_the_end() -> None:
    """Kubernetes adds it after init containers are compared; Volcano 1.14 before, which is never more."""
    assert template(container(cpu=1), init=[container("i", cpu=3)], overhead={"cpu": "250m"})["cpu"] == 3250


@pytest.mark.parametrize("amounts", [{GPU: "-1"}, {"cpu": "-1m"}, {GPU: "500m"}, {GPU: "0.0001"}, {GPU: "eight"}, {GPU: ""}])
def test_impossible_amounts_are_refused(amounts: dict[str, str]) -> None:
    with pytest.raises(QuantityError, match=next(iter(amounts))):
        parse_amounts(amounts)


def test_a_negative_amount_is_refused_even_where_a_larger_one_would_hide_it() -> None:
    with pytest.raises(QuantityError, match="is negative"):
        template(container(gpu=-1), init=[container("i", gpu=4)])


def test_two_halves_of_a_device_are_refused() -> None:
    with pytest.raises(QuantityError, match="not a whole number"):
        template(container(gpu="500m"), container("d", gpu="500m"))
