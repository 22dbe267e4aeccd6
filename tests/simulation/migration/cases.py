"""Small rebalance problems and load traces, and an adaptation that is easy to follow by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.migration_costs import MigrationSetting, migration_costs
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem
from ftplan.simulation.migration.adaptation.run import LoadTrace

#: 1 ms a record, a replay of 10 s of input, state that takes 4 s to send at 1 MB/s.
SETTING = MigrationSetting(
    rate=0.0, record_time_s=0.001, state_bytes=4.0 * 2**20, age_s=10.0, interval_s=10.0, bandwidth_mb_s=1.0
)


def problem(
    home: Sequence[int], copies: Sequence[Sequence[int]], ceiling: Sequence[float], **other: Any
) -> RebalanceProblem:
    """Return groups of one operator on nodes without foreign load, whose loads and rates a trace says."""
    nodes, groups = len(ceiling), len(home)
    yes, no = np.ones(nodes, dtype=np.bool_), np.zeros(nodes, dtype=np.bool_)
    limit = np.array(ceiling, dtype=np.float64)
    made = RebalanceProblem(
        nodes=tuple(f"n{i}" for i in range(nodes)),
        zone=np.arange(nodes),
        domain=np.arange(nodes),
        hosts=yes,
        keeps=yes,
        removed=no,
        added=no,
        capacity=limit,
        foreign=np.zeros(nodes),
        ceiling=limit,
        upper=limit,
        lower=np.full(nodes, -np.inf),
        memory=np.full(nodes, np.inf),
        operators=("op",) * groups,
        key_group=np.arange(groups),
        home=np.array(home, dtype=np.int64),
        copies=tuple(tuple(sorted(nodes)) for nodes in copies),
        load=np.zeros(groups),
        rate=np.zeros(groups),
        state=np.full(groups, 4.0 * 2**20),
        costs=migration_costs(SETTING._replace(rate=np.zeros(groups))),
        protocols=("cpa", "direct"),
    )
    return replace(made, **other)


def trace(*loads: Sequence[float], setting: MigrationSetting = SETTING) -> LoadTrace:
    """Return a trace whose rates in records per second are its loads."""
    values: FloatArray = np.array(loads, dtype=np.float64)
    return LoadTrace(values, values, 60.0, setting)


def relieve(problem: RebalanceProblem, prefer: bool = True) -> list[Migration]:
    """Move the heaviest groups away from overloaded nodes: to a copy's host that has room, else to the most room.

    Without *prefer* to the most room. By the first protocol that is possible there.
    """
    load, moves = problem.start_load.copy(), []
    for node in range(len(problem.nodes)):
        for group in sorted(np.flatnonzero(problem.home == node).tolist(), key=lambda g: (-problem.load[g], g)):
            if load[node] <= problem.ceiling[node]:
                break
            fits = [n for n in range(len(load)) if n != node and load[n] + problem.load[group] <= problem.ceiling[n]]
            near = [n for n in fits if n in problem.copies[group]] if prefer else []
            if fits and problem.load[group] > 0:
                target = max(near or fits, key=lambda n: (problem.ceiling[n] - load[n], -n))
                load[[node, target]] += (-problem.load[group], problem.load[group])
                moves.append(Migration(group, target, problem.possible(group, target)[0]))
    return moves
