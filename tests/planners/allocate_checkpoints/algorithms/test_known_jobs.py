"""Jobs of which it is known what an allocation is worth, or what it must look like."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, objective_value
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build
from ftplan.planners.allocate_checkpoints.violations import violations
from tests.planners.allocate_checkpoints.algorithms.cases import cluster, job, placement

PLANNERS = [pytest.param(registry.load(row), id=row.name) for row in registry.rows("allocate-checkpoints")]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("balance", ["auto", "count", "none"])
def test_usable_copies_are_whole(planner: Any, balance: Any) -> None:
    topology, series = job(16, 5)
    yardstick = CheckpointObjective("usable")
    options = AllocationOptions(
        balance=balance, copies=2, bound=True, time_limit_s=3600, iterations=30, objective=yardstick
    )
    result = planner(build(topology, cluster(40), placement(), series, options), options)
    assert result.bound == round(result.bound)
    assert -result.answer.value == objective_value(yardstick, result.answer.assignments, series, cluster(40)) > 0


@pytest.mark.parametrize("planner", PLANNERS)
def test_nothing_to_plan(planner: Any) -> None:
    """No statistics at all: an empty plan and a warning."""
    topology, series = job(16, 3)
    none = replace(
        series,
        operators=(),
        operator=series.operator[:0],
        key_group=series.key_group[:0],
        loads=series.loads[:, :0],
        state_bytes=series.state_bytes[:0],
        estimated=series.estimated[:0],
    )
    options = AllocationOptions(bound=True)
    result = planner(build(topology, cluster(), placement(), none, options), options)
    assert result.answer.assignments == []
    assert [w.code for w in result.warnings] == ["NO_STATISTICS"]


@pytest.mark.parametrize("name", ["correlated", "exact"])
def test_estimated_statistics_are_planned_per_task(name: str) -> None:
    topology, series = job(16, 4, estimated=True)
    options = AllocationOptions(balance="auto", time_limit_s=3600, iterations=100)
    problem = build(topology, cluster(), placement(), series, options)
    assert problem.load.size == 16
    result = registry.load(registry.row("allocate-checkpoints", name))(problem, options)
    assert "ESTIMATED_STATISTICS" in [w.code for w in result.warnings]
    copies = {(a["operator"], a["key_group"]): a["checkpoints"] for a in result.answer.assignments}
    assert all(copies[o, g] == copies[o, g - g % 2] for o, g in copies)
    assert violations(result.answer.assignments, topology, cluster(), series, result.answer.rules) == ()


def test_unplaced_operator_is_the_users_mistake() -> None:
    topology, series = job(16, 5)
    with pytest.raises(FtplanError, match=r"placement\.tasks\.agg.*--spread"):
        build(topology, cluster(), Placement(), series, AllocationOptions())


def test_one_heavy_group() -> None:
    """Wikiticker's heaviest channel is 29 % of the load on 10 nodes: auto finds Δ = 1.9, an explicit 0.5 names it."""
    groups, nodes = 20, 10
    loads = np.ones((6, groups)) * 71 / 19
    loads[:, 7] = 29.0
    loads[::2] *= 1.5
    one = np.ones(groups)
    topology = Topology((Operator("ch", groups, cpu=one, state_bytes=0 * one, priority=one, key_groups=groups),), ())
    ids = tuple(f"n{i}" for i in range(nodes))
    where = Placement(key_groups={"ch": tuple(ids[g % nodes] for g in range(groups))})
    series = KeyGroupSeries(
        ("ch",),
        np.zeros(groups, dtype=np.int64),
        np.arange(groups),
        loads,
        "records",
        60.0,
        np.full(groups, np.nan),
        np.zeros(groups, dtype=bool),
    )
    machines = Cluster(tuple(Node(i, 1.0) for i in ids))
    for name in ("correlated", "exact"):
        planner = registry.load(registry.row("allocate-checkpoints", name))
        auto = AllocationOptions()
        result = planner(build(topology, machines, where, series, auto), auto)
        assert result.answer.rules.balance == pytest.approx(1.9, abs=2e-6)
        assert result.warnings == ()
        strict = AllocationOptions(balance=0.5)
        refused = planner(build(topology, machines, where, series, strict), strict)
        assert refused.status == "infeasible"
        assert refused.infeasible.smallest_fix == f"--balance {result.answer.rules.balance:g}"


def test_toy_job_of_the_paper() -> None:
    """Paper 000, section 7: correlation -1 between operators 1 and 2, on nodes 1 and 2; node 0 is the input's.

    The optimum puts all copies of operator 2 on node 1 and all of operator 1 on node 2.
    """
    rising = np.arange(101.0)
    loads = np.column_stack([100 - rising] * 10 + [rising] * 10)
    one = np.ones(10)
    operators = tuple(
        Operator(n, 10, cpu=one, state_bytes=0 * one, priority=one, key_groups=10) for n in ("op1", "op2")
    )
    series = KeyGroupSeries(
        ("op1", "op2"),
        np.repeat([0, 1], 10),
        np.tile(np.arange(10), 2),
        loads,
        "records",
        1.0,
        np.full(20, np.nan),
        np.zeros(20, dtype=bool),
    )
    machines = Cluster(tuple(Node(f"node{i}", 1.0) for i in range(3)))
    where = Placement(key_groups={"op1": ("node1",) * 10, "op2": ("node2",) * 10})
    for name in ("correlated", "exact"):
        options = AllocationOptions(balance="none")
        problem = build(Topology(operators, ()), machines, where, series, options)
        result = registry.load(registry.row("allocate-checkpoints", name))(problem, options)
        assert result.status == "optimal"
        for item in result.answer.assignments:
            assert item["checkpoints"] == [{"op1": "node2", "op2": "node1"}[item["operator"]]]
        assert result.answer.value == pytest.approx(-20 * 50 * 10)
