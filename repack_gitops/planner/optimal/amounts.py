"""Amounts as small integers for a solver: rounded so that whatever fits in truth fits here.

A request in units is rounded down, and so is what a node has idle: the units of pods that fit together never exceed the
units of the room they fit in. Where the unit divides every request nothing is lost, and a fit here is a fit in truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import gcd

import numpy as np

from repack_gitops.planner.attachments import is_attachable
from repack_gitops.planner.problem import Problem, Whole

#: Largest room of one node, in units: larger coefficients would strain the solver's tolerances.
MOST_UNITS = 100_000


@dataclass(frozen=True, slots=True)
class Column:
    """One resource: requests by pod class and idle room by node, in units of ``unit``."""

    name: str
    requests: Whole
    room: Whole
    unit: int


def sound_columns(problem: Problem) -> list[Column]:
    """Return the resources a bound may rest on, the target first.

    Left out is what the search's arrays only approximate from the safe side, which would make a bound too small: amounts
    that had to be scaled, and volumes that pods may share.
    """
    sound = [c for c, name in enumerate(problem.columns) if problem.scales[c] == 1 and not is_attachable(name)]
    return [_column(problem.columns[c], problem.requests[:, c], problem.idle[c]) for c in sound]


def safe_columns(problem: Problem) -> list[Column]:
    """Return all resources, the target first, rounded the other way: whatever fits here fits in truth."""
    return [_safe(problem.columns[c], problem.requests[:, c], problem.idle[c]) for c in range(len(problem.columns))]


def _column(name: str, requests: Whole, idle: Whole) -> Column:
    unit = _unit(requests, idle)
    return Column(name, _capped(requests // unit), np.maximum(idle // unit, -1), unit)


def _safe(name: str, requests: Whole, idle: Whole) -> Column:
    unit = _unit(requests, idle)
    return Column(name, _capped(-(-requests // unit)), np.maximum(idle // unit, -1), unit)


def _capped(requests: Whole) -> Whole:
    """Let what exceeds every node exceed it by little: HiGHS refuses a program with a coefficient above 10^15."""
    return np.minimum(requests, MOST_UNITS + 1)


def _unit(requests: Whole, idle: Whole) -> int:
    """Return a unit that divides all requests, or a multiple of it if there would be too many of it on a node."""
    common = reduce(gcd, map(int, requests), 0) or 1
    largest = int(idle.max(initial=0)) // common
    return common * max(-(-largest // MOST_UNITS), 1)
