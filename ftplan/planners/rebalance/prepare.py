"""From files to the question of a rebalance: what runs where, which nodes come and go, and what moves cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, key_group_homes
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS
from ftplan.model.measures.key_group_demand import demand
from ftplan.model.measures.node_load import capacity_of
from ftplan.model.measures.stats_summary import trust_warnings, unmeasured_warnings
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import BoolArray, FloatArray, Topology
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies
from ftplan.planners.named_nodes import listed, named_nodes
from ftplan.planners.rebalance.effects import fair_load, made_even
from ftplan.planners.rebalance.kind import KIND
from ftplan.planners.rebalance.migration_costs import MigrationSetting, migration_costs
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.pricing import migration_setting, priced_traffic
from ftplan.planners.rebalance.problem import RebalanceLimits, RebalanceProblem
from ftplan.planners.rebalance.unknowns import unknown_warnings
from ftplan.planners.situation import Situation, situation_of

#: What a message adds where a node that is added is not there.
ADD_ADVICE = "; a node that is to be filled has to be in the cluster file: add it there"


class Nodes(NamedTuple):
    """Flags of nodes, each (N,), see :class:`ftplan.planners.rebalance.problem.RebalanceProblem`."""

    hosts: BoolArray
    keeps: BoolArray
    removed: BoolArray
    added: BoolArray


def asked_nodes(options: RebalanceOptions, cluster: Cluster) -> Nodes:
    """Return which nodes take part in what way.

    Raises FtplanError if a node is unknown, both added and removed, or added and takes no tasks; if no node is left
    that takes tasks; if there is a notice and no node to remove.
    """
    added = named_nodes(options.add, cluster, "add", ADD_ADVICE)
    removed = named_nodes(options.remove, cluster, "remove")
    tasks, copies = cluster.accepting("tasks"), cluster.accepting("checkpoints")
    if (added & removed).any():
        raise FtplanError(f"--add and --remove both name {listed(added & removed, cluster)}")
    if (added & ~tasks).any():
        raise FtplanError(f"--add: {listed(added & ~tasks, cluster)} takes no tasks (accepts in the cluster file)")
    if options.within_s is not None and not removed.any():
        raise FtplanError("--within is the notice of nodes that are removed: give --remove too")
    if not (tasks & ~removed).any():
        left = "no node of the cluster takes tasks" if not tasks.any() else "--remove leaves no node that takes tasks"
        raise FtplanError(f"{left}: key groups have nowhere to go")
    return Nodes(tasks & ~removed, copies & ~removed, removed, added)


@dataclass(frozen=True, eq=False)
class PreparedRebalance:
    """A rebalance problem and what it was made of."""

    problem: RebalanceProblem
    topology: Topology
    cluster: Cluster
    #: ``series``, ``records``: load, and records, of the problem's key groups in each window, in its order.
    series: KeyGroupSeries
    records: KeyGroupSeries
    setting: MigrationSetting  # what the costs of moves follow from: arrays over the key groups
    capacity_per_core: float  # load units per second and core
    inputs: tuple[InputFile, ...]  # fingerprints of the files that were read beside the inputs

    def filled(self, fill: float) -> PreparedRebalance:
        """Return the same, with added nodes at (1 - *fill*) of their fair share at least: ``--tolerance auto``."""
        here = self.problem.added & self.problem.hosts
        lower = np.where(here, (1.0 - fill) * fair_load(self.problem), -np.inf)
        return replace(self, problem=replace(self.problem, lower=lower))


def prepare(problem: Problem, options: RebalanceOptions) -> PreparedRebalance:
    """Build a rebalance problem of all key groups of a job. Groups that the statistics do not know have no load.

    Raises FtplanError if an input is missing, the placement is not known, options contradict each other, or a selector
    or plan names what is not there.
    """
    situation = situation_of(problem, options, "a rebalance", KIND.needs)
    made = _prepared(situation, options, asked_nodes(options, situation.required_cluster))
    if options.tolerance not in ("auto", "none"):
        made = replace(made, problem=made_even(made.problem, float(options.tolerance)))
    return made


def _prepared(situation: Situation, options: RebalanceOptions, nodes: Nodes) -> PreparedRebalance:
    """Build a problem in which nodes may take as much as they can hold."""
    cluster, measured = situation.required_cluster, situation.measured
    loads = _loads(situation, options)
    load, keyed = loads.series, situation.topology.keyed_operators
    homes = [key_group_homes(operator, situation.topology, cluster, cluster.placement) for operator in keyed]
    home = np.concatenate([np.zeros(0, dtype=np.int64), *homes])
    priced = migration_setting(options, situation, loads.records, loads.rate)
    places = tuple(_places(situation.copies, load, cluster))
    costs = migration_costs(priced.setting)
    traffic = priced_traffic(options, situation, home, loads.rate, priced.record_bytes)
    per_core = capacity_of(load, cluster) if options.capacity_per_core is None else options.capacity_per_core
    capacity = cluster.cpu * per_core * load.window_s
    ceiling = options.overload * capacity
    criterion: Any = options.objective
    built = RebalanceProblem(
        nodes=tuple(node.id for node in cluster.nodes),
        zone=cluster.zone_index,
        domain=cluster.zone_index if options.anti_affinity == "zone" else np.arange(len(cluster.nodes)),
        **nodes._asdict(),
        capacity=capacity,
        foreign=situation.used_cpu * per_core * load.window_s,
        ceiling=ceiling,
        upper=ceiling,
        lower=np.full(len(cluster.nodes), -np.inf),
        memory=situation.memory_mb * MB,
        operators=tuple(operator for operator, _ in load.names),
        key_group=load.key_group,
        home=home,
        copies=places,
        load=loads.planned,
        rate=loads.rate,
        state=np.asarray(priced.setting.state_bytes),
        costs=costs,
        protocols=priced.protocols,
        criterion=criterion,
        remote=situation.recovery.remote,
        traffic=traffic.price,
        limits=_limits(options),
    )
    warnings = (
        *measured.warnings,
        *_statistics(situation, load),
        *priced.warnings,
        *unknown_warnings(options, situation, loads.records, priced.known, costs),
        *traffic.warnings,
        *_standing(situation, nodes, places, options.protocol),
    )
    built = replace(built, warnings=tuple(dict.fromkeys(warnings)))
    return PreparedRebalance(
        built, situation.topology, cluster, load, loads.records, priced.setting, per_core, situation.files
    )


class _Loads(NamedTuple):
    """Load and records of all key groups in each window, and what of both is planned for, (K,)."""

    series: KeyGroupSeries
    records: KeyGroupSeries
    planned: FloatArray  # load in a window
    rate: FloatArray  # records/s


def _loads(situation: Situation, options: RebalanceOptions) -> _Loads:
    keyed = situation.topology.keyed_operators
    load = situation.series(options.load, keyed)
    records = load if options.load == "records" else situation.series("records", keyed)
    return _Loads(load, records, demand(load, options.demand), demand(records, options.demand) / records.window_s)


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


def _statistics(situation: Situation, load: KeyGroupSeries) -> Iterator[Warn]:
    """Yield what there is to say of the statistics."""
    yield from trust_warnings(situation.required_stats.manifest)
    if not situation.topology.keyed_operators:
        yield Warn("NO_KEY_GROUPS", "no operator of the topology has key_groups: nothing can move")
    yield from unmeasured_warnings(situation.required_stats, load, "which of them move")


def _standing(situation: Situation, nodes: Nodes, places: tuple[tuple[int, ...], ...], protocol: str) -> Iterator[Warn]:
    """Yield what the placement means for moves: no copies to move over, and tasks that are not moved."""
    if places and not any(places) and not situation.recovery.remote and protocol not in ("direct", "lazy"):
        text = (
            "no checkpoint of any key group is known to lie on a node: every move is direct, or waits for a full "
            f"checkpoint; give --checkpoints PLAN (see {ALLOCATE_CHECKPOINTS.name}), or placement.checkpoints in the "
            "cluster file"
        )
        yield Warn("NO_CHECKPOINTS", text)
    gone = {situation.required_cluster.nodes[i].id for i in np.flatnonzero(nodes.removed).tolist()}
    unkeyed = [operator.id for operator in situation.topology.operators if not operator.key_groups]
    staying = [name for name in unkeyed if not gone.isdisjoint(situation.placed.get(name, ()))]
    if staying:
        text = (
            f"tasks of {', '.join(sorted(staying))}, without key groups, run on nodes that are removed: a rebalance "
            "moves key groups only; start these tasks elsewhere"
        )
        yield Warn("UNKEYED_TASKS_STAY", text)
