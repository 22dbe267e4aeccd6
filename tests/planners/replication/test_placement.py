"""Replicas find nodes wherever there is a way, against trying everything."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from ftplan.metrics.replica_hosts import NOWHERE
from ftplan.planners.replication.placement.placement import PlacementProblem, place
from ftplan.planners.replication.planner import ReplicationOptions


def problem(seed: int) -> PlacementProblem:
    draw = np.random.default_rng(seed)
    replicas, nodes = int(draw.integers(1, 6)), int(draw.integers(2, 5))
    return PlacementProblem(
        task=np.arange(replicas),
        cpu=draw.choice([0.25, 0.5, 1.0], replicas),
        memory_mb=draw.choice([0.0, 64.0, 128.0], replicas),
        primary=draw.integers(-1, nodes, replicas),
        current=draw.integers(-1, nodes, replicas),
        residual_cpu=draw.choice([-0.5, 0.5, 0.75, 1.25, 2.0], nodes),
        residual_mb=draw.choice([64.0, 128.0, np.inf], nodes),
        zone=draw.integers(0, 3, nodes),
        accepting=draw.random(nodes) < 0.9,
        risk=draw.choice([0.0, 0.1, 0.2], (replicas, nodes)),
    )


def valid(asked: PlacementProblem, node: tuple[int, ...]) -> bool:
    pairs = [(r, n) for r, n in enumerate(node) if n != NOWHERE]
    if not all(asked.allowed(r)[n] for r, n in pairs):
        return False
    for n in {n for _, n in pairs}:
        here = [r for r, other in pairs if other == n]
        if (
            asked.cpu[here].sum() > asked.residual_cpu[n] + 1e-9
            or asked.memory_mb[here].sum() > asked.residual_mb[n] + 1e-9
        ):
            return False
    return True


@pytest.mark.parametrize("seed", range(60))
def test_as_many_as_can_be_placed_are(seed: int) -> None:
    asked = problem(seed)
    choices = [range(-1, len(asked.zone))] * len(asked.task)
    most = max(sum(n != NOWHERE for n in node) for node in itertools.product(*choices) if valid(asked, node))
    found = place(asked, ReplicationOptions())
    assert valid(asked, tuple(found.node.tolist()))
    assert int((found.node != NOWHERE).sum()) == most
    assert found.proven
    assert place(asked, ReplicationOptions()).node.tolist() == found.node.tolist()


@pytest.mark.parametrize("seed", range(60))
def test_moves_raise_the_value_and_keep_the_rules(seed: int) -> None:
    asked = problem(seed)
    first = place(asked, ReplicationOptions())
    if len(first.left):
        return  # nothing to improve

    def value(node: Any) -> float:
        return -float(asked.risk[np.arange(len(node)), node].sum())

    better = place(asked, ReplicationOptions(), value)
    assert valid(asked, tuple(better.node.tolist()))
    assert value(better.node) >= value(first.node) - 1e-12


def test_two_replicas_change_places_where_that_loses_less() -> None:
    """The first takes the node on which the second would lose nothing."""
    one = np.ones(2)
    asked = PlacementProblem(
        task=np.arange(2), cpu=one, memory_mb=one, primary=np.full(2, NOWHERE), current=np.full(2, NOWHERE),
        residual_cpu=one, residual_mb=one, zone=np.arange(2), accepting=np.ones(2, dtype=np.bool_),
        risk=np.array([[0.0, 0.1], [0.0, 1.0]]),
    )  # fmt: skip

    def value(node: Any) -> float:
        return -float(asked.risk[np.arange(2), node].sum())

    assert place(asked, ReplicationOptions()).node.tolist() == [0, 1]
    assert place(asked, ReplicationOptions(), value).node.tolist() == [1, 0]


def test_the_largest_states_are_placed() -> None:
    """Sums in millionths would not fit into the solver's numbers; without it six replicas find no node."""
    sizes, nodes = np.array([3.0] * 12 + [2.0] * 18), 12
    asked = PlacementProblem(
        task=np.arange(30),
        cpu=np.zeros(30),
        memory_mb=sizes * 1.6e11,
        primary=np.full(30, NOWHERE),
        current=np.full(30, NOWHERE),
        residual_cpu=np.ones(nodes),
        residual_mb=np.full(nodes, 6.0 * 1.6e11),
        zone=np.arange(nodes),
        accepting=np.ones(nodes, dtype=np.bool_),
        risk=np.zeros((30, nodes)),
    )
    found = place(asked, ReplicationOptions(time_limit_s=60.0))
    assert len(found.left) == 0
    assert np.bincount(found.node, sizes, nodes).max() == 6.0
