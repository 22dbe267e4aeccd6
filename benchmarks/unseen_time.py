"""Which objective generalises: usable share of copies on time that the plan has not seen, beside even and random.

Run from the project's root: ``python benchmarks/unseen_time.py [--placements 8] [--time-limit 2]``. Prints Markdown.

Two logs, one key group per destination or channel, on equal nodes: Houston 2011 (hourly, 20 nodes) and Wikipedia edits
of 12 September 2015 (5 minutes, 10 nodes). Each plan is made on the first part of the trace (split points at 40, 50,
60 and 70 %) and judged on the rest, with the primaries dealt to the nodes at random, equally many on each. A copy is
usable in a window when its primary's node is overloaded (utilisation above 0.85, where the planned part's mean is 0.7)
and its host can take the key group without being overloaded itself. Intervals are 95 % (Student's t) over placements,
each the mean over its split points; the gain is paired with 10 plans of ``even`` on the same placement and split.

Madsen & Zhou 2015 (figure 8) report 2 to 3 times the usable share of even and random checkpoints, without a balance
rule, for jobs whose operators rise and fall together by construction.

Found with the defaults: ``usable`` generalises best under every balance rule, and is the only objective whose gain over
``even`` is above 0 in all of them. Times even, without a balance rule, by count, with the least Δ: Houston 1.93, 1.24,
1.50; Wikipedia 1.34, 1.31, 1.32. Without a balance rule that is 93 % and 77 % of what hindsight could gain. On Houston
both correlations reach 1.40 without a balance rule and lie at or below ``even`` with one (0.83 to 1.00), whatever the
series; on Wikipedia the interval of no correlation's gain lies above 0. So the paper's factor is nearly reached on one
log, without a balance rule, by another objective. The split points of one placement share most of their unseen time:
the intervals speak of other placements on these logs, not of other years.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from exact_allocation import houston

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import OBJECTIVES, CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build

EDITS = Path(__file__).parent.parent / "examples" / "wikiticker" / "wikiticker-2015-09-12-sampled.json.gz"
SPLITS = (0.4, 0.5, 0.6, 0.7)
EVEN_PLANS = 10
BALANCES = ("none", "count", "auto")
#: Student's t for 95 % by degrees of freedom.
STUDENT_T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def wikiticker(minutes: int = 5) -> np.ndarray:
    """Return edits in each window by channel, shape (windows, channels)."""
    with gzip.open(EDITS, "rt", encoding="utf-8") as lines:
        rows = [(item["time"], item["channel"]) for item in map(json.loads, lines)]
    log = pd.DataFrame(rows, columns=["time", "channel"])
    window = pd.to_datetime(log.time).dt.floor(f"{minutes}min")
    counts = log.groupby([window, "channel"]).size().unstack(fill_value=0)
    every = pd.date_range(counts.index.min(), counts.index.max(), freq=f"{minutes}min")
    return counts.reindex(every, fill_value=0).to_numpy(dtype=np.float64)


def objectives() -> Iterator[CheckpointObjective]:
    """Yield every objective with every kind of series that it can look at."""
    for name, correlate in itertools.product(OBJECTIVES, ("raw", "share", "residual")):
        if name != "usable" or correlate == "raw":
            yield CheckpointObjective(name, correlate)  # type: ignore[arg-type]


def cases(
    loads: np.ndarray, window_s: float, nodes: int, placements: int
) -> Iterator[tuple[int, Topology, Cluster, KeyGroupSeries, KeyGroupSeries]]:
    """Yield (placement, topology, cluster, seen, unseen) for every placement and split point."""
    groups = loads.shape[1]
    one = np.ones(groups)
    topology = Topology((Operator("op", groups, cpu=one, state_bytes=0 * one, priority=one, key_groups=groups),), ())
    ids = tuple(f"n{i + 1}" for i in range(nodes))
    series = KeyGroupSeries(
        ("op",),
        np.zeros(groups, dtype=np.int64),
        np.arange(groups),
        loads,
        "records",
        window_s,
        np.full(groups, np.nan),
        np.zeros(groups, dtype=np.bool_),
    )
    for number in range(placements):
        dealt = np.random.default_rng(number).permutation(np.arange(groups) % nodes)
        where = Placement(key_groups={"op": tuple(ids[i] for i in dealt)})
        cluster = Cluster(tuple(Node(i, 1.0) for i in ids), placement=where)
        for share in SPLITS:
            split = round(share * loads.shape[0])
            yield number, topology, cluster, replace(series, loads=loads[:split]), replace(series, loads=loads[split:])


def shares(
    algorithm: str,
    options: AllocationOptions,
    topology: Topology,
    cluster: Cluster,
    seen: KeyGroupSeries,
    unseen: KeyGroupSeries,
    judged_by: CheckpointObjective | None = None,
) -> tuple[float, float]:
    """Return the usable share, on unseen windows, of a plan made on seen ones, and that of a random plan."""
    problem = build(topology, cluster, cluster.placement, seen, options)
    answer = registry.load(registry.row("allocate-checkpoints", algorithm))(problem, options).answer
    usable = judged_by or CheckpointObjective("usable").resolved(seen, cluster)
    score = allocation_score(answer.assignments, cluster, unseen, usable)
    return score.usable_share or 0.0, score.random_usable_share or 0.0


def interval(values: np.ndarray) -> str:
    """Return the mean of the values with half the width of its 95 % interval."""
    half = STUDENT_T[values.size - 1] * values.std(ddof=1) / values.size**0.5
    return f"{values.mean():.3f} ± {half:.3f}"


def run(title: str, loads: np.ndarray, window_s: float, nodes: int, placements: int, time_limit_s: float) -> None:
    """Print the usable shares of one log."""
    random, even = np.zeros((placements, len(SPLITS))), np.zeros((placements, len(SPLITS)))
    rows = list(itertools.product(BALANCES, objectives()))
    hindsight = np.zeros((placements, len(SPLITS)))
    found = np.zeros((len(rows), placements, len(SPLITS)))
    for case, (number, topology, cluster, seen, unseen) in enumerate(cases(loads, window_s, nodes, placements)):
        at = (number, case % len(SPLITS))
        inputs = (topology, cluster, seen, unseen)
        drawn = [shares("even", AllocationOptions(seed=s), *inputs) for s in range(EVEN_PLANS)]
        even[at], random[at] = float(np.mean([d[0] for d in drawn])), drawn[0][1]
        capacity = CheckpointObjective("usable").resolved(seen, cluster)
        known = AllocationOptions(balance="none", objective=capacity)
        hindsight[at] = shares("exact", known, topology, cluster, unseen, unseen, capacity)[0]
        for i, (balance, objective) in enumerate(rows):
            options = AllocationOptions(balance=balance, objective=objective, time_limit_s=time_limit_s)  # type: ignore[arg-type]
            found[(i, *at)] = shares("exact", options, *inputs)[0]
    print(f"\n### {title}\n")
    print(
        f"Random {interval(random.mean(axis=1))}, even {interval(even.mean(axis=1))}; most that any plan without a "
        f"balance rule reaches, with hindsight {interval(hindsight.mean(axis=1))}.\n"
    )
    print("| balance | objective | correlate | usable share, unseen | times even | gain over even |")
    print("|---|---|---|---|---|---|")
    for (balance, objective), values in zip(rows, found, strict=True):
        print(
            f"| {balance} | {objective.name} | {objective.correlate} | {interval(values.mean(axis=1))} | "
            f"{values.mean() / even.mean():.2f} | {interval((values - even).mean(axis=1))} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--placements", type=int, default=8, choices=range(2, 11))
    parser.add_argument("--time-limit", type=float, default=2.0)
    asked = parser.parse_args()
    run("Wikipedia by channel, 10 nodes", wikiticker(), 300.0, 10, asked.placements, asked.time_limit)
    run("Houston 2011 by destination, 20 nodes", houston(), 3600.0, 20, asked.placements, asked.time_limit)


if __name__ == "__main__":
    main()
