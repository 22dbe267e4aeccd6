"""Moves that are to be phased, for tests, and what is best by trying all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ftplan.planners.rebalance.migration_costs import MigrationSetting, ProtocolCosts
from ftplan.planners.rebalance.problem import Migration, RebalanceLimits, RebalanceProblem
from tests.planners.rebalance.algorithms.cases import rebalance_problem
from tests.planners.rebalance.algorithms.replay import replay

Phases = Sequence[Sequence[Migration]]


def by_hand(
    home: Sequence[int],
    copies: Sequence[Sequence[int]],
    load: Sequence[float],
    capacity: Sequence[float],
    costs: dict[str, tuple[float, float, float, float]],
    catch_up: float = 2.0,
    **fields: Any,
) -> RebalanceProblem:
    """Return a problem in which every group costs latency, completion, bytes and link seconds, given by protocol."""
    tables = np.full((4, 6, len(home)), np.inf)
    for row, name in enumerate(("cpa", "cpal", "lazy", "direct", "recover", "fetch")):
        if name in costs:
            tables[:, row, :] = np.array(costs[name])[:, None]
    whole = np.array(capacity, dtype=np.float64)
    given = {"ceiling": whole, "upper": whole, "costs": ProtocolCosts(*tables, np.full(len(home), catch_up))}
    return rebalance_problem(load, home, copies, capacity, **(given | fields))


def tight_moves(
    seed: int, groups: int = 5, nodes: int = 4, protocols: Sequence[str] = ("cpa", "cpal", "direct"), **fields: Any
) -> tuple[RebalanceProblem, tuple[Migration, ...]]:
    """Return a problem with little room on its nodes, and moves that keep all limits in the end."""
    rng = np.random.default_rng([7, seed])
    home = rng.integers(0, nodes, groups)
    load = rng.choice([10.0, 20.0, 30.0], groups)
    target = (home + rng.integers(1, nodes, groups)) % nodes
    if rng.random() < 0.4:  # many to one node: its link is what moves wait for
        target = np.where(home == nodes - 1, target, nodes - 1)
    most = np.maximum(np.bincount(home, load, minlength=nodes), np.bincount(target, load, minlength=nodes))
    capacity = most + (rng.choice([0.0, 10.0, 20.0], nodes) if rng.random() < 0.7 else 1000.0)
    at_target = rng.random(groups) < 0.6
    copies = [[int(t)] if there else [] for t, there in zip(target, at_target, strict=True)]
    setting = MigrationSetting(
        rate=load * rng.choice([0.3, 1.0, 3.0], groups), record_time_s=1e-3,
        state_bytes=rng.choice([1e6, 4e6, 2e7], groups), record_bytes=rng.choice([5e3, 5e4]), age_s=20.0,
        interval_s=30.0, bandwidth_mb_s=5.0, delay_s=0.01, restart_s=0.2, queue_s=0.05,
    )  # fmt: skip
    problem = rebalance_problem(
        load.tolist(), home.tolist(), copies, capacity.tolist(), np.asarray(setting.state_bytes).tolist(), setting,
        **({"ceiling": capacity, "upper": capacity, "rate": np.asarray(setting.rate)} | fields),
    )  # fmt: skip
    moves = []
    for group, node in enumerate(target.tolist()):
        able = [name for name in problem.possible(group, node) if name in protocols]
        moves.append(Migration(group, node, str(rng.choice(able))))
    return problem, tuple(moves)


def leaving_moves(seed: int, groups: int = 6) -> tuple[RebalanceProblem, tuple[Migration, ...]]:
    """Return a problem in which all groups leave one or two nodes that are gone after a notice, and their moves."""
    rng = np.random.default_rng([8, seed])
    removed = np.array([True, bool(rng.random() < 0.3), False, False])
    home = rng.choice(np.flatnonzero(removed), groups)
    load = rng.integers(5, 100, groups).astype(float)
    state = rng.choice([1e6, 4e6, 2e7, 5e7], groups)
    copies = [sorted({int(n) for n in rng.integers(0, 4, rng.integers(1, 3))} - {int(h)}) for h in home]
    setting = MigrationSetting(
        rate=load, record_time_s=1e-3, state_bytes=state, record_bytes=5e3, age_s=20.0, interval_s=30.0,
        bandwidth_mb_s=5.0, delay_s=0.01, restart_s=0.2, queue_s=0.05, detection_s=1.0,
    )  # fmt: skip
    problem = rebalance_problem(
        load.tolist(), home.tolist(), copies, [1e4] * 4, state.tolist(), setting, removed=removed, hosts=~removed,
        keeps=~removed, limits=RebalanceLimits(within_s=float(rng.choice([3.0, 6.0, 10.0, 20.0]))),
    )  # fmt: skip
    moves = []
    for group in range(groups):
        target = int(rng.choice(np.flatnonzero(~removed)))
        able = [name for name in problem.possible(group, target) if name not in ("recover", "fetch")]
        moves.append(min((Migration(group, target, name) for name in able), key=problem.cost))
    return problem, tuple(moves)


def ordered_partitions(items: Sequence[Migration]) -> Iterator[tuple[tuple[Migration, ...], ...]]:
    """Yield all ways to part items into a first set, a second set, and so on."""
    if not items:
        yield ()
    for size in range(1, len(items) + 1):
        for first in itertools.combinations(items, size):
            for rest in ordered_partitions([item for item in items if item not in first]):
                yield (first, *rest)


def over(problem: RebalanceProblem, load: Any) -> bool:
    """Return whether a node is above its limit between phases."""
    return bool((load > problem.transient * (1.0 + 1e-9) + 1e-9).any())


def fault(problem: RebalanceProblem, phases: Phases, together: bool = False) -> str | None:
    """Return what is wrong with the loads of nodes, move by move, word by word; None where nothing is.

    Where a phase needs its moves to begin together, not even one of those that are left could be made alone, unless
    *together* allows it: under notice that may be all there is time for.
    """
    load, left = problem.start_load.copy(), [move for phase in phases for move in phase]
    for number, phase in enumerate(phases):
        arrived = load.copy()
        for move in phase:
            arrived[move.target] += problem.load[move.group]
        if over(problem, arrived):
            for move in left:
                alone = load.copy()
                alone[move.target] += problem.load[move.group]
                if not together and move.protocol not in ("recover", "fetch") and not over(problem, alone):
                    return f"phase {number} relies on moves that begin together, {move} needs not"
            for move in phase:
                if move.protocol != "cpal":
                    arrived[problem.home[move.group]] -= problem.load[move.group]
            if over(problem, arrived):
                return f"phase {number} overloads a node"
        for move in phase:
            load[move.target] += problem.load[move.group]
            load[problem.home[move.group]] -= problem.load[move.group]
            left.remove(move)
    return None


def hot(problem: RebalanceProblem, moves: Sequence[Migration]) -> list[Migration]:
    """Return moves with most records per second first."""
    return sorted(moves, key=lambda m: (-problem.rate[m.group], problem.operators[m.group], problem.key_group[m.group]))


def fewest_phases(problem: RebalanceProblem, moves: Sequence[Migration]) -> tuple[float, int] | None:
    """Return the least longest pause, and the fewest phases that have it, by all ways to part moves into phases."""
    best: tuple[float, int] | None = None
    most, limit = problem.limits.phase_bytes, problem.limits.max_pause_s
    for phases in ordered_partitions(moves):
        if fault(problem, phases) is not None:
            continue
        seen, _ = replay(problem, [hot(problem, phase) for phase in phases])
        if most is not None and any(len(p) > 1 and s.bytes > most for p, s in zip(phases, seen, strict=True)):
            continue
        pause = max(max(item.pause_s.values()) for item in seen)
        if limit is not None and pause > limit:
            continue
        pause = 0.0 if limit is not None else float(f"{pause:.9g}")
        best = min(best or (math.inf, 0), (pause, len(phases)))
    return best


def least_cost(problem: RebalanceProblem, moves: Sequence[Migration]) -> float | None:
    """Return the least that groups cost which leave in one phase, in time, or come back after the loss of their nodes.

    Over all sets of groups, protocols, and orders; None where a group without a copy is left behind in all of them.
    """
    ways = [
        [Migration(move.group, move.target, name) for name in problem.possible(move.group, move.target)]
        for move in moves
    ]
    after = {m[0].group: [way for way in m if way.protocol in ("recover", "fetch")] for m in ways if m}
    before = {m[0].group: [way for way in m if way.protocol not in ("recover", "fetch")] for m in ways if m}
    recovered = {group: min(map(problem.cost, some), default=math.inf) for group, some in after.items()}
    least = math.inf
    for size in range(len(moves) + 1):
        for order in itertools.permutations(before, size):
            for some in itertools.product(*(before[group] for group in order)):
                rest = [group for group in before if group not in order]
                cost = math.fsum([problem.cost(move) for move in some] + [recovered[group] for group in rest])
                if cost < least:
                    seen = replay(problem, [some])[0] if some else []
                    if all(max(s.ends_s.values()) <= (problem.limits.within_s or 0.0) * (1.0 + 1e-9) for s in seen):
                        least = cost
    return least if math.isfinite(least) else None
