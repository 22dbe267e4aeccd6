"""Su & Zhou (ICDE 2016), section VI-A: how fast failed tasks are back, by active replicas, checkpoints and replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import ftplan
from reproduce.checks import at_most, mean, number, rising
from reproduce.drawing import bars
from reproduce.row import Check, Claim, Outcome, Row, Table
from reproduce.simulation import Document, Inputs, simulated

#: Tasks of the source and of the synthetic operators, which merge into each other (figure 6).
TASKS = {"source": 16, "o1": 8, "o2": 4, "o3": 2, "o4": 1}
SYNTHETIC = tuple((name, k) for name in ("o1", "o2", "o3", "o4") for k in range(TASKS[name]))
RATES, WINDOWS_S = (1000, 2000), (10, 30)
RECORD_S, RECORD_BYTES, HEARTBEAT_S = 2e-4, 100, 5.0
#: Cores of a node of the source: full.
SOURCE_CPU = 5 * RECORD_S / 4 * max(RATES)


class Technique(NamedTuple):
    """A way to recover: how often active replicas synchronise, tasks checkpoint; neither: replay from the source."""

    name: str
    sync_s: float | None = None
    checkpoint_s: float | None = None


TECHNIQUES = (
    *(Technique(f"active, {s} s", sync_s=s) for s in (1, 5)),
    *(Technique(f"checkpoint, {s} s", checkpoint_s=s) for s in (5, 15, 30)),
    Technique("source replay"),
)


def inputs(
    rate: float, window_s: float, failed: Sequence[tuple[str, int]], replicas: Sequence[tuple[str, int]]
) -> Inputs:
    """Return the topology on 4 nodes for the source, 15 for a synthetic task each, and 15 standbys."""
    received = 2.0 * rate  # two inputs of rate, or two of twice the rate at selectivity 0.5
    operators: list[Document] = [
        {"id": name, "parallelism": tasks, "record_time_s": RECORD_S / 4, "cpu": RECORD_S / 4 * rate, "rate_out": rate}
        if name == "source" else
        {"id": name, "parallelism": tasks, "record_time_s": RECORD_S, "cpu": RECORD_S * received, "selectivity": 0.5,
         "state_bytes": received * window_s * RECORD_BYTES}
        for name, tasks in TASKS.items()
    ]  # fmt: skip
    names = list(TASKS)
    edges = [{"from": a, "to": b, "partitioning": "merge"} for a, b in pairwise(names)]
    host = {task: k for k, task in enumerate(SYNTHETIC)}
    nodes = [{"id": f"s{k}", "cpu": SOURCE_CPU} for k in range(4)] + [
        {"id": f"{x}{k}", "cpu": 1} for x in "wb" for k in range(15)
    ]
    placed = {name: [f"w{host[name, k]}" for k in range(TASKS[name])] for name in names[1:]}
    placed["source"] = [f"s{k // 4}" for k in range(16)]
    there = {
        name: [f"b{host[name, k]}" if (name, k) in replicas else None for k in range(TASKS[name])] for name in names[1:]
    }
    cluster = {"nodes": nodes, "network": {"bandwidth_mb_s": 50}, "placement": {"tasks": placed, "replicas": there}}
    fail = [f"node:w{host[task]}" for task in failed]
    head: Mapping[str, Any] = {"format_version": "1.0"}
    return Inputs(
        {"format": "ftplan/topology", **head, "operators": operators, "edges": edges},
        {"format": "ftplan/cluster", **head, **cluster},
        {"format": "ftplan/failure", **head, "fail": fail},
    )


def latency_s(
    technique: Technique, rate: float, window_s: float, failed: Sequence[tuple[str, int]], quick: bool,
    replicas: Sequence[tuple[str, int]] | None = None,
) -> dict[tuple[str, int], float]:  # fmt: skip  # one argument each for what the experiments vary
    """Return how long after the detection each failed task had processed again what it had before the failure."""
    standing = replicas if replicas is not None else SYNTHETIC if technique.sync_s is not None else ()
    replay = technique.checkpoint_s is None and technique.sync_s is None
    run = simulated(
        inputs(rate, window_s, failed, standing), "source-replay" if replay else "uncoordinated",
        replay_window_s=window_s if replay else 0.0,
        detection_s=HEARTBEAT_S, restart_s=1.0, takeover_s=0.5, replica_lag_s=technique.sync_s or 0.0,
        checkpoint_interval_s=technique.checkpoint_s or 30.0, record_bytes=RECORD_BYTES,
        batch_s=0.5 if quick else 0.1, warm_up_s=40.0 if quick else 70.0, until_s=60.0 if quick else 120.0,
    )  # fmt: skip
    return {task: float(run.trace.caught_up_s[run.graph.number(*task)]) - HEARTBEAT_S for task in failed}


def _grid(quick: bool) -> Iterator[tuple[int, int, Technique]]:
    for rate in RATES:
        for window_s in WINDOWS_S:
            for technique in TECHNIQUES:
                if not quick or technique.name != "checkpoint, 15 s":
                    yield rate, window_s, technique


def make_figure_7(quick: bool) -> Outcome:
    """Return the recovery latency of one node, the mean over a task of each operator."""
    places = [(name, 0) for name in ("o1", "o2", "o3", "o4")][: 1 if quick else 4]
    rows = [
        (
            f"{rate}/s, {window} s",
            rate,
            window,
            t.name,
            mean([latency_s(t, rate, window, [p], quick)[p] for p in places]),
        )
        for rate, window, t in _grid(quick)
    ]
    return _outcome(rows)


def make_figure_8(quick: bool) -> Outcome:
    """Return the recovery latency of all nodes with synthetic tasks: that of the last task."""
    rows = [
        (f"{rate}/s, {window} s", rate, window, t.name, max(latency_s(t, rate, window, SYNTHETIC, quick).values()))
        for rate, window, t in _grid(quick)
    ]
    return _outcome(rows)


def _outcome(rows: list[tuple[Any, ...]]) -> Outcome:
    table = Table(("setting", "rate", "window_s", "technique", "latency_s"), tuple(rows))
    names = table.keys("technique")
    wide = Table(("setting", *names), tuple(
        (setting, *(table.value("latency_s", setting=setting, technique=name) for name in names))
        for setting in table.keys("setting")
    ))  # fmt: skip
    return Outcome(table, bars(wide, "setting", names, label="recovery latency, s"))


def _below(low: str, high: str, table: Table) -> Iterator[Check]:
    """Check that every technique whose name begins so is faster than every one of the others, in each setting."""
    for setting in table.keys("setting"):
        named = zip(table.column("technique", setting=setting), table.column("latency_s", setting=setting), strict=True)
        values = dict(named)
        a = max(v for name, v in values.items() if name.startswith(low))
        b = min(v for name, v in values.items() if name.startswith(high))
        yield Check(a < b, f"{setting}: {low} at most {number(a)} s, {high} at least {number(b)} s")


def _mostly_slower(table: Table) -> Iterator[Check]:
    slower = [
        table.value("latency_s", setting=setting, technique="source replay") > latency
        for setting, _, _, technique, latency in table.rows
        if technique.startswith("checkpoint")
    ]
    yield Check(2 * sum(slower) > len(slower), f"slower in {sum(slower)} of {len(slower)} pairs")


def _grows(by: str, technique: str, table: Table) -> Iterator[Check]:
    """Check that the latency of techniques whose name begins so rises with the rate or the window."""
    other = "window_s" if by == "rate" else "rate"
    for name in (name for name in table.keys("technique") if name.startswith(technique)):
        for value in table.keys(other):
            where = {"technique": name, other: value}
            yield rising(
                f"{name}, {other.split('_')[0]} {value}", table.column("latency_s", **where), table.column(by, **where)
            )


def _by_interval(technique: str, table: Table) -> Iterator[Check]:
    for setting in table.keys("setting"):
        names = [name for name in table.keys("technique") if name.startswith(technique)]
        yield rising(setting, [table.value("latency_s", setting=setting, technique=name) for name in names], names)


def make_figure_10(quick: bool) -> Outcome:
    """Return the recovery latency of all failed tasks, and of those with a replica, by share of tasks replicated."""
    rows = []
    for rate in RATES:
        for share in (1.0, 0.5, 0.0):
            there = replicated(share)
            technique = Technique("partly active", sync_s=5.0, checkpoint_s=15.0)
            back = latency_s(technique, rate, 30.0, SYNTHETIC, quick, there)
            active = max((back[task] for task in there), default=None)
            rows.append((rate, f"PPA-{share:g}", len(there), max(back.values()), active))
    table = Table(("rate", "plan", "replicas", "latency_s", "active_latency_s"), tuple(rows))
    return Outcome(table, bars(table, "plan", ["latency_s", "active_latency_s"], "rate", "recovery latency, s"))


@cache
def replicated(share: float) -> tuple[tuple[str, int], ...]:
    """Return which synthetic tasks structure-aware replicates, where sources never fail; the rate does not matter."""
    if share in (0.0, 1.0):
        return SYNTHETIC if share else ()
    given = inputs(RATES[0], 30.0, SYNTHETIC, ())
    problem = ftplan.load(topology=given.topology, cluster=given.cluster, failure=given.failure)
    budget = int(share * len(SYNTHETIC))
    plan = ftplan.plan("replicate-tasks", problem, algorithm="structure-aware", budget=budget)
    return tuple((item["operator"], item["index"]) for item in plan.plan["replicas"])


def _plans_in_order(table: Table) -> Iterator[Check]:
    for rate in table.keys("rate"):
        for names in (("PPA-1", "PPA-0.5"), ("PPA-0.5", "PPA-0")):
            values = [table.value("latency_s", rate=rate, plan=name) for name in names]
            yield rising(f"{rate}/s", values, names)


def _half_is_faster(table: Table) -> Iterator[Check]:
    for rate in table.keys("rate"):
        half, all_ = (table.value("active_latency_s", rate=rate, plan=name) for name in ("PPA-0.5", "PPA-1"))
        yield Check(half < all_, f"{rate}/s: {number(half)} s {'<' if half < all_ else '>='} {number(all_)} s")


ASSUMED = (
    "a record takes 0.2 ms of a core and 100 bytes, nodes have one core and 50 MB/s; a replica takes over in 0.5 s, "
    "a task starts in 1 s; a replica sends again what it put out in a synchronisation period, which "
    "takes no time here; each task checkpoints by itself; latency counts from detection"
)
#: What the text says of the failure of one node and of all alike.
_MUCH_FASTER = Claim(
    "active replicas are much faster than checkpoints",
    "section VI-A",
    "in each setting the slowest active is below the fastest checkpoint",
    partial(_below, "active", "checkpoint"),
)
_GROWS_WITH_RATE = Claim(
    "latency by checkpoints grows with the input rate",
    "section VI-A",
    "it does at each interval and window",
    partial(_grows, "rate", "checkpoint"),
)
_GROWS_WITH_INTERVAL = Claim(
    "latency by checkpoints grows with their interval",
    "section VI-A",
    "it does in each setting",
    partial(_by_interval, "checkpoint"),
)
ROWS = (
    Row(
        "replication-figure-7",
        "SuZhou2016",
        "figure 7",
        "recovery latency of a single node",
        make_figure_7,
        (
            _MUCH_FASTER,
            Claim(
                "source replay is slower than checkpoints in most cases",
                "section VI-A",
                "it is in more than half of the pairs of a setting and an interval",
                _mostly_slower,
            ),
            _GROWS_WITH_RATE,
            Claim(
                "latency by source replay grows with the input rate",
                "section VI-A",
                "it does at each window",
                partial(_grows, "rate", "source"),
            ),
            Claim(
                "latency by source replay grows with the window",
                "section VI-A",
                "it does at each rate",
                partial(_grows, "window_s", "source"),
            ),
            _GROWS_WITH_INTERVAL,
        ),
        f"{ASSUMED}; the mean over the first task of each operator",
    ),
    Row(
        "replication-figure-8",
        "SuZhou2016",
        "figure 8",
        "recovery latency of a correlated failure",
        make_figure_8,
        (
            _MUCH_FASTER,
            Claim(
                "active replicas are much faster than source replay",
                "section VI-A",
                "in each setting the slowest active is below it",
                partial(_below, "active", "source"),
            ),
            Claim(
                "a shorter synchronisation period makes active replicas faster",
                "section VI-A",
                "it does in each setting",
                partial(_by_interval, "active"),
            ),
            _GROWS_WITH_RATE,
            _GROWS_WITH_INTERVAL,
            Claim(
                "source replay is faster than checkpoints every 30 seconds",
                "section VI-A",
                "it is in each setting",
                partial(_below, "source", "checkpoint, 30"),
            ),
        ),
        f"{ASSUMED}; latency is that of the last task",
    ),
    Row(
        "replication-figure-10",
        "SuZhou2016",
        "figure 10",
        "recovery latency with partial replication",
        make_figure_10,
        (
            Claim(
                "the more tasks have replicas, the sooner all are back",
                "section VI-A",
                "PPA-1 < PPA-0.5 < PPA-0 at each rate",
                _plans_in_order,
            ),
            Claim(
                "tasks with replicas are back far sooner than all",
                "section VI-A",
                "in PPA-0.5 they take at most half as long",
                lambda t: [
                    at_most(
                        f"{rate}/s: share of the time of all",
                        t.value("active_latency_s", rate=rate, plan="PPA-0.5")
                        / t.value("latency_s", rate=rate, plan="PPA-0.5"),
                        0.5,
                    )
                    for rate in t.keys("rate")
                ],
            ),
            Claim(
                "those of PPA-0.5 are back slightly sooner than those of PPA-1",
                "section VI-A",
                "they are at each rate",
                _half_is_faster,
            ),
        ),
        f"{ASSUMED}; checkpoints every 15 s, synchronisation every 5 s; structure-aware chooses the replicas",
    ),
)
