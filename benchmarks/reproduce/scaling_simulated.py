"""Mudassar et al.: a stateful operator that is split while it runs, simulated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np

import ftplan
from reproduce.checks import at_least, at_most, mean, number
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table

PAPER = "Mudassar2019"
#: Name in the figures, and mode of the simulation, in the order of the paper's claims.
MODES = {"active backup": "active-backup", "checkpoint": "checkpoint", "Storm": "storm-restart"}
RESTARTS_S = (680.0, 1050.0)
SETUP_S, OVERHEAD_S, QUICK_BATCH_S = 10.0, 0.05, 2.0


@cache
def doubling(quick: bool) -> Any:
    """Return what the job does for 1,500 s in which the rate is doubled twice, in the paper's modes and without."""
    return ftplan.simulate(
        "scaling", ftplan.load(), mode=("none", *MODES.values()), load="doubling", setup_s=SETUP_S, every_s=10.0,
        restart_at_s=RESTARTS_S, storm_overhead_s=OVERHEAD_S, batch_s=QUICK_BATCH_S if quick else 0.1,
    ).to_dict()  # fmt: skip


def _mode(document: Any, name: str) -> Any:
    return next(item for item in document["modes"] if item["mode"] == MODES.get(name, name))


def _counts(mode: Any) -> list[int]:
    return [int(count) for count, _ in groupby(round(value) for value in mode["over_time"]["executors"])]


def make_executors(quick: bool, name: str) -> Outcome:
    """Return how many executors run over time under a technique."""
    document = doubling(quick)
    both = {other: _mode(document, other) for other in ("active backup", "checkpoint")}
    rows = tuple(
        (
            technique,
            step + 1,
            count,
            round(both[technique]["summary"]["core_s"]["mean"], 1),
            _overlap_s(both[technique], document, count),
        )
        for technique in both
        for step, count in enumerate(_counts(both[technique]))
    )
    table = Table(("technique", "step", "executors", "core_s", "seconds"), rows)
    curve = Table(
        ("seconds", "executors"),
        tuple(zip(document["time_s"], both[name]["over_time"]["executors"], strict=True)),
    )
    return Outcome(table, lines(curve, "seconds", ["executors"], label="executors"))


def _overlap_s(mode: Any, document: Any, count: int) -> float:
    """Return for how long so many executors ran, in seconds."""
    at_s = [0.0, *document["time_s"]]
    cells = zip(pairwise(at_s), mode["over_time"]["executors"], strict=True)
    return float(sum(b - a for (a, b), executors in cells if round(executors) == count))


def _sequence(name: str, table: Table) -> Iterator[Check]:
    seen = [int(count) for count in table.column("executors", technique=name)]
    for step, (is_, stated) in enumerate(zip([*seen, *[0] * 5], (9, 13, 11, 19, 15), strict=False), 1):
        yield Check(is_ == stated, f"step {step}: {is_} executors")
    yield Check(len(seen) == 5, f"{len(seen)} numbers of executors")


def _cheaper(table: Table) -> Iterator[Check]:
    backup, checkpoint = (table.column("core_s", technique=name)[0] for name in ("active backup", "checkpoint"))
    yield Check(0.0 < checkpoint < backup, f"checkpoint {number(checkpoint)} core-s, active backup {number(backup)}")
    for executors in (13, 19):
        a, b = (table.column("seconds", technique=n, executors=executors) for n in ("active backup", "checkpoint"))
        text = f"{executors} executors for {a} s with active backup, {b} s with checkpoint"
        yield Check(bool(a and b and 0.0 < b[0] < a[0]), text)


def make_over_time(quick: bool, name: str) -> Outcome:
    """Return latency or throughput over time of the techniques and of Storm."""
    document = doubling(quick)
    rows, curves = [], []
    for shown in MODES:
        mode = _mode(document, shown)
        over_time, time_s = mode["over_time"], np.array(document["time_s"])
        values = np.array([np.nan if value is None else value for value in over_time[name]])
        summary = mode["summary"]
        rows.append(
            (
                shown,
                summary["mean_latency_s"]["mean"],
                summary["longest_latency_s"]["mean"],
                _pace(document, mode),
                *(_least(document, mode, at_s) for at_s in RESTARTS_S),
                _rise(over_time["latency_s"], time_s),
            )
        )
        curves += [(shown, *point) for point in zip(time_s.tolist(), values.tolist(), strict=True)]
    columns = (
        "technique", "mean_latency_s", "longest_latency_s", "pace", "least_after_680_s", "least_after_1050_s",
        "rise_until_680_s",
    )  # fmt: skip
    drawn = Table(("technique", "seconds", name), tuple(curves))
    return Outcome(Table(columns, tuple(rows)), lines(drawn, "seconds", [name], "technique", label=name))


