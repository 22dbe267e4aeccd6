"""What every allocation planner must do, parametrised over the registry."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.errors import FtplanError
from ftplan.metrics.checkpoint_objective import CheckpointObjective, objective_value
from ftplan.model.checkpoint_rules import violations
from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.checkpoints.problem import AllocationOptions, build

PLANNERS = [pytest.param(registry.load(row), id=row.name) for row in registry.rows("allocate-checkpoints")]
COMBINATIONS = list(itertools.product(["auto", 0.3, "count", "none"], ["node", "zone"], [1, 2]))


def job(groups: int, seed: int, estimated: bool = False) -> tuple[Topology, KeyGroupSeries]:
    """Two keyed operators, eight tasks each, with random loads; if estimated, one series a task."""
    rng = np.random.default_rng(seed)
    one = np.ones(8)
    operators = tuple(
        Operator(name, 8, cpu=one, state_bytes=1e6 * one, priority=one, key_groups=groups) for name in ("join", "agg")
    )
    loads = rng.gamma(2.0, 10.0, size=(24, 2 * groups)).round()
    if estimated:
        loads = np.repeat(rng.gamma(2.0, 10.0, size=(24, 16)), groups // 8, axis=1)
    series = KeyGroupSeries(
        ("agg", "join"),
        np.repeat([0, 1], groups),
        np.tile(np.arange(groups), 2),
        loads,
        "records",
        60.0,
        np.full(2 * groups, np.nan),
        np.full(2 * groups, estimated),
    )
    return Topology(operators, ()), series


def cluster(memory_mb: float | None = None) -> Cluster:
    nodes = tuple(
        Node(f"n{i}", 2.0 if i == 3 else 1.0, memory_mb, zone=f"z{i % 4}", accepts=frozenset(("tasks", "checkpoints")))
        for i in range(1, 9)
    )
    return Cluster((*nodes, Node("n9", 1.0, memory_mb, accepts=frozenset(("tasks",)))))


def placement() -> Placement:
    return Placement(tasks={"agg": tuple(f"n{i}" for i in range(1, 9)), "join": tuple(f"n{i}" for i in range(2, 10))})


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(("balance", "anti_affinity", "copies"), COMBINATIONS)
def test_valid_plan(planner: Any, balance: Any, anti_affinity: Any, copies: int) -> None:
    """The plan keeps every rule it lists, its value is the objective, and its bound is below it."""
    topology, series = job(16, 1)
    options = AllocationOptions(
        balance=balance, anti_affinity=anti_affinity, copies=copies, bound=True, time_limit_s=3600, iterations=30
    )
    problem = build(topology, cluster(40), placement(), series, options)
    result = planner(problem, options)
    assert result.status in ("optimal", "feasible")
    assert result.rules == result.answer.rules.names()
    found = violations(result.answer.assignments, topology, cluster(40), series, result.answer.rules, placement())
    assert found == ()
    value = objective_value(CheckpointObjective(), result.answer.assignments, series, cluster(40))
    assert result.answer.value == pytest.approx(value, rel=1e-9)
    assert result.bound <= result.answer.value
    assert len(result.answer.assignments) == 32


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("balance", ["auto", "count", "none"])
@pytest.mark.parametrize(("name", "correlate"), [("node-correlation", "share"), ("usable", "raw")])
def test_other_objectives(planner: Any, balance: Any, name: Any, correlate: Any) -> None:
    """Every planner serves every objective: valid, recomputed from the plan, within its bound, the same twice."""
    topology, series = job(16, 5)
    yardstick = CheckpointObjective(name, correlate)
    options = AllocationOptions(
        balance=balance, copies=2, bound=True, time_limit_s=3600, iterations=30, objective=yardstick
    )
    problem = build(topology, cluster(40), placement(), series, options)
    result = planner(problem, options)
    rules = result.answer.rules
    assert violations(result.answer.assignments, topology, cluster(40), series, rules, placement()) == ()
    again = objective_value(yardstick, result.answer.assignments, series, cluster(40))
    assert yardstick.sign * again == pytest.approx(result.answer.value, rel=1e-9)
    assert result.bound <= result.answer.value
    if name == "usable":
        assert result.bound == round(result.bound)
        assert again > 0
    assert planner(problem, options).answer.assignments == result.answer.assignments


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("balance", ["auto", "count", "none"])
def test_same_answer_twice_and_shuffled(planner: Any, balance: Any) -> None:
    """Operators and nodes in another order of the file change nothing."""
    topology, series = job(16, 2)
    options = AllocationOptions(balance=balance, iterations=20)
    first = planner(build(topology, cluster(), placement(), series, options), options)
    again = planner(build(topology, cluster(), placement(), series, options), options)
    shuffled = replace(topology, operators=topology.operators[::-1])
    other = Cluster(cluster().nodes, file_order=tuple(range(9))[::-1])
    mixed = planner(build(shuffled, other, placement(), series, options), options)
    assert first.answer.assignments == again.answer.assignments == mixed.answer.assignments
    assert first.bound == again.bound == mixed.bound
    assert first.warnings == mixed.warnings


@pytest.mark.parametrize("planner", PLANNERS)
def test_too_few_nodes(planner: Any) -> None:
    topology, series = job(16, 3)
    options = AllocationOptions(copies=9)
    result = planner(build(topology, cluster(), placement(), series, options), options)
    assert result.status == "infeasible"
    assert result.answer is None
    assert result.infeasible.smallest_fix.startswith("--copies 7")
    fixed = AllocationOptions(copies=7)
    assert planner(build(topology, cluster(), placement(), series, fixed), fixed).answer is not None


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


@pytest.mark.parametrize("planner", PLANNERS)
def test_idle_job(planner: Any) -> None:
    """All loads zero: any valid plan is optimal."""
    topology, series = job(16, 3)
    idle = replace(series, loads=series.loads * 0)
    options = AllocationOptions(bound=True)
    result = planner(build(topology, cluster(), placement(), idle, options), options)
    assert result.answer.value == result.bound == 0.0
    assert violations(result.answer.assignments, topology, cluster(), idle, result.answer.rules, placement()) == ()


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
    assert violations(result.answer.assignments, topology, cluster(), series, result.answer.rules, placement()) == ()


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
