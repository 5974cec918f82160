"""A mixed-integer program as it is written down: columns, then rows over them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int32]


class Program:
    """Columns from 0 to a bound, whole or not, and rows ``low <= sum <= high``."""

    def __init__(self) -> None:
        self.upper: list[float] = []
        self.whole: list[bool] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self._rows: list[Mapping[int, int]] = []

    def column(self, upper: float, *, whole: bool = True) -> int:
        """Add a column and return its index."""
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.upper) - 1

    def at_most(self, row: Mapping[int, int], high: int) -> None:
        """Require that the sum of ``row`` (coefficients by column) is at most ``high``."""
        self._add(row, -np.inf, high)

    def at_least(self, row: Mapping[int, int], low: int) -> None:
        """Require that the sum of ``row`` is at least ``low``."""
        self._add(row, low, np.inf)

    def equal(self, row: Mapping[int, int], value: int) -> None:
        """Require that the sum of ``row`` is ``value``."""
        self._add(row, value, value)

    def _add(self, row: Mapping[int, int], low: float, high: float) -> None:
        self._rows.append(row)
        self.low.append(low)
        self.high.append(high)

    def matrix(self) -> tuple[Indices, Indices, Numbers]:
        """Return the rows' starts, columns and coefficients."""
        lengths = [len(row) for row in self._rows]
        start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        index = np.fromiter(chain.from_iterable(self._rows), dtype=np.int32, count=int(start[-1]))
        values = chain.from_iterable(row.values() for row in self._rows)
        return start, index, np.fromiter(values, dtype=np.float64, count=int(start[-1]))
