"""From files to the question of a rebalance: what runs where, which nodes come and go, and what moves cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.cluster import Cluster, key_group_homes
from ftplan.model.measures.key_group_demand import demand
from ftplan.model.measures.key_group_series import key_group_series, of_operators
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.measures.node_load import capacity_of
from ftplan.model.measures.stats_summary import trust_warnings, unmeasured_warnings
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem, StatsTables
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray, Topology
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies, checkpoint_copies
from ftplan.planners.rebalance.effects import fair_load, made_even
from ftplan.planners.rebalance.migration_costs import MigrationSetting, migration_costs
from ftplan.planners.rebalance.nodes import Nodes, asked_nodes
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.pricing import migration_setting
from ftplan.planners.rebalance.problem import RebalanceLimits, RebalanceProblem
from ftplan.planners.rebalance.traffic import priced_traffic
from ftplan.planners.rebalance.unknowns import unknown_warnings


@dataclass(frozen=True, eq=False)
class PreparedRebalance:
    """A rebalance problem and what it was made of.

    Attributes
    ----------
    series, records
        Load, and records, of the problem's key groups in each window, in its order.
    setting
        What the costs of moves follow from: arrays over the key groups.
    capacity_per_core
        Load units per second and core.
    inputs
        Fingerprints of the files that were read beside the inputs.
    """

    problem: RebalanceProblem
    topology: Topology
    cluster: Cluster
    series: KeyGroupSeries
    records: KeyGroupSeries
    setting: MigrationSetting
    capacity_per_core: float
    inputs: tuple[InputFile, ...]

    @property
    def fair(self) -> FloatArray:
        """Load that each node would have in proportion to its cpu, (N,), 0 where no key group may go."""
        return fair_load(self.problem)

    def filled(self, fill: float) -> PreparedRebalance:
        """Return the same, with added nodes at (1 - *fill*) of their fair share at least: ``--tolerance auto``."""
        here = self.problem.added & self.problem.hosts
        lower = np.where(here, (1.0 - fill) * self.fair, -np.inf)
        return replace(self, problem=replace(self.problem, lower=lower))


def prepare(problem: Problem, options: RebalanceOptions, fill: float | None = None) -> PreparedRebalance:
    """Build a rebalance problem of all key groups of a job. Groups that the statistics do not know have no load.

    Parameters
    ----------
    fill
        With ``--tolerance auto``, how far below its fair share an added node may be; None for any.

    Raises
    ------
    FtplanError
        If an input is missing, the placement is not known, options contradict each other, or a selector or plan names
        what is not there.
    """
    topology, cluster, stats = problem.placed_and_measured("a rebalance")
    nodes = asked_nodes(options, cluster)
    measured = measured_topology(topology, stats)
    graph = TaskGraph(measured.topology)
    load = _series(stats, topology, options.load)
    records = load if options.load == "records" else _series(stats, topology, "records")
    planned, rate = demand(load, options.demand), demand(records, options.demand) / records.window_s
    home = _homes(topology, cluster)
    given = GivenCosts.of(options.costs)
    priced = migration_setting(options, graph, cluster.network, stats, records, rate, given)
    copies, copy_file = checkpoint_copies(options.checkpoints, topology, cluster)
    places = tuple(_places(copies, load, cluster))
    copied = np.array([any(copies.get(operator, ())) for operator in load.operators], dtype=np.bool_)
    costs = migration_costs(priced.setting)
    unknown = unknown_warnings(options, topology.keyed_operators, records, priced.known, costs, copied, given.remote)
    traffic = None
    if options.cross_zone_cost is not None:
        traffic = priced_traffic(options.cross_zone_cost, graph, cluster, home, rate, priced.record_bytes)
    per_core = capacity_of(load, cluster) if options.capacity_per_core is None else options.capacity_per_core
    foreign = np.array([node.used_cpu for node in cluster.nodes], dtype=np.float64) * per_core * load.window_s
    capacity = cluster.cpu * per_core * load.window_s
    ceiling = options.overload * capacity
    criterion: Any = options.objective
    built = RebalanceProblem(  # the function is long because the problem has many fields
        nodes=tuple(node.id for node in cluster.nodes),
        zone=cluster.zone_index,
        domain=cluster.zone_index if options.anti_affinity == "zone" else np.arange(len(cluster.nodes)),
        hosts=nodes.hosts,
        keeps=nodes.keeps,
        removed=nodes.removed,
        added=nodes.added,
        capacity=capacity,
        foreign=foreign,
        ceiling=ceiling,
        upper=ceiling,
        lower=np.full(len(cluster.nodes), -np.inf),
        memory=np.array([math.inf if n.memory_mb is None else n.memory_mb * MB for n in cluster.nodes]),
        operators=tuple(operator for operator, _ in load.names),
        key_group=load.key_group,
        home=home,
        copies=places,
        load=planned,
        rate=rate,
        state=np.asarray(priced.setting.state_bytes),
        costs=costs,
        protocols=priced.protocols,
        criterion=criterion,
        remote=given.remote,
        traffic=None if traffic is None else traffic.price,
        limits=_limits(options),
        warnings=tuple(
            dict.fromkeys((
                *measured.warnings,
                *_statistics(topology, stats, load),
                *priced.warnings,
                *unknown,
                *(() if traffic is None else traffic.warnings),
                *_standing(topology, cluster, nodes, places, given, options.protocol),
            ))
        ),
    )  # fmt: skip
    if options.tolerance not in ("auto", "none"):
        built = made_even(built, float(options.tolerance))
    files = tuple(file for file in (copy_file, given.file) if file is not None)
    made = PreparedRebalance(built, topology, cluster, load, records, priced.setting, per_core, files)
    return made if fill is None or options.tolerance != "auto" else made.filled(fill)


def _series(stats: StatsTables, topology: Topology, measure: Any) -> KeyGroupSeries:
    return of_operators(key_group_series(stats, measure, topology), topology.keyed_operators)


def _homes(topology: Topology, cluster: Cluster) -> IntArray:
    """Return the node of each key group, (K,)."""
    keyed = topology.keyed_operators
    homes = [key_group_homes(operator, topology, cluster, cluster.placement) for operator in keyed]
    return np.concatenate([np.zeros(0, dtype=np.int64), *homes])


def _places(copies: Copies, load: KeyGroupSeries, cluster: Cluster) -> Iterator[tuple[int, ...]]:
    """Yield the nodes of the checkpoint copies of each key group, ascending."""
    for operator, number in load.names:
        held = copies.get(operator, ())
        yield tuple(sorted(cluster.position[node] for node in held[number])) if held else ()


def _limits(options: RebalanceOptions) -> RebalanceLimits:
    return RebalanceLimits(
        options.max_moves,
        options.max_bytes,
        options.max_pause_s,
        options.phase_bytes,
        options.within_s,
        options.phase_overhead_s,
    )


def _statistics(topology: Topology, stats: StatsTables, load: KeyGroupSeries) -> Iterator[Warn]:
    """Yield what there is to say of the statistics."""
    yield from trust_warnings(stats.manifest)
    if not topology.keyed_operators:
        yield Warn("NO_KEY_GROUPS", "no operator of the topology has key_groups: nothing can move")
    yield from unmeasured_warnings(stats, load, "which of them move")


def _standing(
    topology: Topology,
    cluster: Cluster,
    nodes: Nodes,
    places: tuple[tuple[int, ...], ...],
    given: GivenCosts,
    protocol: str,
) -> Iterator[Warn]:
    """Yield what the placement means for moves: no copies to move over, and tasks that are not moved."""
    if places and not any(places) and not given.remote and protocol not in ("direct", "lazy"):
        text = (
            "no checkpoint of any key group is known to lie on a node: every move is direct, or waits for a full "
            "checkpoint; give --checkpoints PLAN (see allocate-checkpoints), or placement.checkpoints in the cluster "
            "file"
        )
        yield Warn("NO_CHECKPOINTS", text)
    gone = {cluster.nodes[i].id for i in np.flatnonzero(nodes.removed).tolist()}
    tasks = cluster.placement.tasks if cluster.placement is not None else {}
    staying = [o.id for o in topology.operators if not o.key_groups and not gone.isdisjoint(tasks.get(o.id, ()))]
    if staying:
        text = (
            f"tasks of {', '.join(sorted(staying))}, without key groups, run on nodes that are removed: a rebalance "
            "moves key groups only; start these tasks elsewhere"
        )
        yield Warn("UNKEYED_TASKS_STAY", text)
