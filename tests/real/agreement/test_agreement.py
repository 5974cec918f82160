"""We and both schedulers say the same of every node, or the difference is documented (docs/agreement.md).

REPACK_AGREEMENT_CASES  how many cases; 1,000 unless said
REPACK_AGREEMENT_SEED   the first seed, 0 unless said; ``fresh`` takes seeds that nobody ran before
REPACK_AGREEMENT_TABLE  a file, without its suffix: the agreement by filter is written there as ``.md`` and ``.json``
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.real.agreement.api import Api
from tests.real.agreement.bed import start_bed
from tests.real.agreement.case import Case
from tests.real.agreement.check import Check
from tests.real.agreement.compare import NO_CASE
from tests.real.agreement.extender import Extender, Notes
from tests.real.agreement.generator import case_of, group_case_of
from tests.real.agreement.runner import Runner
from tests.real.agreement.universe import Universe
from tests.testbed.control_plane import ControlPlane

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("agreement"), pytest.mark.timeout(7200)]

#: Cases that are looked at together: 400 nodes or so, and as many pods.
SLOTS = 100
Start = Callable[..., ControlPlane]
Capture = pytest.CaptureFixture[str]


def test_we_and_both_schedulers_agree(own_control_plane: Start, tmp_path: Path, capsys: Capture) -> None:
    run(own_control_plane, tmp_path, capsys, case_of, cases())


def test_we_and_volcano_agree_on_queues_that_choose_nodes(own_control_plane: Start, tmp_path: Path, capsys: Capture) -> None:
    """On a control plane of its own: one queue with an affinity concerns the pods of all others."""
    run(own_control_plane, tmp_path, capsys, group_case_of, min(SLOTS, cases()), node_groups=True)


def run(
    start: Start, folder: Path, capsys: Capture, make: Callable[[int], Case], count: int, *, node_groups: bool = False
) -> None:
    first = first_seed()
    with checking(start, folder, min(SLOTS, count), node_groups=node_groups) as check:
        check.run(map(make, range(first, first + count)))
        write(check, "-node-groups" if node_groups else "")
        report = f"seeds from {first}\n{check.report()}"
    with capsys.disabled():
        print(f"\n{report}")
    assert not check.differing, report
    refused = [reason for reason in check.table.skipped if reason.startswith(NO_CASE)]
    assert not refused, f"the generator drew what is not valid: {refused}"


@contextmanager
def checking(start: Start, folder: Path, slots: int, *, node_groups: bool) -> Iterator[Check]:
    with ExitStack() as running:
        notes = Notes()
        extender = running.enter_context(Extender(notes))
        plane = start_bed(start, extender.url, folder, node_groups=node_groups)
        universe = Universe(running.enter_context(Api(plane)), slots)
        yield Check(Runner(plane.kubeconfig, universe, notes))


def cases() -> int:
    return int(os.environ.get("REPACK_AGREEMENT_CASES", "1000"))


def first_seed() -> int:
    wanted = os.environ.get("REPACK_AGREEMENT_SEED", "0")
    return secrets.randbelow(10**9) if wanted == "fresh" else int(wanted)


def write(check: Check, suffix: str) -> None:
    wanted = os.environ.get("REPACK_AGREEMENT_TABLE")
    if wanted:
        Path(f"{wanted}{suffix}.md").write_text(check.table.markdown())
        Path(f"{wanted}{suffix}.json").write_text(check.table.json())
