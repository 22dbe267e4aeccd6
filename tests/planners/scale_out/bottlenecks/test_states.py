"""The states of an operator by its scores: traces made by hand, one for each way through algorithm 1."""

from __future__ import annotations

import math

import pytest

from ftplan.errors import FtplanError
from ftplan.planners.scale_out.bottlenecks.histories import ScoreThresholds, Transition, check_thresholds, timeline

AT = ScoreThresholds(scale_in=25.0, alarming=55.0, promote=70.0)
LETTERS = {"normal": "n", "prepared": "p", "promoted": "P", "scale-in": "s"}
NAN = math.nan


@pytest.mark.parametrize(
    ("scores", "states", "late"),
    [
        pytest.param([50, 54.9, 50], "nnn", [], id="normal"),
        pytest.param([50, 55, 60, 65, 71, 75], "npppPP", [], id="prepared in time, then promoted"),
        pytest.param([50, 55, 70, 60, 54, 50], "npppnn", [], id="relapse: 70 is not above 70"),
        pytest.param([50, 75, 75, 40], "nPPn", [1], id="straight past promote"),
        pytest.param([50, 60, 71, 75], "npPP", [2], id="not yet set up"),
        pytest.param([50, 60, 60, 71], "nppP", [], id="set up just in time"),
        pytest.param([60, 60, 71, 60, 69, 55, 54], "ppPPPPn", [], id="promoted until below alarming"),
        pytest.param([60, 60, 71, 54, 60, 71], "ppPnpP", [5], id="the second time too late"),
        pytest.param([20, 20, 20, 20, 30], "nnssn", [], id="scale-in after three windows"),
        pytest.param([20, 20, 25, 20, 20, 24.9], "nnnnns", [], id="interrupted: 25 is not below 25"),
        pytest.param([20, 20, 20, 60, 20], "nnspn", [], id="from scale-in to prepared"),
        pytest.param([20, 20, 20, 80], "nnsP", [3], id="from scale-in straight past promote"),
        pytest.param([80, 20, 20, 20, 20], "Pnnss", [0], id="from promoted to scale-in"),
        pytest.param([60, NAN, 71, NAN, 20, NAN, 20, 20], "ppPPnnns", [], id="windows without a score"),
        pytest.param([NAN, NAN], "nn", [], id="nothing known"),
        pytest.param([], "", [], id="no windows"),
    ],
)  # fmt: skip
def test_traces(scores: list[float], states: str, late: list[int]) -> None:
    line = timeline(scores, AT, setup_windows=2, hold=3)
    assert "".join(LETTERS[state] for state in line.states) == states
    assert [event.window for event in line.events if event.late] == late
    before = "n"
    changes = []
    for window, after in enumerate(states):
        if after != before:
            changes.append((window, before, after))
        before = after
    assert [(e.window, LETTERS[e.before], LETTERS[e.after]) for e in line.events] == changes


def test_a_secondary_that_takes_no_time_is_late_only_where_none_was_started() -> None:
    assert timeline([60, 71], AT, 0, 1).events == (
        Transition(0, "normal", "prepared"),
        Transition(1, "prepared", "promoted"),
    )
    assert timeline([71], AT, 0, 1).events == (Transition(0, "normal", "promoted", late=True),)


def test_alarming_at_promote_leaves_no_time_to_prepare() -> None:
    line = timeline([69, 70, 71], ScoreThresholds(25.0, 70.0, 70.0), 0.5, 1)
    assert line.states == ("normal", "prepared", "promoted")


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ((20.0, 55.0, 70.0), "--scale-in: 20: no score lies below it: with these rules they are from 20.42 to 79.58; "),
        ((25.0, 55.0, 80.0), "--promote: 80: no score lies above it: with these rules they are from 20.42 to 79.58; "),
        ((25.0, 90.0, 95.0), "--alarming: 90: no score lies above it"),
        ((60.0, 55.0, 70.0), "--alarming: 55: must be above --scale-in, which is 60"),
        ((25.0, 75.0, 70.0), "--alarming: 75: must not be above --promote, which is 70"),
    ],
)
def test_thresholds_that_make_no_sense_are_refused(thresholds: tuple[float, float, float], message: str) -> None:
    with pytest.raises(FtplanError) as raised:
        check_thresholds(ScoreThresholds(*thresholds), (20.41667, 79.58333))
    assert str(raised.value).startswith(message)


def test_thresholds_within_reach() -> None:
    check_thresholds(AT, (20.4, 79.6))
    check_thresholds(ScoreThresholds(25.0, 70.0, 70.0), (20.4, 79.6))
