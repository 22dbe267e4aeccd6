"""Madsen & Zhou (CIKM 2015): where checkpoints lie when nodes are overloaded, as statistics alone can tell."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from exact_allocation import problem_of

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.options import StatsKnobs
from ftplan.generators.presets import STATISTICS, TOPOLOGIES
from ftplan.generators.stats import statistics
from ftplan.generators.topology import topology as generated
from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build
from reproduce.checks import at_least, mean, within
from reproduce.drawing import bars
from reproduce.row import Check, Claim, Outcome, Row, Table

#: Names of the paper's techniques, and the planners that are theirs. Without a balance rule, as in its section 7.
TECHNIQUES = {"baseline": "baseline", "even": "even", "optimised": "correlated"}
CONTROL, WORST = "even, control node too", "all on node 0"
EVEN = ("even", CONTROL)
OVERLOAD = 0.7  # of the toy: nodes 0 and 2 begin at the threshold


class Job(NamedTuple):
    """What is planned for: loads of key groups, and where they are."""

    topology: Topology
    cluster: Cluster
    series: KeyGroupSeries


def allocated(job: Job, technique: str, objective: CheckpointObjective, seed: int) -> list[Mapping[str, Any]]:
    """Return the assignments of a technique."""
    options = AllocationOptions(balance="none", objective=objective, seed=seed)
    problem = build(job.topology, job.cluster, job.cluster.placement, job.series, options)
    answer = registry.load(registry.row("allocate-checkpoints", TECHNIQUES[technique]))(problem, options).answer
    return list(answer.assignments)


def series_of(topology: Topology, preset: str, seed: int, **knobs: Any) -> KeyGroupSeries:
    made = statistics(replace(StatsKnobs(**STATISTICS[preset].knobs), seed=seed, **knobs), topology)
    return key_group_series(StatsTables(made.manifest, made.tables), "records", topology)


def toy(control: bool = False) -> Job:
    """Return the synthetic job: load moves from o1 on node 1 to o2 on node 2; nodes 0 and 2 do other work too.

    *control*: the control node may hold checkpoints too.
    """
    topology = generated(TopologyKnobs(**TOPOLOGIES["checkpoints-toy"].knobs))
    series = series_of(topology, "checkpoints-toy", 0)
    total = float(series.loads.sum(axis=1).max())
    loads = 1000.0 * OVERLOAD * series.loads / total  # milliseconds of one core in each second
    nodes = (Node("0", 1.0, used_cpu=OVERLOAD), Node("1", 1.0), Node("2", 1.0, used_cpu=OVERLOAD))
    if control:
        nodes = (*nodes, Node("3", 1.0, used_cpu=OVERLOAD))
    where = Placement(key_groups={"o1": ("1",) * 10, "o2": ("2",) * 10})
    return Job(topology, Cluster(nodes, placement=where), replace(series, loads=loads, measure="cpu_ms"))


def make_toy(quick: bool) -> Outcome:
    """Return where each technique puts the copies of the toy, and which share of them is usable."""
    job, four, objective = toy(), toy(control=True), CheckpointObjective(overload=OVERLOAD)
    worst = [{"operator": o, "key_group": g, "primary": n, "checkpoints": ["0"]} for o, n in (("o1", "1"), ("o2", "2"))
             for g in range(10)]  # fmt: skip
    seeds = range(8 if quick else 200)
    plans = {name: [allocated(job, name, objective, seed) for seed in seeds] for name in TECHNIQUES}
    plans |= {CONTROL: [allocated(four, "even", objective, seed) for seed in seeds], WORST: [worst]}
    rows = []
    for name, made in plans.items():
        shares = [allocation_score(p, four.cluster, job.series, objective).usable_share or 0.0 for p in made]
        there = [
            mean([item["checkpoints"] == [node] for p in made for item in p if item["operator"] == operator])
            for operator, node in (("o2", "1"), ("o1", "2"))
        ]
        rows.append((name, len(made), mean(shares), min(shares), max(shares), *there))
    columns = ("allocation", "plans", "usable_share", "least", "most", "o2_on_node_1", "o1_on_node_2")
    table = Table(columns, tuple(rows))
    return Outcome(table, bars(table, "allocation", ["usable_share"], label="usable share of copies"))


def make_exhaustive(quick: bool) -> Outcome:
    """Return how long a proven optimum takes at the size that exhaustive search could not do."""
    loads = np.random.default_rng(0).gamma(2.0, 50.0, size=(60, 7))
    rows = []
    for balance in ("auto", "none", "count"):
        options = AllocationOptions(balance=balance, time_limit_s=60.0, bound=True)  # type: ignore[arg-type]
        problem = problem_of(loads, 20, options)
        begun = time.perf_counter()
        result = registry.load(registry.row("allocate-checkpoints", "exact"))(problem, options)
        rows.append((balance, result.answer.value, result.bound, result.status, time.perf_counter() - begun))
    table = Table(("balance", "value", "bound", "status", "seconds"), tuple(rows))
    return Outcome(table, bars(table, "balance", ["seconds"], label="seconds to a proof"))


ROWS = (
    Row(
        "checkpoints-toy",
        "Madsen2015",
        "section 7.2, synthetic job",
        "where the checkpoints of the synthetic job go",
        make_toy,
        (
            Claim(
                "the best allocation has all of operator 2's checkpoints on node 1, all of operator 1's on node 2, and "
                "the algorithm finds it",
                "section 7.2",
                "all copies of the optimised plans are there",
                lambda t: [
                    at_least(f"share {c}", t.value(c, allocation="optimised"), 1.0)
                    for c in ("o2_on_node_1", "o1_on_node_2")
                ],
            ),
            Claim(
                "even distribution leaves half of the checkpoints available",
                "section 7.2",
                "its mean usable share lies in 0.45 to 0.55, whether the control node holds checkpoints or not",
                lambda t: [within(name, t.value("usable_share", allocation=name), 0.45, 0.55) for name in EVEN],
            ),
            Claim(
                "optimised makes twice as many available as even distribution",
                "section 7.2",
                "the ratio of mean usable shares lies in 1.8 to 2.2, whether the control node holds checkpoints or not",
                lambda t: [
                    within(
                        f"times {name}",
                        t.value("usable_share", allocation="optimised")
                        / max(t.value("usable_share", allocation=name), 1e-9),
                        1.8,
                        2.2,
                    )
                    for name in EVEN
                ],
            ),
            Claim(
                "with all of operator 2's checkpoints on node 0, none helps",
                "section 7.2",
                "its usable share is 0",
                lambda t: [within("on node 0", t.value("usable_share", allocation=WORST), 0.0, 0.0)],
            ),
        ),
        "hosts are nodes 0 to 2, since the adaptation does not look at control node 3; overload is above 0.7, where "
        "nodes 0 and 2 begin; both operators together take 0.7 cores",
    ),
    Row(
        "checkpoints-exhaustive",
        "Madsen2015",
        "section 7.2, exhaustive search",
        "a proven optimum for 7 checkpoints on 20 nodes",
        make_exhaustive,
        (
            Claim(
                "the optimum for 20 nodes and 7 checkpoints is too expensive: a search was stopped after 1.5 hours",
                "section 7.2",
                "no optimum is proven within 5,400 s, under any balance rule",
                lambda t: [
                    Check(status != "optimal" or seconds > 5400.0, f"{balance}: {status} after {seconds:.2g} s")
                    for balance, _, _, status, seconds in t.rows
                ],
            ),
        ),
        "loads are gamma distributed, 60 windows; balance rules as `allocate-checkpoints --balance`",
    ),
)
