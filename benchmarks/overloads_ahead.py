"""Overloads that are announced in time on real load curves: by scores, by forecasts, and by rules on cpu.

Run from the project's root: ``python benchmarks/overloads_ahead.py [--quick]``. Prints Markdown.

An operator of one task, which shows the curve itself, and of four, key groups dealt by number as engines do, so that
one is busier than the others: Houston 2011 (departures by destination, hourly) and Wikipedia edits of 12 September 2015
(by channel, each minute). Tasks are alike, and their capacity is such that 5 % of the windows have a task with more
records than it takes; what it does not take waits. What can be learnt (the alarming threshold, that on use, the method
of forecasts) is learnt on the first part, half of Houston and a fifth of the Wikipedia day, whose overloads begin
early; figures are of the rest. With the rules that ftplan has, scores are above 70 from 62 % of use on, and all alike
from 70 % on.

An overload is a stretch of windows with more records than a task takes. It is announced in time where the alarm was on
in all of the windows before it that a backup takes to be set up (an hour; two minutes). A false alarm is one without an
overload while it is on, or in as many windows after it. Core-seconds are those of a backup with a core for each task,
while the alarm is on. Memory is not known: it counts as the mean of the other inputs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from exact_allocation import houston
from unseen_time import wikiticker

from ftplan.model.measures.task_state import even_ranges
from ftplan.planners.scale_out.algorithms.alarming import alarming_threshold
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import scores
from ftplan.planners.scale_out.bottlenecks.rules_file import shipped_rules
from ftplan.planners.scale_out.forecasting.forecast import Forecaster, forecaster
from ftplan.planners.scale_out.forecasting.methods import windows_a_day

OVERLOADED = 0.05
SCALE_IN, ALARMING, PROMOTE, READY = 25.0, 55.0, 70.0, 0.95


@dataclass(frozen=True, eq=False)
class OperatorLoad:
    """Records of each task in each window, (W, T), how long a backup takes to be set up, and what is learnt on.

    5 % of the windows have a task whose use is above ``limit``.
    """

    title: str
    records: np.ndarray
    window_s: float
    setup_windows: int
    learnt: int
    limit: float = 1.0

    @cached_property
    def capacity(self) -> float:
        """Records that a task takes in a window."""
        return float(np.quantile(self.records.max(axis=1), 1.0 - OVERLOADED, method="higher")) / self.limit

    @cached_property
    def use(self) -> np.ndarray:
        """Records over what each task takes, (W, T)."""
        return self.records / self.capacity

    @cached_property
    def inputs(self) -> np.ndarray:
        """Cpu, memory (not known) and data size of each task, (W, T, 3), in percent."""
        waiting = np.zeros(self.records.shape[1])
        rows = []
        for records in self.records:
            offered = waiting + records
            waiting = np.maximum(offered - self.capacity, 0.0)
            rows.append(np.minimum(offered / self.capacity, 1.0))
        busy = 100.0 * np.array(rows)  # records that wait are taken first: cpu and data size are alike up to 100
        return np.stack([busy, np.full_like(busy, np.nan), busy], axis=-1)

    @cached_property
    def score(self) -> np.ndarray:
        """The score of the worst task, (W,)."""
        return np.asarray(scores(shipped_rules(), self.inputs).max(axis=1))

    @cached_property
    def overloaded(self) -> np.ndarray:
        return self.use.max(axis=1) > 1.0


def loads(quick: bool = False) -> Iterator[OperatorLoad]:
    hours, minutes = houston(), wikiticker(1)
    if quick:
        hours = hours[: 8 * 7 * 24]
    for tasks in (1, 4):
        yield OperatorLoad("Houston by hour", by_task(hours, tasks), 3600.0, 1, len(hours) // 2)
        yield OperatorLoad("wikiticker by minute", by_task(minutes, tasks), 60.0, 2, len(minutes) // 5)


def by_task(groups: np.ndarray, tasks: int) -> np.ndarray:
    """Return records by task, (W, tasks), of records by key group."""
    return np.stack([groups[:, a : b + 1].sum(axis=1) for a, b in even_ranges(groups.shape[1], tasks)], axis=1)


def alarms(load: OperatorLoad) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what raises an alarm, and after which windows it is on, (W,)."""
    worst, cpu, seen = load.use.max(axis=1), load.inputs[..., 0], slice(load.learnt)
    learn = partial(alarming_threshold, setup_windows=load.setup_windows, ready=READY)
    yield "cpu ≥ 80 %, mean of the tasks", cpu.mean(axis=1) >= 80.0
    if cpu.shape[1] > 1:
        yield "cpu ≥ 80 %, busiest task", cpu.max(axis=1) >= 80.0
    yield f"score ≥ {ALARMING:g}", load.score >= ALARMING
    auto = learn(load.score[seen], SCALE_IN, PROMOTE, otherwise=ALARMING).chosen.threshold
    yield f"score ≥ {auto:g}, `--alarming auto`", load.score >= auto
    use = learn(100.0 * worst[seen], 0.0, 100.0, otherwise=80.0).chosen.threshold
    yield f"use of the busiest task ≥ {use:g} %, learnt as `auto` is", 100.0 * worst >= use
    day, ahead = windows_a_day(load.window_s), load.setup_windows + 1
    best = forecaster(worst, load.learnt, ahead, day)
    if day < load.learnt:
        naive = forecaster(worst, load.learnt, ahead, day, "seasonal-naive")
        yield "same as yesterday", foretold(load, naive, ahead) >= 0.5
    share = foretold(load, best, ahead)
    yield f"forecast ({best.method}), half of its paths", share >= 0.5
    yield f"forecast ({best.method}), one of twenty paths", share >= 0.05
    next_ones = np.lib.stride_tricks.sliding_window_view(np.append(load.overloaded, [False] * ahead), ahead + 1)
    yield "known beforehand", next_ones.any(axis=1)