def _least(document: Any, mode: Any, from_s: float) -> float:
    """Return the least throughput of the job in the 30 s after a restart of Storm, over what the sources get."""
    cells = zip(document["time_s"], mode["over_time"]["throughput"], document["rate"], strict=True)
    return float(min(done / rate for at_s, done, rate in cells if from_s + 10.0 <= at_s <= from_s + 30.0))


def _pace(document: Any, mode: Any) -> float:
    """Return the share of the input that is done as it comes: the mean over time, a backlog worked off counts as 1."""
    cells = zip(mode["over_time"]["throughput"], document["rate"], strict=True)
    return mean([min(done / rate, 1.0) for done, rate in cells])


def _rise(latency: list[float | None], time_s: Any) -> float:
    """Return by what factor latency has grown from before the first doubling to just before Storm's restart."""
    known = np.array([np.nan if value is None else value for value in latency])
    before, then = known[(time_s > 300.0) & (time_s <= 500.0)], known[(time_s > 660.0) & (time_s <= 680.0)]
    return float(np.nanmean(then) / np.nanmean(before))


def _ordered(column: str, upwards: bool, table: Table) -> Iterator[Check]:
    """Yield whether a column is in the order of the modes; the first two may be equal, Storm may not."""
    backup, checkpoint, storm = (table.value(column, technique=name) for name in MODES)
    sign = 1.0 if upwards else -1.0
    shown = f"{column.replace('_', ' ')}: {number(backup)}, {number(checkpoint)}, Storm {number(storm)}"
    first = sign * (checkpoint - backup) >= -1e-3 * abs(backup)
    yield Check(bool(min(backup, checkpoint, storm) > 0.0 and first and sign * (storm - checkpoint) > 0.0), shown)


def _storm_rises(table: Table) -> Iterator[Check]:
    yield at_least("Storm, times its latency before", table.value("rise_until_680_s", technique="Storm"), 10.0)
    for name in ("active backup", "checkpoint"):
        value = table.value("rise_until_680_s", technique=name)
        yield Check(0.0 < value <= 3.0, f"{name} {number(value)} times")


def _stops(table: Table) -> Iterator[Check]:
    for column in ("least_after_680_s", "least_after_1050_s"):
        value = table.value(column, technique="Storm")
        yield Check(0.0 <= value <= 0.05, f"Storm {number(value)} of the input")
        for name in ("active backup", "checkpoint"):
            yield at_least(f"{name}, of the input", table.value(column, technique=name), 0.5)
            yield at_most(f"{name}, of the input", table.value(column, technique=name), 2.0)


def make_figure_15(quick: bool) -> Outcome:
    """Return what latency state management adds over 30 minutes in which low and high rates alternate."""
    topology = ftplan.generate("topology", like="scale-out-figure-10")
    stats = ftplan.generate("stats", like="scale-out-figure-15", topology=topology)["key_groups"].to_pandas()
    counter = topology["operators"][-1]["id"]
    records = stats[stats.operator == counter].groupby("window_start").records.sum().to_numpy(dtype=float)
    low = records < records.mean()
    rate = records * 200.0 / records[low].mean()
    load = {"time_s": 10.0 * np.arange(len(rate)), "rate": rate}
    document = ftplan.simulate(
        "scaling", ftplan.load(), mode=("none", *MODES.values()), load=load, busy=0.19, setup_s=SETUP_S,
        storm_overhead_s=OVERHEAD_S, restart_at_s=(1e6,), every_s=10.0, checkpoint_interval_s=30.0,
        batch_s=QUICK_BATCH_S if quick else 0.1,
    ).to_dict()  # fmt: skip
    plain = np.array(_mode(document, "none")["over_time"]["latency_s"], dtype=float)
    rows, curves = [], []
    for shown in MODES:
        mode = _mode(document, shown)
        latency = np.array(mode["over_time"]["latency_s"], dtype=float)
        added = 1000.0 * (latency - plain)
        for phase, where in (("low", low), ("high", ~low)):
            rows.append((phase, shown, 1000.0 * float(latency[where].mean()), float(added[where].mean())))
        curves += [(shown, *point) for point in zip(document["time_s"], (1000.0 * latency).tolist(), strict=True)]
    columns = ("rate", "technique", "mean_latency_ms", "added_ms")
    drawn = Table(("technique", "seconds", "latency_ms"), tuple(curves))
    return Outcome(
        Table(columns, tuple(rows)), lines(drawn, "seconds", ["latency_ms"], "technique", label="latency in ms")
    )


def _less_than_storm(table: Table) -> Iterator[Check]:
    for phase in table.keys("rate"):
        storm = table.value("added_ms", rate=phase, technique="Storm")
        for name in ("active backup", "checkpoint"):
            own = table.value("added_ms", rate=phase, technique=name)
            text = f"{phase} rate: {name} {number(own)} ms, Storm {number(storm)} ms"
            yield Check(-1.0 <= own < 0.5 * storm < 50.0, text)


