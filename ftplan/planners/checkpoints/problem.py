"""From topology, cluster, placement and statistics to the arrays of the allocation problem."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.metrics.checkpoint_objective import objective_costs
from ftplan.model.checkpoint_rules import fair_shares
from ftplan.model.cluster import Cluster, Placement, primaries
from ftplan.model.failover import loss_of_nodes
from ftplan.model.key_group_state import key_group_state
from ftplan.model.plan import Warn
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology
from ftplan.model.units import MB
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.options import AllocationOptions
from ftplan.planners.checkpoints.rules.memory import require_memory

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

    Raises
    ------
    FtplanError
        If no primary is known for a key group, statistics and topology disagree on the number of key groups, or the
        problem does not fit into memory.
    """
    planned = [o for o in topology.keyed_operators if o.id in series.operators]
    warnings = _left_out(topology, series)
    homes = {o.id: _homes(o, topology, cluster, placement, needed=True) for o in planned}
    operators = tuple(o.id for o in planned for _ in range(o.key_groups or 0))
    key_group = _joined([np.arange(o.key_groups or 0) for o in planned])
    task = _joined([o.task_of_key_groups() for o in planned])
    home = _joined([homes[o.id] for o in planned])
    state = np.nan_to_num(np.concatenate([key_group_state(o, series) for o in planned])) if planned else np.zeros(0)
    require_memory(home.size, len(cluster.nodes), series.loads.shape[0])
    loads, estimated = _complete(planned, series)

    objective = options.objective.resolved(series, cluster)
    nodes = len(cluster.nodes)
    accepts = cluster.accepting("checkpoints")
    zoned = options.anti_affinity == "zone"
    loss_of_node, losses = loss_of_nodes(cluster, options.anti_affinity)
    domain = cluster.zone_index if zoned else np.arange(nodes, dtype=np.int64)
    memory_mb = np.array([np.nan if n.memory_mb is None else n.memory_mb for n in cluster.nodes], dtype=np.float64)
    occupied = _primary_state(topology, cluster, placement, series)
    memory_left = np.where(np.isnan(memory_mb), np.inf, memory_mb * MB - occupied)
    problem = CheckpointProblem(
        nodes=tuple(node.id for node in cluster.nodes),
        domain=domain,
        domain_kind=options.anti_affinity,
        accepts=accepts,
        share=fair_shares(cluster),
        memory_left=memory_left,
        memory_mb=memory_mb,
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
        state=state,
        unit_names=tuple(f"key-group:{o}/{g}" for o, g in zip(operators, key_group.tolist(), strict=True)),
        integral=objective.integral,
        cpu=cluster.cpu,
        loss_names=tuple(losses[i] for i in loss_of_node.tolist()),
    )
    if estimated.any():
        names = sorted({operators[i] for i in np.flatnonzero(estimated)})
        warnings.append(
            Warn(
                "ESTIMATED_STATISTICS",
                f"statistics of {', '.join(names)} were spread over the key groups of a task, so that the choice "
                "within a task is arbitrary: "
                + ("key groups are taken in order" if options.balance == "count" else "planned per task"),
            )
        )
        # A limit on the number of copies would make whole tasks infeasible where single groups fit.
        if options.balance != "count":
            problem = _merged(problem, task, estimated)
    return replace(problem, warnings=tuple(warnings))


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


def _homes(
    operator: Operator, topology: Topology, cluster: Cluster, placement: Placement | None, needed: bool
) -> IntArray:
    """Return the node position of each key group's primary, shape (key_groups,); empty if unknown and not needed."""
    where = primaries(operator.id, topology, placement) if placement is not None else None
    if where is None:
        if not needed:
            return np.zeros(0, dtype=np.int64)
        raise FtplanError(
            f"operator {operator.id!r}: the cluster does not say on which nodes its key groups are: give "
            f"placement.tasks.{operator.id} or placement.key_groups.{operator.id}, or place round robin with --spread"
        )
    if len(where) != operator.key_groups:
        raise FtplanError(
            f"placement.key_groups.{operator.id}: {len(where)} nodes for {operator.key_groups} key groups"
        )
    for node in where:
        cluster.node(node)
    return np.array([cluster.position[node] for node in where], dtype=np.int64)


def _complete(planned: list[Operator], series: KeyGroupSeries) -> tuple[FloatArray, BoolArray]:
    """Return loads (W, K) and estimated (K,) of all key groups of the planned operators; unseen groups are idle."""
    offset, total = {}, 0
    for operator in planned:
        offset[operator.id] = total
        total += operator.key_groups or 0
    loads = np.zeros((series.loads.shape[0], total))
    estimated = np.zeros(total, dtype=np.bool_)
    for operator in planned:
        mine = np.flatnonzero(series.operator == series.operators.index(operator.id))
        group = series.key_group[mine]
        if group.size and (group.min() < 0 or group.max() >= (operator.key_groups or 0)):
            raise FtplanError(
                f"operator {operator.id!r}: the statistics have key group {int(group.max())}, the topology only "
                f"{operator.key_groups} key groups: compute them with the same number of key groups"
            )
        loads[:, offset[operator.id] + group] = series.loads[:, mine]
        estimated[offset[operator.id] + group] = series.estimated[mine]
    return loads, estimated


def _primary_state(
    topology: Topology, cluster: Cluster, placement: Placement | None, series: KeyGroupSeries
) -> FloatArray:
    """Return the known state of the primaries of all keyed operators on each node, in bytes, shape (nodes,)."""
    occupied = np.zeros(len(cluster.nodes))
    for operator in topology.keyed_operators:
        home = _homes(operator, topology, cluster, placement, needed=False)
        if home.size:
            np.add.at(occupied, home, np.nan_to_num(key_group_state(operator, series)))
    return occupied


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
