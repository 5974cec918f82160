"""Kubernetes quantities as integers of thousandths ("milli"), the one unit of this project.

Grammar and rounding follow Kubernetes' ``resource.Quantity``: binary and decimal suffixes, decimal exponents, and
rounding up where a value is finer than a thousandth. Python integers do not overflow, so ``100P`` is exact.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil

MILLI = 1000
#: Longer texts are no quantities: Kubernetes itself keeps 18 digits.
LONGEST = 64

_SUFFIX: dict[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
# "1E" is exa, "1E3" and "1e3" are exponents: the exponent needs digits, so the longer form is tried first. Sixteen
# digits of exponent would be a denial of service, not a quantity.
_QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)


class QuantityError(ValueError):
    """The text is not a Kubernetes quantity."""


@lru_cache(maxsize=65536)
def parse_quantity(value: str | int | float) -> int:
    """Return ``value`` in thousandths, rounded up.

    Parameters
    ----------
    value
        A quantity as Kubernetes prints it (``"8"``, ``"1500m"``, ``"512Gi"``, ``"1e3"``) or a plain number, which
        YAML and JSON allow in its place.

    Raises
    ------
    QuantityError
        When the text does not follow Kubernetes' grammar.

    Source: ``k8s.io/apimachinery/pkg/api/resource``.
    """
    if isinstance(value, bool):
        raise QuantityError(f"{value!r} is not a quantity")
    text = str(value)[: LONGEST + 1]
    match = _QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        raise QuantityError(f"{text!r} is not a quantity")
    sign, number, exponent, suffix = match.groups()
    scale = Fraction(10) ** int(exponent) if exponent else _SUFFIX[suffix or ""]
    milli = ceil(Fraction(number) * scale * MILLI)
    return -milli if sign == "-" else milli


def whole(milli: int) -> int:
    """Return whole units, rounded down: ``8000`` is 8 cards."""
    return milli // MILLI


def format_quantity(milli: int) -> str:
    """Return the shortest plain text of ``milli`` thousandths: ``"8"`` or ``"1500m"``."""
    units, rest = divmod(milli, MILLI)
    return f"{milli}m" if rest else str(units)


def is_device(resource: str) -> bool:
    """Tell whether ``resource`` is an extended resource, which Kubernetes counts in whole devices."""
    domain, slash, _ = resource.partition("/")
    return bool(slash) and not (domain == "kubernetes.io" or domain.endswith(".kubernetes.io"))