def _latency_below(table: Table) -> Iterator[Check]:
    storm = mean(table.column("mean_latency_ms", technique="Storm"))
    for name in ("active backup", "checkpoint"):
        own = mean(table.column("mean_latency_ms", technique=name))
        yield Check(0.0 < own < storm, f"{name} {number(own)} ms, Storm {number(storm)} ms")


ASSUMED = (
    "each rate rises to the next within 60 s; two stateful executors are busy half of the time at 200 records/s, so "
    "that at 400 they just keep up, and do not with Storm's checkpoints; the others never become bottlenecks; labels, "
    "rules and thresholds are ftplan's defaults, scored every 10 s; new executors take "
    f"{SETUP_S:g} s to start, checkpoints are 60 s apart, state of about 2 MB goes at 100 MB/s and takes no time of "
    f"the executors; Storm spends {1000 * OVERHEAD_S:g} ms on each checkpoint, and is restarted with twice the "
    "stateful executors at 680 s and 1,050 s, as the text has it, within 30 s"
)
ROWS = (
    Row(
        "scaling-figure-10",
        PAPER,
        "figure 10",
        "executors over time with active backup",
        partial(make_executors, name="active backup"),
        (
            Claim(
                "each time the load is doubled the stateful operator is split in two: 9 executors become 13 while the "
                "backup runs, then 11, and again",
                "Results, figure 10",
                "the numbers of executors are 9, 13, 11, 19, 15",
                partial(_sequence, "active backup"),
            ),
        ),
        ASSUMED,
    ),
    Row(
        "scaling-figure-11",
        PAPER,
        "figure 11",
        "executors over time with checkpoints",
        partial(make_executors, name="checkpoint"),
        (
            Claim(
                "with checkpoints executors grow in the same way",
                "Results, figure 11",
                "the numbers of executors are 9, 13, 11, 19, 15",
                partial(_sequence, "checkpoint"),
            ),
            Claim(
                "checkpoints take fewer resources than active backup",
                "Results, figure 11",
                "fewer core-seconds, and old and new executors overlap for a shorter time",
                _cheaper,
            ),
        ),
        ASSUMED,
    ),
    Row(
        "scaling-figure-13",
        PAPER,
        "figure 13",
        "latency against Storm's checkpoints with a restart by hand",
        partial(make_over_time, name="latency_s"),
        (
            Claim(
                "when the rate rises, latency grows very fast with Storm until it is restarted; either technique copes",
                "Results, figure 13",
                "Storm's latency before its first restart is at least 10 times that before the doubling, that of the "
                "techniques at most 3 times",
                _storm_rises,
            ),
            Claim(
                "active backup has the least latency, checkpoints somewhat more as tuples are replayed, Storm the most",
                "Results, figure 13",
                "mean latency is in this order",
                partial(_ordered, "mean_latency_s", True),
            ),
        ),
        ASSUMED,
    ),
    Row(
        "scaling-figure-14",
        PAPER,
        "figure 14",
        "throughput against Storm's checkpoints with a restart by hand",
        partial(make_over_time, name="throughput"),
        (
            Claim(
                "Storm's throughput comes near zero about 680 s and 1,050 s, when it is restarted",
                "Results, figure 14",
                "in the 20 s after the first 10 s of each restart Storm does at most 5 % of the input once, the "
                "techniques half of it and more throughout",
                _stops,
            ),
            Claim(
                "both techniques show more throughput than Storm, active backup slightly the most",
                "Results, figure 14",
                "the share of the input that is done as it comes is in this order, those of the techniques within "
                "0.1 % (by the end all have done all that came, since Storm's sources keep what they cannot send)",
                partial(_ordered, "pace", False),
            ),
        ),
        ASSUMED,
    ),
    Row(
        "scaling-figure-15",
        PAPER,
        "figure 15",
        "what state management adds to latency while low and high rates alternate",
        make_figure_15,
        (
            Claim(
                "latency is lower with the techniques, which store state when an operator comes near a bottleneck, "
                "than with Storm, which stores it every second",
                "Results, figure 15 a, b",
                "mean latency over 30 minutes",
                _latency_below,
            ),
            Claim(
                "state management of the techniques adds little",
                "Results, figure 15 a, b",
                "it adds less than half of what Storm's does, at either rate",
                _less_than_storm,
            ),
        ),
        "low and high rates are 200 and 600 records/s on average, drawn by `generate stats --like "
        "scale-out-figure-15`, high first; the stateful executors are busy 19 % and 57 % of the time: at the high "
        "rate the operator is prepared, and none is split or restarted; what the techniques copy meanwhile takes no "
        f"time of the executors, Storm spends {1000 * OVERHEAD_S:g} ms of theirs on each checkpoint",
    ),
)
