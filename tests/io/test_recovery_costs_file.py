"""Recovery costs: what they hold, and exact messages."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.model.recovery_costs import Estimate
from tests.io.cases import RECOVERY_COSTS
from tests.io.examples import said


def changed(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(RECOVERY_COSTS)
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


def test_what_is_read() -> None:
    costs = load_recovery_costs(RECOVERY_COSTS).value
    assert costs.state == "remote"
    assert costs.detection_s == Estimate(50, 45.5, 60)
    assert costs.restart_s == Estimate(12.5)
    assert set(costs.estimates) == set(RECOVERY_COSTS["parameters"])
    assert costs.rates is not None
    assert costs.rates.holds(1e3)
    assert not costs.rates.holds(999)
    least = load_recovery_costs(
        {"format": "ftplan/recovery-costs", "format_version": "1.0", "state": "local", "parameters": {}}
    )
    assert least.value.estimates == {}
    assert least.value.intervals_s is None


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("state",), "disk", "state: expected 'local' or 'remote', got 'disk'"),
        (("parameters", "detection_s"), 5, "parameters.detection_s: expected a mapping, got 5"),
        (("parameters", "detection_s", "low"), 51, "parameters.detection_s.low: 51 is above the value 50"),
        (("parameters", "bandwidth_mb_s", "high"), 79, "parameters.bandwidth_mb_s.high: 79 is below the value 80"),
        (("parameters", "bandwidth_mb_s", "value"), 0, "parameters.bandwidth_mb_s.value: must be more than 0, got 0"),
        (("fitted_on", "rates"), [5, 1], "fitted_on.rates: the range [5, 1] ends before it begins"),
        (("fitted_on", "rates"), [5], "fitted_on.rates: expected 2 values, got 1"),
    ],
)
def test_messages(place: tuple[str, ...], value: Any, message: str) -> None:
    assert said(load_recovery_costs, changed(place, value)) == f"recovery costs: {message}"


def test_a_name_that_is_off() -> None:
    loaded = load_recovery_costs(changed(("parameters", "detecton_s"), {"value": 1}))
    assert [w.message for w in loaded.warnings] == [
        "recovery costs: parameters.detecton_s: unknown key is ignored (did you mean 'detection_s'?)"
    ]