def foretold(load: OperatorLoad, how: Forecaster, ahead: int) -> np.ndarray:
    """Return after each window, (W,), the share of the busiest task's paths with an overload; 1 in one."""
    worst = load.use.max(axis=1)
    share = np.array(worst > 1.0, dtype=float)
    for window in range(load.learnt - 1, len(worst)):
        paths = how.at(worst[: window + 1], ahead).paths
        share[window] = max(share[window], float((paths > 1.0).any(axis=1).mean()))
    return share


def starts(mask: np.ndarray) -> np.ndarray:
    return np.flatnonzero(mask & ~np.concatenate([[False], mask[:-1]]))


def figures(load: OperatorLoad, on: np.ndarray) -> tuple[float, float, float, float]:
    """Return what came of an alarm after the learnt part.

    The share of the overloads that it announced in time, false alarms a day, the share of the time with the alarm on,
    and core-seconds a day.
    """
    begin, setup = load.learnt, load.setup_windows
    overloads = [window for window in starts(load.overloaded).tolist() if window >= begin + setup]
    announced = sum(bool(on[window - setup : window].all()) for window in overloads)
    later = on[begin:]
    ends = np.flatnonzero(later & ~np.append(later[1:], False))
    false = sum(
        not load.overloaded[begin + first : begin + last + 1 + setup].any()
        for first, last in zip(starts(later), ends, strict=True)
    )
    days = len(later) * load.window_s / 86400.0
    share = float(later.mean())
    return announced / max(len(overloads), 1), false / days, share, share * 86400.0 * load.records.shape[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="eight weeks of Houston")
    asked = parser.parse_args()
    print("| load | tasks | alarm | overloads announced in time | false alarms a day | time on | core-seconds a day |")
    print("|---|--:|---|--:|--:|--:|--:|")
    for load in loads(asked.quick):
        for name, on in alarms(load):
            announced, false, share, core_s = figures(load, on)
            cells = (load.title, load.records.shape[1], name, f"{announced:.0%}", f"{false:.2f}", f"{share:.0%}")
            print("| " + " | ".join(map(str, (*cells, f"{core_s:,.0f}"))) + " |", flush=True)


if __name__ == "__main__":
    main()
