"""The most cards that pods of given sizes can use of a node."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

#: Beyond this many units the free cards themselves are the bound.
_LARGEST = 4_096


@cache
def fullest(sizes: tuple[int, ...], limit: int) -> int:
    """Return the largest sum of ``sizes``, each as often as one likes, that does not exceed ``limit`` (>= 0)."""
    if limit > _LARGEST or 1 in sizes:
        return limit if sizes else 0
    reached = 1  # bit b: the sum b can be made
    for size in sizes:
        step = size
        while 0 < step <= limit:
            reached |= reached << step
            reached &= (1 << limit + 1) - 1
            step *= 2
    return reached.bit_length() - 1


def nested(sizes: Iterable[int]) -> bool:
    """Tell whether of any two sizes the smaller divides the larger: then sums decide what fits (1, 2, 4, 8)."""
    ordered = sorted(set(sizes))
    return all(small and large % small == 0 for small, large in pairwise(ordered))
