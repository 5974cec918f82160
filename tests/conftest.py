"""Fixtures for tests that need the real parts: one control plane and one forge per test run, whatever the workers."""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.testbed.agent import ProcessAgent
from tests.testbed.cluster import Cluster
from tests.testbed.control_plane import ControlPlane
from tests.testbed.gitea_api import ForgeRepo, GiteaApi
from tests.testbed.nodes import Object
from tests.testbed.parts import Parts, PartsMissingError, find_parts
from tests.testbed.required import SkippedReal, mark_real, required
from tests.testbed.shared import joined

ORGANIZATION = "acme"


def pytest_configure(config: pytest.Config) -> None:
    """Watch for skipped ``real`` tests where the real parts are required; one process of a run does that."""
    if required() and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkippedReal(), "skipped-real")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the fixtures that they use."""
    mark_real(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long everything took if ``scripts/test`` runs us, before pytest's own last line."""
    started = os.environ.get("REPACK_TEST_STARTED")
    if started:
        terminalreporter.write_line(f"scripts/test: {time.time() - float(started):.0f} s in total")


@pytest.fixture(scope="session")
def testbed_parts() -> Parts:
    """The compiled parts; skips the test, with the reason, if they are not built."""
    try:
        return find_parts()
    except PartsMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is the same for all workers of this run."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if hasattr(request.config, "workerinput") else base) / "shared"


@pytest.fixture(scope="session")
def control_plane(testbed_parts: Parts, shared_folder: Path) -> Iterator[Cluster]:
    """The run's control plane, with Volcano and without a kube-scheduler; other tests use it at the same time.

    Keep to a namespace of your own, to nodes of your own (`make_nodes`), and steer pods to them by a node selector.
    """
    with joined("control-plane", shared_folder / "control-plane") as state:
        yield Cluster(testbed_parts, Path(state["folder"]), state["port"])


@pytest.fixture
def kubeconfig(control_plane: Cluster) -> Path:
    """Kubeconfig of an administrator of the run's control plane."""
    return control_plane.kubeconfig


@pytest.fixture
def namespace(control_plane: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh namespace on the run's control plane; its deletion is not waited for."""
    name = unique_name(request)
    control_plane.create_namespace(name)
    yield name
    control_plane.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def make_nodes(control_plane: Cluster) -> Iterator[Callable[..., None]]:
    """A function that adds nodes (see `fake_node`) to the run's control plane, Ready, until the test ends."""
    made: list[str] = []

    def make(*nodes: Object) -> None:
        names = [f"node/{node['metadata']['name']}" for node in nodes]
        control_plane.apply(*nodes)
        made.extend(names)
        control_plane.kubectl("wait", "--for=condition=Ready", "--timeout=60s", *names)

    yield make
    if made:
        control_plane.kubectl("delete", "--wait=false", "--ignore-not-found", *made)


@pytest.fixture
def process_agent(control_plane: Cluster, namespace: str, tmp_path: Path) -> Iterator[ProcessAgent]:
    """An agent that runs the pods of ``namespace`` that ask for the default scheduler, as local processes."""
    with ProcessAgent(control_plane, [namespace], node=f"agent-{namespace}", logs=tmp_path / "agent.logs") as agent:
        yield agent


@pytest.fixture
def own_control_plane(testbed_parts: Parts, tmp_path: Path) -> Iterator[Callable[..., ControlPlane]]:
    """A function that starts a control plane for this test alone; it takes the options of `ControlPlane`."""
    with ExitStack() as running:

        def start(**options: object) -> ControlPlane:
            folder = tmp_path / f"bed-{uuid.uuid4().hex[:6]}"
            return running.enter_context(ControlPlane(testbed_parts, folder, **options))  # type: ignore[arg-type]

        yield start


@pytest.fixture(scope="session")
def gitea(testbed_parts: Parts, shared_folder: Path) -> Iterator[GiteaApi]:
    """The run's forge, as its administrator ``bot`` sees it; other tests use it at the same time."""
    with joined("gitea", shared_folder / "gitea") as state:
        yield GiteaApi(state["url"], state["user"], state["token"])


@pytest.fixture
def forge_repo(gitea: GiteaApi, request: pytest.FixtureRequest) -> ForgeRepo:
    """A fresh repository of an organization on the run's forge, with one commit on ``main``."""
    gitea.create_organization(ORGANIZATION)
    return gitea.create_repository(unique_name(request), organization=ORGANIZATION)


def unique_name(request: pytest.FixtureRequest) -> str:
    """Return a name that tells which test it belongs to, valid for namespaces, nodes and repositories."""
    slug = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    return f"{slug[:30].strip('-')}-{uuid.uuid4().hex[:6]}"
