"""From topology, cluster, placement and statistics to the arrays of the allocation problem."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from ftplan.model.cluster import Cluster, Placement, key_group_homes, primaries
from ftplan.model.measures.availability import loss_of_nodes
from ftplan.model.measures.key_group_series import of_operators
from ftplan.model.measures.task_state import key_group_state
from ftplan.model.plan import Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import BoolArray, FloatArray, IntArray, Operator, Topology
from ftplan.model.units import MB
from ftplan.planners.allocate_checkpoints.algorithms.allocation import AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem, require_memory
from ftplan.planners.allocate_checkpoints.objective import objective_costs
from ftplan.planners.allocate_checkpoints.rules import fair_shares

__all__ = ["AllocationOptions", "CheckpointProblem", "build"]


def build(
    topology: Topology,
    cluster: Cluster,
    placement: Placement | None,
    series: KeyGroupSeries,
    options: AllocationOptions,
) -> CheckpointProblem:
    """Return the problem of allocating the checkpoints of all keyed operators that have statistics.

    Key groups without a row in the statistics are idle. Warnings: ``NO_STATISTICS`` (a keyed operator is left out),
    ``UNUSED_STATISTICS`` (statistics of no keyed operator), ``ESTIMATED_STATISTICS`` (planned per task). Cost
    O(W K N).

    Raises :class:`FtplanError` if no primary is known for a key group, statistics and topology disagree on the number
    of key groups, or the problem does not fit into memory.
    """
    planned = [o for o in topology.keyed_operators if o.id in series.operators]
    homes = [key_group_homes(o, topology, cluster, placement) for o in planned]
    groups = sum(o.key_groups or 0 for o in planned)
    require_memory(groups, len(cluster.nodes), series.loads.shape[0])
    complete = of_operators(series, planned)
    loads, estimated = complete.loads, complete.estimated
    free_bytes = _free_bytes(topology, cluster, placement, series)
    problem = _by_group(planned, _joined(homes), loads, free_bytes, cluster, series, options)
    warnings = _left_out(topology, series)
    if estimated.any():
        names = ", ".join(sorted({problem.operators[i] for i in np.flatnonzero(estimated)}))
        how = "key groups are taken in order" if options.balance == "count" else "planned per task"
        text = f"statistics of {names} were spread over the key groups of a task, so that the choice within a task is "
        warnings.append(Warn("ESTIMATED_STATISTICS", f"{text}arbitrary: {how}"))
        # A limit on the number of copies would make whole tasks infeasible where single groups fit.
        if options.balance != "count":
            problem = _merged(problem, _joined([o.task_of_key_groups() for o in planned]), estimated)
    return replace(problem, warnings=tuple(warnings))


def _by_group(
    planned: list[Operator],
    home: IntArray,
    loads: FloatArray,
    memory_left: FloatArray,
    cluster: Cluster,
    series: KeyGroupSeries,
    options: AllocationOptions,
) -> CheckpointProblem:
    """Return the problem with every key group a unit of its own.

    Shapes: home (K,), node positions; loads (W, K); memory_left (N,), bytes.
    """
    objective = options.objective.resolved(series, cluster)
    accepts = cluster.accepting("checkpoints")
    loss_of_node, losses = loss_of_nodes(cluster, options.anti_affinity)
    nodes = np.arange(len(cluster.nodes), dtype=np.int64)
    domain = cluster.zone_index if options.anti_affinity == "zone" else nodes
    operators = tuple(o.id for o in planned for _ in range(o.key_groups or 0))
    key_group = _joined([np.arange(o.key_groups or 0) for o in planned])
    state = [np.nan_to_num(key_group_state(o, series)) for o in planned]
    return CheckpointProblem(
        nodes=tuple(node.id for node in cluster.nodes),
        domain=domain,
        domain_kind=options.anti_affinity,
        accepts=accepts,
        share=fair_shares(cluster),
        memory_left=memory_left,
        memory_mb=_memory_mb(cluster),
        copies=options.copies,
        windows=loads.shape[0],
        operators=operators,
        key_group=key_group,
        group_home=home,
        unit_of_group=np.arange(home.size),
        home=home,
        cost=objective_costs(objective, loads, series.window_s, home, cluster),
        allowed=accepts[None, :] & (domain[None, :] != domain[home][:, None]),
        load=loads.mean(axis=0) if loads.shape[0] else np.zeros(home.size),
        size=np.ones(home.size, dtype=np.int64),
        state=np.concatenate(state) if state else np.zeros(0),
        unit_names=tuple(f"key-group:{o}/{g}" for o, g in zip(operators, key_group.tolist(), strict=True)),
        integral=objective.integral,
        cpu=cluster.cpu,
        loss_names=tuple(losses[i] for i in loss_of_node.tolist()),
    )


def _left_out(topology: Topology, series: KeyGroupSeries) -> list[Warn]:
    """Return a warning for keyed operators without statistics and one for statistics without a keyed operator."""
    keyed = {o.id for o in topology.keyed_operators}
    warnings = []
    if not keyed:
        warnings.append(Warn("NO_KEY_GROUPS", "no operator of the topology has key_groups: nothing to plan"))
    missing = sorted(keyed - set(series.operators))
    if missing:
        warnings.append(Warn("NO_STATISTICS", f"no statistics for {', '.join(missing)}: no checkpoints planned"))
    unused = sorted(set(series.operators) - keyed)
    if unused:
        warnings.append(
            Warn("UNUSED_STATISTICS", f"the topology has no keyed operator {', '.join(unused)}: statistics ignored")
        )
    return warnings


def _joined(parts: list[IntArray]) -> IntArray:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def _memory_mb(cluster: Cluster) -> FloatArray:
    """Return the memory of each node in 2^20 bytes, NaN where unknown, shape (nodes,)."""
    return np.array([np.nan if n.memory_mb is None else n.memory_mb for n in cluster.nodes], dtype=np.float64)


def _free_bytes(
    topology: Topology, cluster: Cluster, placement: Placement | None, series: KeyGroupSeries
) -> FloatArray:
    """Return the memory left on each node by the known state of all primaries, inf where unknown, shape (nodes,)."""
    occupied = np.zeros(len(cluster.nodes))
    for operator in topology.keyed_operators:
        if placement is not None and primaries(operator.id, topology, placement) is not None:
            home = key_group_homes(operator, topology, cluster, placement)
            np.add.at(occupied, home, np.nan_to_num(key_group_state(operator, series)))
    memory_mb = _memory_mb(cluster)
    return np.where(np.isnan(memory_mb), np.inf, memory_mb * MB - occupied)


def _merged(problem: CheckpointProblem, task: IntArray, estimated: BoolArray) -> CheckpointProblem:
    """Return the problem with the estimated groups of one task on one node as one unit, the others as they are."""
    members: dict[tuple[str, int, int, int], list[int]] = defaultdict(list)
    for g, operator in enumerate(problem.operators):
        key = (operator, int(task[g]), int(problem.home[g]), -1) if estimated[g] else (operator, int(task[g]), -1, g)
        members[key].append(g)
    units = sorted(members.values())  # by first group: (operator id, key group) order
    first = np.array([unit[0] for unit in units], dtype=np.int64)
    unit_of_group = np.zeros(len(problem.operators), dtype=np.int64)
    for u, unit in enumerate(units):
        unit_of_group[unit] = u

    def summed(values: FloatArray) -> FloatArray:
        out = np.zeros((len(units), *values.shape[1:]))
        np.add.at(out, unit_of_group, values)
        return out

    size = np.bincount(unit_of_group, minlength=len(units))
    names = tuple(
        problem.unit_names[f] if s == 1 else f"task:{problem.operators[f]}/{int(task[f])}"
        for f, s in zip(first.tolist(), size.tolist(), strict=True)
    )
    return replace(
        problem,
        unit_of_group=unit_of_group,
        home=problem.home[first],
        cost=summed(problem.cost),
        allowed=problem.allowed[first],
        load=summed(problem.load),
        size=size.astype(np.int64),
        state=summed(problem.state),
        unit_names=names,
        split=problem,
    )
