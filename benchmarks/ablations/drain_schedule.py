"""What each part of the drain schedules is worth: see ``benchmarks/ablation.py``.

Cases are those of ``benchmarks/drain.py`` at several sizes, copies of key groups in zones, with limits on zones and
rounds; production Storm topologies with a limit on output fidelity, whose folder ``FTPLAN_STORM_TOPOLOGIES`` names; and
random conflicts. The value is the number of rounds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import drain
import numpy as np
from ablation import Answer, Case, Part
from replication_storm import topology_of

from ftplan.model.topology import Operator, Topology
from ftplan.planners.drain_schedule.algorithms.exact import exact
from ftplan.planners.drain_schedule.algorithms.greedy import greedy
from ftplan.planners.drain_schedule.problem import DrainLimits, DrainOptions, DrainProblem, KeyGroupCopies

#: Topologies, by their places among those with most tasks.
STORM = (1, 7, 15, 19, 25, 28, 29, 34)


def _planned(problem: DrainProblem, quick: bool = False) -> Case:
    def case(seconds: float) -> Answer:
        options = DrainOptions(0, seconds)
        result = (greedy if quick else exact)(problem, options)
        assert result.answer is not None
        return Answer("min", float(len(result.answer.rounds)), result.bound)

    return case


def _copied(nodes: int, zones: int, keep: str, limits: DrainLimits, copies: int = 2) -> DrainProblem:
    sizes = {"NODES": nodes, "ZONES": zones, "GROUPS": nodes * (8 if nodes < 100 else 40), "COPIES": copies}
    with patch.multiple(drain, **sizes):
        return drain.copied(keep, limits, 0)


def _conflicts(nodes: int, share: float, seed: int, different: bool = False) -> DrainProblem:
    """Return nodes of which a share of the pairs never goes together; *different* ones take 30 to 300 s."""
    rng = np.random.default_rng([31, seed])
    pairs = [(a, b) for b in range(nodes) for a in range(b) if rng.random() < share]
    copies = KeyGroupCopies.of(("k", g, list(pair)) for g, pair in enumerate(pairs))
    one = np.ones(1)
    topology = Topology((Operator("k", 1, one, 0 * one, one, output=True),), ())
    problem = drain.problem_of(topology, np.zeros(1, dtype=np.int64), np.arange(nodes), copies, DrainLimits())
    if different:
        problem.restart_s[:] = rng.uniform(30.0, 300.0, nodes)
    return problem


def _storm() -> Iterator[tuple[str, Case]]:
    if "FTPLAN_STORM_TOPOLOGIES" not in os.environ:
        return
    folder = Path(os.environ["FTPLAN_STORM_TOPOLOGIES"])
    by_tasks = sorted(map(topology_of, sorted(folder.glob("*.json"))), key=lambda t: -t.task_count)
    for place in STORM:
        yield by_tasks[place].name, _planned(drain.spread(by_tasks[place]))


def cases() -> dict[str, Case]:
    some = {f"{n} nodes, {share:.0%} in conflict": _conflicts(n, share, n) for n, share in ((30, 0.4), (60, 0.5))}
    some["90 nodes, 30% in conflict"] = _conflicts(90, 0.3, 90, different=True)
    some["24 nodes, 2 a round"] = _copied(24, 6, "checkpoints", DrainLimits(max_nodes=2), 1)
    some["200 nodes, copies apart"] = _copied(200, 20, "checkpoints", DrainLimits())
    some["100 nodes, copies apart"] = _copied(100, 10, "checkpoints", DrainLimits())
    some["60 nodes, 3 a zone"] = _copied(60, 6, "checkpoints", DrainLimits(max_per_zone=3), 1)
    some["150 nodes, all apart"] = _copied(150, 15, "all", DrainLimits(max_nodes=8))
    named = {name: _planned(problem) for name, problem in some.items()}
    named["greedy, 100 nodes"] = _planned(some["100 nodes, copies apart"], quick=True)
    return named | dict(_storm())


_EXACT = "ftplan.planners.drain_schedule.algorithms.exact"
_GREEDY = "ftplan.planners.drain_schedule.algorithms.greedy"
_BOUNDS = "ftplan.planners.drain_schedule.algorithms.bounds"


def _same(sets: Any, rounds: Any, *given: Any) -> Any:
    return rounds


PARTS = (
    Part("bound by prices", {f"{_EXACT}:raised": lambda sets, rows, rounds, least, budget: least}),
    Part("bound by prices: small trees first", {f"{_BOUNDS}:TREE_NODES": ()}),
    Part("integer program of nodes and rounds", {f"{_EXACT}:_fewer": lambda sets, rows, rounds, *given: rounds}),
    Part("iterated greedy", {f"{_GREEDY}:reordered": _same}),
    Part("tabu search", {f"{_GREEDY}:fewer": _same}),
    Part("both improvements of greedy", {f"{_GREEDY}:reordered": _same, f"{_GREEDY}:fewer": _same}),
    Part("random starts", {f"{_GREEDY}:RANDOM_STARTS": 1}),
)
