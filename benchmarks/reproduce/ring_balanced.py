"""Kumbhare et al.: load that moves on a peer ring, simulated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reproduce.checks import at_least, at_most, mean, number, rising, within
from reproduce.drawing import lines
from reproduce.ring_cases import (
    ASSUMED,
    PAPER,
    REPLAY_RATE,
    Document,
    by_hand,
    node,
    problem,
    rates,
    simulated,
    three_nodes,
)
from reproduce.row import Check, Claim, Outcome, Row, Table

#: Seconds from a request of a neighbour until replay begins.
ASKED_S = 0.005
#: Of figure 6 a: records a second of a node, and the queue from which it asks, in seconds of these.
CAPACITY, QUEUE_HIGH_S = 2000.0, 10.0


def make_figure_6a(quick: bool) -> Outcome:
    """Return rates of three nodes and the queue of the first, whose load grows at 500 s."""
    document = three_nodes(
        capacity_per_core=CAPACITY, replay_rate=CAPACITY, hot=1.35, hot_node="n1", hot_at_s=500.0, until_s=1200.0,
        balance=True, queue_high_s=QUEUE_HIGH_S, queue_low_s=1.0, overload=0.95, accept=0.65, window_s=10.0, hold=2,
    )  # fmt: skip
    time_s = np.array(document["time_s"])
    queue = np.array(node(document, "n1")["queue_records"])
    longest = np.max([node(document, name)["queue_records"] for name in ("n1", "n3", "n2")], axis=0)
    rows = []
    for when, (from_s, to_s) in {
        "before": (400.0, 500.0), "rising": (500.0, 560.0), "moving": (560.0, 800.0), "settled": (1000.0, 1200.0),
    }.items():  # fmt: skip
        where = (time_s > from_s) & (time_s <= to_s)
        each = [float(np.array(node(document, name)["rate"])[where].mean()) for name in ("n1", "n3", "n2")]
        rows.append((when, float(queue[where].max()), float(longest[where].max()), *each, None, None))
    for change in document["changes"]:
        moved = f"{change['others'][0]} to {change['node']}"
        rows.append((moved, None, None, None, None, None, change["begun_s"], change["begun_s"] + change["ready_s"]))
    calm = time_s[(time_s > 560.0) & (longest < 1000.0)]
    rows.append(("calm from", None, None, None, None, None, float(calm[0]) if len(calm) else None, None))
    columns = ("when", "most_queue_1", "longest_queue", "rate_1", "rate_3", "rate_2", "at_s", "ready_at_s")
    drawn = rates(document, "queue of n1, tenths", queue / 10.0)
    return Outcome(Table(columns, tuple(rows)), lines(drawn, "seconds", ["records"], "node", label="records a second"))


def _asks_on(table: Table) -> Iterator[Check]:
    first, second = (table.value("at_s", when=moved) for moved in ("n3 to n2", "n1 to n3"))
    yield within("node 3 gives to node 2 at, s", first, 550.0, 800.0)
    yield within("node 1 gives to node 3 at, s", second, first, first + 1.0)
    most = max(table.value("most_queue_1", when=when) for when in ("rising", "moving"))
    yield at_least("the queue of node 1 grows to", most, CAPACITY * QUEUE_HIGH_S)


def _settles(table: Table) -> Iterator[Check]:
    yield within("queues are short again from, s", table.value("at_s", when="calm from"), 600.0, 800.0)
    yield at_most("longest queue afterwards", table.value("longest_queue", when="settled"), 2000.0)
    before, settled = (table.value("rate_1", when=when) for when in ("before", "settled"))
    yield Check(0.0 < settled < before, f"node 1 processes {number(settled)} a second, before {number(before)}")


def _helped(given: Any, plan: Any, rate: float, interval_s: float, at: float) -> Document:
    """Return what it takes to help a node that asks at a share of its third interval."""
    window_s = (2.0 + at) * interval_s
    document = simulated(
        given, plan, interval_s=interval_s, tick_s=interval_s / 50.0, mappers=1, balance=True, window_s=window_s,
        until_s=1.1 * window_s, overload=0.9 * rate / REPLAY_RATE, accept=0.6 * rate / REPLAY_RATE, queue_high_s=0.0,
        queue_low_s=1e3, takeover_s=0.0,
    )  # fmt: skip
    change: Document = document["changes"][0]
    return change


def make_figure_6c(quick: bool) -> Outcome:
    """Return how long a node takes to help its neighbour, by the neighbour's rate and the checkpoint interval."""
    rows, runs = [], 4 if quick else 40
    for rate in (500.0, 1000.0, 2000.0, 4000.0):
        given = problem(4, 2.0 * rate, 1024)
        plan = by_hand({"n1": 0.0, "n2": 0.5, "n3": 0.625, "n4": 0.75})
        for interval_s in (1.0, 2.0, 5.0, 10.0):
            changes = [_helped(given, plan, rate, interval_s, (k + 0.5) / runs) for k in range(runs)]
            took = mean([change["ready_s"] for change in changes])
            records = mean([change["replayed"] for change in changes])
            rows.append((rate, interval_s, len(changes), 1000.0 * (took + ASKED_S), records))
    table = Table(("rate", "interval_s", "runs", "latency_ms", "replayed"), tuple(rows))
    return Outcome(table, lines(table, "interval_s", ["latency_ms"], "rate", label="latency, ms"))


