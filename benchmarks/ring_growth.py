"""Bytes that travel when nodes join a ring: least for a target load, beside the paper's midpoint and virtual nodes.

Run from the project's root: ``python benchmarks/ring_growth.py [--quick]``. Prints Markdown tables.

Few nodes: five nodes that share 60 key groups, one or two join. The search that many nodes get is held to all circular
orders of the nodes, each with its cuts solved.

Many nodes: 32,768 key groups with exponential loads, bytes in proportion, one backup, no zones, on the ring with the
least largest load; nodes join it, and the largest load may be up to a target, or has to be the least there is again.
Bytes are those that travel, copies included, in mean arcs of the grown ring: what one node owns. *Proven least* holds
for any order of the nodes; what can really be reached is between it and the bytes beside it, so that a ratio of at most
1.1 is proof, and one above may be the bound's fault as well as the plan's. The paper puts a node midway in the arc of
the most loaded; virtual nodes have 100 tokens each and their own ring before. Both have the load that they come to.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from ring_questions import loads, ring_question

from ftplan.compiled import called_often
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.baselines import hashed_ring, virtual_nodes
from ftplan.planners.peer_ring.algorithms.bounds import least_load
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.algorithms.moves.candidate_orders import candidate_orders, every_order
from ftplan.planners.peer_ring.algorithms.moves.cuts import RingChange
from ftplan.planners.peer_ring.algorithms.moves.levels import LevelLimits, best_of, orders_of
from ftplan.planners.peer_ring.algorithms.paper import paper
from ftplan.planners.peer_ring.moves import moved_bytes
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring

GROUPS, SEEDS = 32_768, 6
SEARCH = SearchOptions()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 seeds, 4,096 key groups and 100 nodes")
    arguments = parser.parse_args()
    few(3 if arguments.quick else SEEDS)
    groups, counts = (4_096, (100,)) if arguments.quick else (GROUPS, (100, 1_000))
    many(groups, counts)


def few(seeds: int) -> None:
    """Print how far good orders are from the best of all."""
    print("### Few nodes, against every order\n")
    print("| join | backups | target load | questions | least bytes found | mean ratio | worst ratio | to reach |")
    print("|---|---|---|---|---|---|---|---|")
    for joins in (1, 2):
        for replication in (1, 2):
            for target in (None, 1.1, 1.3):
                ratios = [ratio(seed, joins, replication, target) for seed in range(seeds)]
                found = sum(one <= 1.0 + 1e-9 for one in ratios)
                cells = (
                    joins,
                    replication,
                    shown(target),
                    seeds,
                    found,
                    f"{np.mean(ratios):.3f}",
                    f"{max(ratios):.3f}",
                )
                print("| " + " | ".join(map(str, cells)) + " | ≤ 1.1 |", flush=True)


def ratio(seed: int, joins: int, replication: int, target: float | None) -> float:
    """Return the bytes of the best of good orders over those of the best of all."""
    problem = grown(loads("exponential", 60, seed), 5, joins, target, replication)
    question, budget = RingChange(problem), Budget(np.inf)
    best = least_load(problem, SEARCH, budget)
    wanted = LevelLimits(target or 0.0, np.inf, best.bound)
    with called_often():
        some = best_of(question, orders_of(question, candidate_orders(question, best, budget)), wanted, budget)
        every = best_of(question, orders_of(question, every_order(question)), wanted, budget)
    assert some is not None
    assert every is not None
    assert (some.zones, some.load <= max(every.load, target or 0.0) * (1.0 + 1e-8)) == (every.zones, True)
    if every.bytes == 0.0:
        return 1.0 if some.bytes == 0.0 else np.inf
    return some.bytes / every.bytes


def many(groups: int, counts: tuple[int, ...]) -> None:
    """Print what travels on large rings."""
    print(f"\n### {groups:,} key groups\n")
    print(
        "| nodes | join | target load | exact: load | bytes, arcs | proven least | ratio | to reach | seconds | "
        "midpoint: load | bytes | virtual nodes: load | bytes |"
    )
    print("|" + "---|" * 13)
    load = loads("exponential", groups)
    exact(grown(loads("exponential", 2_048), 50, 1, 1.1), SEARCH)  # compiles
    for nodes in counts:
        for joins in (1, 10):
            for target in (1.2, 1.1, 1.05, None):
                print(row(load, nodes, joins, target), flush=True)


def row(load: np.ndarray, nodes: int, joins: int, target: float | None) -> str:
    """Return a row of the second table."""
    problem = grown(load, nodes, joins, target)
    began = time.perf_counter()
    result = exact(problem, SEARCH)
    seconds = time.perf_counter() - began
    assert result.answer is not None
    least, ring = result.answer.bytes_bound or 0.0, result.answer.ring
    moved = travelled(problem, problem.current, ring)
    midway = paper(problem, SEARCH).answer
    hashed = replace(problem, current=hashed_ring(replace(problem, members=~problem.added), 0))
    spread = virtual_nodes(replace(hashed, target_load=None), SEARCH).answer
    assert midway is not None
    assert spread is not None
    arc = float(problem.state.sum()) / (nodes + joins)
    cells = (
        f"{nodes:,}", joins, shown(target), f"{problem.largest_load(ring):.3f}", f"{moved / arc:.2f}",
        f"{least / arc:.2f}", over(moved, least), "≤ 1.1", f"{seconds:.1f}",
        f"{problem.largest_load(midway.ring):.2f}",
        f"{travelled(problem, problem.current, midway.ring) / arc:.2f}",
        f"{problem.largest_load(spread.ring):.2f}", f"{travelled(problem, hashed.current, spread.ring) / arc:.2f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def over(moved: float, least: float) -> str:
    """Return the ratio of bytes to the least possible ones, if any are proven."""
    if least == 0.0:
        return "1.000" if moved == 0.0 else "nothing proven"
    return f"{moved / least:.3f}"


def travelled(problem: RingProblem, before: Ring | None, after: Ring) -> float:
    assert before is not None
    return moved_bytes(problem, before, after)


def grown(load: np.ndarray, nodes: int, joins: int, target: float | None, replication: int = 1) -> RingProblem:
    """Return the question of a ring with the least largest load that nodes join."""
    problem = ring_question(load, np.full(nodes + joins, 4.0), replication, 1000.0 * load)
    alone = np.arange(nodes + joins)  # no zones: orders are free
    problem = replace(problem, zones=tuple(problem.nodes), zone=alone, zone_down=np.zeros(nodes + joins))
    added = alone >= nodes
    before = exact(replace(problem, members=~added), SEARCH).answer
    assert before is not None
    return replace(problem, added=added, current=before.ring, target_load=target)


def shown(target: float | None) -> str:
    return "least" if target is None else f"{target:g}"


if __name__ == "__main__":
    main()
