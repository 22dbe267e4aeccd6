"""Su & Zhou's technical report, section 7.1: what replay from the source and eager restarts do, simulated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from reproduce.checks import at_least, at_most, rising
from reproduce.drawing import lines
from reproduce.row import Check, Claim, Outcome, Row, Table
from reproduce.simulation import Document, Inputs, known_mean, simulated

#: Of the experiment with Spark: seconds that are looked at, in four parts.
SEEN_S, PARTS = 240.0, 4


def _document(name: str, **fields: object) -> Document:
    return {"format": f"ftplan/{name}", "format_version": "1.0", **fields}


def _nodes(count: int, placed: dict[str, list[str]]) -> Document:
    nodes = [{"id": f"n{k + 1}", "cpu": 1} for k in range(count)]
    return _document("cluster", nodes=nodes, network={"bandwidth_mb_s": 100}, placement={"tasks": placed})


def source_replays(failures: int) -> Inputs:
    """Return topology 1 on five nodes, of which the last fail a minute apart."""
    checkpoint = {"interval_s": 10}
    operators = [
        {"id": "source", "cpu": 0.1, "rate_out": 200},
        {"id": "parser", "parallelism": 2, "cpu": 0.35, "selectivity": 1.57},
        {"id": "window", "parallelism": 2, "cpu": 0.35, "state_bytes": 1 << 20, "checkpoint": checkpoint},
    ]
    edges = [{"from": "source", "to": "parser"}, {"from": "parser", "to": "window"}]
    topology = _document("topology", operators=operators, edges=[{**edge, "partitioning": "full"} for edge in edges])
    cluster = _nodes(5, {"source": ["n1"], "parser": ["n2", "n3"], "window": ["n4", "n5"]})
    fail = [f"node:n{5 - k}" if k == 0 else {"at_s": 60 * k, "select": f"node:n{5 - k}"} for k in range(failures)]
    return Inputs(topology, cluster, _document("failure", fail=fail))


def make_figure_10(quick: bool) -> Outcome:
    """Return latencies after one to three failures, replayed from the source each time."""
    rows, curves = [], []
    for failures in (1, 2, 3):
        run = simulated(
            source_replays(failures), "source-replay", detection_s=30.0, restart_s=5.0, batch_s=1.0 if quick else 0.1,
            until_s=600.0,
        )  # fmt: skip
        latency = np.nanmax(np.where(np.isnan(run.series.latency_s), -np.inf, run.series.latency_s), axis=1)
        seen = [b for b in run.after(-20.0) if latency[b] >= 0.0]
        curves += [(f"{failures} failures", run.series.time_s[b], latency[b]) for b in seen]
        rows.append((failures, float(latency[run.after(0.0)].max()), float(run.down_s().mean())))
    table = Table(("failures", "peak_latency_s", "seconds_down"), tuple(rows))
    drawn = Table(("failures", "seconds", "latency_s"), tuple(curves))
    return Outcome(table, lines(drawn, "seconds", ["latency_s"], "failures", label="latency, s"))


def _more_with_each(column: str, table: Table) -> Check:
    names = [f"{failures} failures" for failures in table.column("failures")]
    return rising(column.replace("_", " "), table.column(column), names)


def eager(killed: int) -> Inputs:
    """Return five parts of a job on five nodes, some of which are killed: four carry the load, three do not."""
    checkpoint = {"interval_s": 10}
    operators = [
        {"id": "source", "parallelism": 5, "cpu": 0.15, "rate_out": 1000},
        {"id": "parser", "parallelism": 5, "cpu": 0.25},
        {"id": "window", "parallelism": 5, "cpu": 0.25, "state_bytes": 1 << 20, "checkpoint": checkpoint},
    ]
    edges = [
        {"from": "source", "to": "parser", "partitioning": "one-to-one"},
        {"from": "parser", "to": "window", "partitioning": "full"},
    ]
    names = [f"n{k + 1}" for k in range(5)]
    cluster = _nodes(5, dict.fromkeys(("source", "parser", "window"), names))
    failure = _document("failure", fail=[f"node:n{5 - k}" for k in range(killed)])
    return Inputs(_document("topology", operators=operators, edges=edges), cluster, failure)


def make_figure_11(quick: bool) -> Outcome:
    """Return latencies after one and after two nodes, whose tasks restart at once on the nodes that are left."""
    rows, curves = [], []
    for killed in (1, 2):
        run = simulated(eager(killed), "eager", batch_s=1.0, until_s=SEEN_S)
        latency = known_mean(run.series.latency_s, axis=1)
        usual = float(np.nanmean(latency[run.after(-20.0, 0.0)]))
        after = [b for b in run.after(-20.0) if np.isfinite(latency[b])]
        curves += [(f"{killed} killed", run.series.time_s[b], latency[b]) for b in after]
        ends = np.linspace(0.0, SEEN_S, PARTS + 1)
        parts = [float(np.nanmean(latency[run.after(a, b)])) for a, b in pairwise(ends)]
        rows.append((killed, usual, float(np.nanmax(latency[run.after(0.0)])), *parts))
    columns = ("killed_nodes", "before_s", "peak_s", *(f"part_{k + 1}_s" for k in range(PARTS)))
    drawn = Table(("nodes", "seconds", "latency_s"), tuple(curves))
    return Outcome(Table(columns, tuple(rows)), lines(drawn, "seconds", ["latency_s"], "nodes", label="latency, s"))


def _hump(table: Table) -> Iterator[Check]:
    before, peak, third, last = (
        table.value(name, killed_nodes=1) for name in ("before_s", "peak_s", "part_3_s", f"part_{PARTS}_s")
    )
    yield at_least("peak over before", peak / before, 2.0)
    yield at_most("last quarter over the third", last / third, 1.01)


ROWS = (
    Row(
        "recovery-figure-10",
        "SuZhouTR",
        "figure 10",
        "each failure replays from the source",
        make_figure_10,
        (
            Claim(
                "latency during recovery grows with the number of failures",
                "section 7.1",
                "the peak latency and the mean time that a query is down rise from one to three",
                lambda t: [_more_with_each("peak_latency_s", t), _more_with_each("seconds_down", t)],
            ),
        ),
        "one source, two parsers, two windows on a node each (figure 8 is lost); utilisation 0.35; a failure is "
        "noticed by the time-out of 30 s, tasks start in 5 s; windows' nodes fail first",
    ),
    Row(
        "recovery-figure-11",
        "SuZhouTR",
        "figure 11",
        "eager restarts on the nodes that are left",
        make_figure_11,
        (
            Claim(
                "one killed node raises the latency for a while",
                "section 7.1",
                "the peak is at least twice the latency before, the last quarter's mean at most 1 % above the third's",
                _hump,
            ),
            Claim(
                "after two killed nodes latency grows without bound",
                "section 7.1",
                "the mean of each quarter is above the last",
                lambda t: [rising("quarters, s", [t.value(f"part_{k + 1}_s", killed_nodes=2) for k in range(PARTS)])],
            ),
        ),
        "source, parser and window of five tasks each, 3.25 cores of work on five nodes of one core; failures are "
        "noticed after 5 s, tasks start in 2 s",
    ),
)