def _both_ways(table: Table) -> Iterator[Check]:
    for rate in table.keys("rate"):
        yield rising(f"{number(rate)} a second, by interval", table.column("latency_ms", rate=rate))
    for interval_s in table.keys("interval_s"):
        yield rising(f"interval of {number(interval_s)} s, by rate", table.column("latency_ms", interval_s=interval_s))


def _moderate(table: Table) -> Iterator[Check]:
    for rate in table.keys("rate"):
        latency = table.column("latency_ms", rate=rate)
        yield within(f"{number(rate)} a second: least, ms", min(latency), 10.0, 500.0)
        yield within(f"{number(rate)} a second: most, ms", max(latency), 10.0, 500.0)


ROWS = (
    Row(
        "ring-figure-6a", PAPER, "figure 6 a", "load that moves from node 1 to 3 to 2", make_figure_6a,
        (
            Claim(
                "the queue of node 1 grows beyond its threshold; it asks node 3, which first gives load to node 2",
                "section VIII-A",
                "the queue of node 1 reaches the threshold; node 3 gives to node 2, and node 1 to node 3 at once or "
                "just after",
                _asks_on,
            ),
            Claim(
                "about 200 s after the load has grown the ring is stable again", "section VIII-A",
                "all queues are short again from between 600 and 800 s on, node 1 at a lower rate", _settles,
            ),
        ),
        "three nodes that process 2,000 records a second each, under 4,000 in all at 40, 35 and 25 %; at 500 s node 1 "
        "gets 1.35 times its records; a node asks from 10 s of queue and 95 % utilisation for 20 s on, and accepts up "
        "to 65 %: none of it is in the paper, and how long it takes to settle follows from it",
    ),
    Row(
        "ring-figure-6c", PAPER, "figure 6 c", "latency of moving load by rate and interval", make_figure_6c,
        (
            Claim(
                "latency grows with the data rate and with the checkpoint interval", "section VIII-A",
                "it rises from each rate to the next at every interval, and from each interval to the next", _both_ways,
            ),
            Claim(
                "it is 10 to 500 ms at moderate rates and intervals of up to 10 s", "section VIII-A",
                "at each rate from 500 to 4,000 a second all means are 10 to 500 ms", _moderate,
            ),
        ),
        f"{ASSUMED}; {1000.0 * ASKED_S:g} ms from a request until replay begins; memory pressure is not simulated",
    ),
)  # fmt: skip
