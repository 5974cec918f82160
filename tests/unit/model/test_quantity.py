"""Quantities as Kubernetes writes them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repack_gitops.model.quantity import (
    QuantityError,
    format_quantity,
    is_device,
    parse_quantity,
    whole,
)


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("0", 0),
        ("8", 8_000),
        (8, 8_000),
        (0.5, 500),
        ("1500m", 1_500),
        ("1.5", 1_500),
        (".5", 500),
        ("1.", 1_000),
        ("+2", 2_000),
        ("-2", -2_000),
        ("1k", 1_000_000),
        ("1Ki", 1_024_000),
        ("512Gi", 512 * 2**30 * 1_000),
        ("1E", 10**21),
        ("1E3", 1_000_000),
        ("1e3", 1_000_000),
        ("12e-1", 1_200),
        ("1n", 1),
        ("1u", 1),
        ("1000001n", 2),
        ("-1n", -1),
        ("100P", 10**20),
        ("007", 7_000),
    ],
)
def test_quantities(text: str | int | float, milli: int) -> None:
    assert parse_quantity(text) == milli


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1\n", "m", ".", "1mm", "1KI", "1ki", "K", "1K", "0x1", "1e", "1e100", "1_0", "--1", "1,5", "inf", "nan"],
)
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_quantity(value: bool) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(value)


@given(st.integers(-(10**18), 10**18))
def test_what_is_formatted_reads_back(milli: int) -> None:
    assert parse_quantity(format_quantity(milli)) == milli


@given(st.integers(0, 10**15), st.sampled_from(["n", "u", "m", "", "k", "M", "Ki", "Mi", "Gi"]))
def test_rounding_is_up_and_by_less_than_a_thousandth(number: int, suffix: str) -> None:
    factor = {"n": 1, "u": 10**3, "m": 10**6, "": 10**9, "k": 10**12, "M": 10**15}.get(suffix)
    exact = (
        Fraction(number * factor, 10**6) if factor else Fraction(number * 1024 ** (["Ki", "Mi", "Gi"].index(suffix) + 1) * 1000)
    )
    assert exact <= parse_quantity(f"{number}{suffix}") < exact + 1


@pytest.mark.parametrize(("milli", "units"), [(8_000, 8), (8_999, 8), (0, 0), (999, 0)])
def test_whole_units_are_rounded_down(milli: int, units: int) -> None:
    assert whole(milli) == units


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("nvidia.com/gpu", True),
        ("huawei.com/ascend-1980", True),
        ("notkubernetes.io/x", True),
        ("cpu", False),
        ("hugepages-2Mi", False),
        ("kubernetes.io/x", False),
        ("attachable-volumes.kubernetes.io/x", False),
    ],
)
def test_devices(name: str, device: bool) -> None:
    assert is_device(name) is device
