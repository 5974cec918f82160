"""We and both schedulers say the same of every node, or the difference is documented.

REPACK_AGREEMENT_CASES  how many cases (1,000 unless said)
REPACK_AGREEMENT_SEED   the first seed, or ``fresh`` for seeds that nobody ran before
REPACK_AGREEMENT_TABLE  a file, without its suffix, for the agreement by filter: ``.md`` and ``.json`` are written
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.real.agreement.api import Api
from tests.real.agreement.bed import start_bed
from tests.real.agreement.check import Check
from tests.real.agreement.extender import Extender, Notes
from tests.real.agreement.generator import case_of
from tests.real.agreement.runner import Runner
from tests.real.agreement.universe import Universe
from tests.testbed.control_plane import ControlPlane

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("agreement"), pytest.mark.timeout(7200)]

SLOTS = 100


@pytest.fixture
def check(own_control_plane: Callable[..., ControlPlane], tmp_path: Path) -> Iterator[Check]:
    with ExitStack() as running:
        notes = Notes()
        extender = running.enter_context(Extender(notes))
        plane = start_bed(own_control_plane, extender.url, tmp_path)
        api = running.enter_context(Api(plane))
        yield Check(Runner(plane.kubeconfig, Universe(api, min(SLOTS, cases())), notes))


def cases() -> int:
    return int(os.environ.get("REPACK_AGREEMENT_CASES", "1000"))


def first_seed() -> int:
    wanted = os.environ.get("REPACK_AGREEMENT_SEED", "0")
    return secrets.randbelow(10**9) if wanted == "fresh" else int(wanted)


def test_we_and_both_schedulers_agree(check: Check) -> None:
    first = first_seed()
    check.run(map(case_of, range(first, first + cases())))
    write(check)
    report = f"seeds from {first}\n{check.report()}"
    print(report)
    assert not check.differing, report
    refused = [reason for reason in check.table.skipped if reason.startswith("refused")]
    assert not refused, "the generator drew what the API server does not take"


def write(check: Check) -> None:
    wanted = os.environ.get("REPACK_AGREEMENT_TABLE")
    if wanted:
        Path(f"{wanted}.md").write_text(check.table.markdown())
        Path(f"{wanted}.json").write_text(check.table.json())
