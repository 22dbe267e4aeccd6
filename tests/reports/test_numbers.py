"""Values as people read them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.reports.answer import cell
from ftplan.reports.numbers import count, duration, label, number, share, shown, size


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.25, "0.25 s"),
        (96.0, "96 s"),
        (119.99, "120 s"),
        (120.0, "2 min"),
        (372.19, "6 min 12 s"),
        (7199.9, "120 min"),
        (7500.0, "2 h 5 min"),
        (180_000.0, "2 d 2 h"),
        (-90.0, "−90 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert " ".join(duration(seconds).split()) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (0.05, "5 %"), (0.3041666, "30.4 %"), (0.00107, "0.11 %"), (1e-8, "< 0.01 %"), (1.0, "100 %")],
)
def test_shares(value: float, text: str) -> None:
    assert " ".join(share(value).split()) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (1536, "1.5 KiB"), (268_435_456, "256 MiB"), (1_775_388_964.57, "1.65 GiB"), (5e18, "4,441 PiB")],
)
def test_sizes(value: float, text: str) -> None:
    assert " ".join(size(value).split()) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(5.55e-17, "0"), (3, "3"), (11031.23, "11,031"), (0.304166666667, "0.3042"), (62.0, "62"), (3e-5, "3e-05")],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("last_back_s", 372.19, "6 min 12 s"),
        ("bandwidth_mb_s", 25.0, "25"),
        ("memory_mb", 3104.0, "3.03 GiB"),
        ("state_bytes", 1024, "1 KiB"),
        ("output_fidelity", 0.5, "50 %"),
        ("output-fidelity", 0.5, "50 %"),
        ("prefetch", True, "yes"),
        ("node", None, "–"),
        ("nodes", ["n1", "n2"], "n1, n2"),
        ("tolerance", {"nodes": 1, "window_s": 60.0}, "nodes: 1, window: 60 s"),
    ],
)
def test_the_name_of_a_field_tells_its_unit(name: str, value: Any, text: str) -> None:
    assert " ".join(shown(name, value).split()) == text


def test_labels_and_counts() -> None:
    assert label("back_s") == "back after"
    assert label("extra_core_s") == "extra core"
    assert [count(n, "copy") for n in (1, 2, 1000)] == ["1 copy", "2 copies", "1,000 copies"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_is_long(value: float) -> None:
    assert len(number(value)) <= 22
    assert all(len(form(min(abs(value), 1e30))) <= 50 for form in (duration, share, size))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9999, "0.9999"), (0.99996, "0.999960"), (0.99999954, "0.99999954"), (1.0 - 1e-12, "1"), (1.00001, "1")],
)
def test_what_is_nearly_one_is_not_one(value: float, text: str) -> None:
    """A survival of five nines is not certain; rounding errors are none."""
    assert number(value) == text
    assert cell(value) == text
