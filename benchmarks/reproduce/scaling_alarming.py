"""Mudassar et al.'s figure 12: for how much of the time backups run, by the alarming threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from overloads_ahead import PROMOTE, READY, SCALE_IN, loads

from ftplan.planners.scale_out.algorithms.alarming import alarming_point, alarming_threshold
from reproduce.checks import at_least, at_most, within
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table

#: Use of the busiest task from which on the score is above the threshold of scaling out, with ftplan's own rules.
LIMIT = 0.62
COLUMNS = ("load", "threshold", "backups_run", "ready", "auto")


def make_alarming(quick: bool) -> Outcome:
    """Return, by alarming threshold, how much of the time backups run, and for how many crossings they are ready."""
    rows = []
    for load in loads(quick):
        tasks = load.records.shape[1]
        title = f"{load.title}, {tasks} tasks" if tasks > 1 else load.title
        score, setup = replace(load, limit=LIMIT).score, load.setup_windows
        auto = alarming_threshold(score, SCALE_IN, PROMOTE, setup, READY, PROMOTE).chosen.threshold
        even = np.arange(0.0, PROMOTE + 0.1, 10.0 if quick else 2.5).tolist()
        for threshold in sorted({*even, auto}):
            run = float((score >= threshold).mean())
            ready = alarming_point(score, threshold, PROMOTE, setup).ready
            rows.append((title, threshold, run, ready, threshold == auto))
    table = Table(COLUMNS, tuple(rows))
    return Outcome(table, lines(table, "threshold", ["backups_run", "ready"], panel="load", label="share"))


def _falls(column: str, table: Table) -> Iterator[Check]:
    for load in table.keys("load"):
        values = table.column(column, load=load)
        yield at_most(f"{load}: largest rise", max(b - a for a, b in pairwise(values)), 0.0)
        yield at_most(f"{load}: at {PROMOTE:g} over that at the lowest", values[-1] / values[0], 0.9)


def _at(column: str, threshold: float, low: float, high: float, table: Table) -> Iterator[Check]:
    for load in table.keys("load"):
        yield within(f"{load}", table.value(column, load=load, threshold=threshold), low, high)


def _solved(table: Table) -> Iterator[Check]:
    for load in table.keys("load"):
        (auto,) = table.column("threshold", load=load, auto=True)
        yield at_least(f"{load}, {auto:g}: ready for", table.value("ready", load=load, threshold=auto), READY)
        run = table.value("backups_run", load=load, threshold=auto)
        yield at_most(f"{load}, {auto:g}: backups run", run, 0.9)


ROWS = (
    Row(
        "scaling-figure-12",
        "Mudassar2019",
        "figure 12",
        "time with backups by alarming threshold",
        make_alarming,
        (
            Claim(
                "a lower alarming threshold lets backups run for more of the time",
                "evaluation",
                f"their share of the time never rises with the threshold, and at {PROMOTE:g} is at most 0.9 times "
                "that at 0",
                lambda t: _falls("backups_run", t),
            ),
            Claim(
                "at 0 backups run all the time",
                "evaluation",
                "their share of the time is 1",
                lambda t: _at("backups_run", 0.0, 1.0, 1.0, t),
            ),
            Claim(
                "near the threshold of scaling out there is no time left to set backups up",
                "evaluation",
                f"the share of crossings that they are ready for never rises with the threshold, and is at most 0.5 at "
                f"{PROMOTE:g}",
                lambda t: [*_falls("ready", t), *_at("ready", PROMOTE, 0.0, 0.5, t)],
            ),
            Claim(
                "a threshold between both is wise, which saves resources and leaves time (ftplan solves for it)",
                "evaluation",
                f"`--alarming auto` is ready for {READY:g} of the crossings, with backups running for at most 0.9 of "
                "the time",
                _solved,
            ),
        ),
        "the load (Houston 2011 by hour, Wikipedia edits by minute, an operator of one task and of four), capacity (5 "
        f"% of the windows are above the threshold of scaling out, {PROMOTE:g}), membership functions and rules "
        "(ftplan's own), the time to set up a backup (an hour; two minutes). Backups run while the score is at the "
        "alarming threshold or above, promoted or not",
    ),
)
