"""The states of an operator over time, by its score: when it is prepared, and when it is split [Mudassar2019].

Algorithm 1 there: from the alarming threshold on a secondary is started, above the promotion threshold it becomes
primary; it is stopped where the score falls back first. Below the threshold of scaling in there are too many tasks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ftplan.errors import FtplanError
from ftplan.planners.scale_out.problem import State


class ScoreThresholds(NamedTuple):
    """Scores, from 0 to 100, at which an operator changes its state; in this order from low to high."""

    scale_in: float
    alarming: float
    promote: float


class Transition(NamedTuple):
    """A change of state, in the window whose score made it.

    ``late``: the operator is to be split before a secondary that was started at the alarming threshold is set up.
    """

    window: int
    before: State
    after: State
    late: bool = False


class Timeline(NamedTuple):
    """The state after each window, and where it changed."""

    states: tuple[State, ...]
    events: tuple[Transition, ...]


def timeline(scores: Sequence[float], thresholds: ScoreThresholds, setup_windows: float, hold: int) -> Timeline:
    """Return the states of an operator over W windows, by its scores, (W,); a window without a score changes nothing.

    A secondary that is started after one window is set up *setup_windows* later. An operator is scaled in when its
    score stays below that threshold for *hold* windows in a row: the paper names the threshold only. The records show
    no operator that was split by this plan: one that was promoted stays so while its score is at the alarming
    threshold or above.
    """
    states: list[State] = []
    events: list[Transition] = []
    state: State = "normal"
    since, below = 0, 0
    for window, score in enumerate(scores):
        before = state
        late = False
        if not math.isnan(score):
            below = below + 1 if score < thresholds.scale_in else 0
            if score > thresholds.promote:
                state = "promoted"
                late = before != "promoted" and (before != "prepared" or window - since < setup_windows)
            elif score >= thresholds.alarming:
                state = "promoted" if before == "promoted" else "prepared"
            else:
                state = "scale-in" if below >= hold else "normal"
        if state != before:
            events.append(Transition(window, before, state, late))
            since = window
        states.append(state)
    return Timeline(tuple(states), tuple(events))


def check_thresholds(thresholds: ScoreThresholds, reachable: tuple[float, float]) -> None:
    """Raise FtplanError unless thresholds rise, and scores reach both sides of each; *reachable* are the outermost."""
    low, high = reachable
    named = {"--scale-in": thresholds.scale_in, "--alarming": thresholds.alarming, "--promote": thresholds.promote}
    for name, value in named.items():
        if not low < value < high:
            never = "below" if value <= low else "above"
            raise FtplanError(
                f"{name}: {value:g}: no score lies {never} it: with these rules they are from {low:.4g} to {high:.4g}; "
                f"give a threshold between"
            )
    if thresholds.scale_in >= thresholds.alarming:
        raise FtplanError(
            f"--alarming: {thresholds.alarming:g}: must be above --scale-in, which is {thresholds.scale_in:g}"
        )
    if thresholds.alarming > thresholds.promote:
        raise FtplanError(
            f"--alarming: {thresholds.alarming:g}: must not be above --promote, which is {thresholds.promote:g}"
        )
