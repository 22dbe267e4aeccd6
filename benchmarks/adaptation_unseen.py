"""What checkpoint allocations are worth to an adaptation, on time that they have not seen: two real logs.

Run from the project's root: ``python benchmarks/adaptation_unseen.py [--placements 5] [--draws 3] [--quick]``. Prints
Markdown.

Houston 2011 (departures by destination, hourly, 20 nodes): planned on the first 26 weeks, replayed over the other 26.
Wikipedia edits of 12 September 2015 (by channel, 5 minutes, 10 nodes): planned on the first half of the day, replayed
over the second. One key group per destination or channel, dealt to equal nodes at random; a core takes what makes mean
utilisation 0.7 in the planned part, and a node is overloaded above 0.85. Every window is a period: ``simulate migration
--level trace`` moves key groups away from overloaded nodes. No balance rule, one copy a key group. With upkeep, each
week (each 2 hours) the copies that improve most are moved until a fresh allocation is better by no more than 0.1 of
what a random one loses against it. State is 64 MB a key group and goes at 100 MB/s, so that a direct move pauses for
0.64 s and more. Intervals are 95 % (Student's t) over placements, each the mean over its draws where allocations are
random.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from exact_allocation import houston
from reproduce.load_traces import adaptations, stats_of
from unseen_time import interval, wikiticker

from ftplan.model.cluster import Cluster, Network, Node, Placement
from ftplan.model.problem import Problem
from ftplan.model.topology import Checkpointing, Operator, Topology
from ftplan.model.units import MB

ALLOCATIONS = ("baseline", "even", "correlated", "usable")
MEAN_UTILISATION, STATE_BYTES = 0.7, 64.0 * MB
#: Figures of a table, in the order of its columns.
SHOWN = ("moves", "assisted_share", "usable_share", "latency_s", "copies_moved", "overloaded_after")


class Log(NamedTuple):
    """Loads of key groups over time, and what they are replayed on."""

    title: str
    loads: np.ndarray  # (windows, key groups)
    window_s: float
    nodes: int
    upkeep_s: float


def logs(quick: bool) -> Iterator[Log]:
    """Yield the two logs, the first weeks of Houston alone where it is to be quick."""
    yield Log("Wikipedia by channel, 10 nodes", wikiticker(), 300.0, 10, 7200.0)
    weeks = houston()[: (4 if quick else 52) * 7 * 24]
    yield Log("Houston 2011 by destination, 20 nodes", weeks, 3600.0, 20, 7 * 86400.0)


def problem_of(log: Log, placement: int) -> tuple[Problem, float]:
    """Return a log with its key groups dealt to the nodes, and the records per second that a core takes."""
    groups = log.loads.shape[1]
    one = np.ones(groups)
    planned = log.loads[: len(log.loads) // 2]
    per_core = float(planned.sum(axis=1).mean()) / (MEAN_UTILISATION * log.nodes * log.window_s)
    operator = Operator(
        "op", groups, cpu=one, state_bytes=STATE_BYTES * one, priority=one, key_groups=groups, rate_out=one,
        record_time_s=1.0 / per_core, checkpoint=Checkpointing(60.0),
    )  # fmt: skip
    ids = tuple(f"n{i + 1}" for i in range(log.nodes))
    dealt = np.random.default_rng(placement).permutation(np.arange(groups) % log.nodes)
    where = Placement(key_groups={"op": tuple(ids[i] for i in dealt)})
    cluster = Cluster(tuple(Node(i, 1.0) for i in ids), network=Network(100.0, 0.001), placement=where)
    return Problem(Topology((operator,), ()), cluster, stats_of({"op": log.loads}, log.window_s)), per_core


def replayed(log: Log, placement: int, draws: int) -> dict[tuple[str, bool, bool], list[float]]:
    """Return the figures of one placement by allocation, preference and upkeep."""
    problem, per_core = problem_of(log, placement)
    shared: dict[str, Any] = {"capacity_per_core": per_core, "seed": placement, "plan_on": 0.5}
    made = {False: adaptations(problem, allocation=ALLOCATIONS, runs=draws, **shared)}
    made[True] = adaptations(problem, allocation=ALLOCATIONS[2:], upkeep_every_s=log.upkeep_s, threshold=0.1, **shared)
    return {
        (item["allocation"], item["preferred"], upkeep): [item[name] or 0.0 for name in SHOWN]
        for upkeep, items in made.items()
        for item in items
    }


def run(log: Log, placements: int, draws: int) -> None:
    """Print the table of one log."""
    by_placement = [replayed(log, number, draws) for number in range(placements)]
    print(f"\n### {log.title}\n")
    columns = ("allocation", "upkeep", "copies' hosts preferred", "moves", "assisted", "usable copies", "paused, s")
    print("| " + " | ".join((*columns, "copies moved", "node-windows of overload left")) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for name, preferred, upkeep in sorted(by_placement[0], key=lambda key: (not key[1], key[2])):
        values = np.array([cells[name, preferred, upkeep] for cells in by_placement])
        words = (name, "yes" if upkeep else "no", "yes" if preferred else "no", *_shown(values))
        print("| " + " | ".join(words) + " |", flush=True)


def _shown(values: np.ndarray) -> Sequence[str]:
    return [interval(column) for column in values.T]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--placements", type=int, default=5, choices=range(2, 11))
    parser.add_argument("--draws", type=int, default=3, help="random allocations a placement")
    parser.add_argument("--quick", action="store_true", help="two placements, two draws, four weeks of Houston")
    asked = parser.parse_args()
    for log in logs(asked.quick):
        run(log, 2 if asked.quick else asked.placements, 2 if asked.quick else asked.draws)


if __name__ == "__main__":
    main()
