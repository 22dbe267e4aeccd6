"""From files to the question of a peer ring: who is on it, what key groups weigh, and what times follow from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.cluster import Cluster
from ftplan.model.measures.node_load import capacity_of, default_capacity
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import BoolArray, Topology
from ftplan.planners.peer_ring.inputs.failures import FailureProbabilities, failing_nodes
from ftplan.planners.peer_ring.inputs.loads import RingLoads, measured_queues, ring_loads
from ftplan.planners.peer_ring.inputs.members import (
    Members,
    RingInPlace,
    check_kept,
    check_options,
    check_order,
    check_replication,
    deployment_warnings,
    requested_members,
    ring_in_place,
)
from ftplan.planners.peer_ring.inputs.setting import NodePower, ring_setting
from ftplan.planners.peer_ring.kind import KIND
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.problem import RingProblem, RingSetting, RingThresholds
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.situation import Situation, situation_of

#: Share of a node's cores that is free for the ring at least, whatever other work takes.
LEAST_FREE = 0.01


@dataclass(frozen=True, eq=False)
class PreparedRing:
    """The question of a peer ring and what it was made of."""

    problem: RingProblem
    topology: Topology
    cluster: Cluster
    options: PeerRingOptions
    loads: RingLoads  # what key groups weigh, state NaN where unknown
    costs: GivenCosts  # the recovery costs that were asked for
    capacity_per_core: float  # load units per second and core
    inputs: tuple[InputFile, ...]  # fingerprints of the files that were read beside the inputs


def prepare(
    problem: Problem,
    options: PeerRingOptions,
    listed: Sequence[str] | None = None,
    judging: bool = False,
    assumed_capacity: bool = False,
) -> PreparedRing:
    """Build the question of a peer ring from topology and cluster, and statistics where there are some.

    Cost O(W K + K log K) for W windows and K key groups.

    *listed*: the nodes that are the ring's whatever the options say, to judge a plan that was made by hand. *judging*:
    whether a plan is to be judged: that there are too few nodes for its copies is no error then. *assumed_capacity*:
    whether the capacity in *options* was assumed for a plan, not asked for.

    Raises FtplanError if an input is missing, options ask for what cannot be, or a selector or plan names what is not
    there.
    """
    situation = situation_of(problem, options, "a peer ring", KIND.needs)
    check_options(options)
    loads, given = ring_loads(situation, options), situation.recovery
    ring = _ring_nodes(situation, options, loads, listed)
    if not judging:
        check_replication(options, ring.nodes)
        check_kept(options, ring.here, ring.keep)
        check_order(options, ring.here)
    cluster, members = situation.required_cluster, ring.nodes.members
    per_core = capacity_per_core(options, loads, cluster, members, ring.current)
    power = NodePower(cluster.cpu, cluster.cpu * per_core, situation.used_cpu * per_core, members)
    setting, assumed = ring_setting(options, situation, loads, power)
    chances = FailureProbabilities.of(cluster, _zones(cluster), members | ring.nodes.tier)
    known = loads.measures_capacity or (options.capacity_per_core is not None and not assumed_capacity)
    built = _problem(options, situation, loads, ring, power, setting, chances, known)
    warnings = (
        *loads.warnings,
        *assumed,
        *ring.warnings,
        *deployment_warnings(ring.nodes, ring.fails, cluster, ring.here, ring.keep),
        *chances.warnings,
    )
    built = replace(built, warnings=tuple(dict.fromkeys(warnings)))
    files = (*(() if ring.here is None else (ring.here.file,)), *situation.files)
    return PreparedRing(built, situation.topology, cluster, options, loads, given, per_core, files)


class _RingNodes(NamedTuple):
    """Who is on the planned ring; the ring in place, *here*; who fails, (N,); whether the ring stays as it is."""

    nodes: Members
    here: RingInPlace | None
    fails: BoolArray
    keep: bool
    warnings: tuple[Warn, ...]

    @property
    def current(self) -> Ring | None:
        """The ring in place."""
        return None if self.here is None else self.here.ring


def _ring_nodes(
    situation: Situation, options: PeerRingOptions, loads: RingLoads, listed: Sequence[str] | None
) -> _RingNodes:
    cluster = situation.required_cluster
    ids = tuple(node.id for node in cluster.nodes)
    here = None if options.current is None else ring_in_place(options.current, ids, loads.position)
    fails, said = failing_nodes(options.fail, situation.failure, cluster)
    keep = here is not None and bool(fails.any()) and not _changes(options)
    return _RingNodes(_members(options, cluster, here, listed, keep), here, fails, keep, said)


def _problem(
    options: PeerRingOptions,
    situation: Situation,
    loads: RingLoads,
    ring: _RingNodes,
    power: NodePower,
    setting: RingSetting,
    chances: FailureProbabilities,
    capacity_known: bool,
) -> RingProblem:
    """Return what planners are asked."""
    cluster, series, state = situation.required_cluster, loads.series, np.nan_to_num(loads.state)
    return RingProblem(
        nodes=tuple(node.id for node in cluster.nodes),
        zones=_zones(cluster),
        zone=cluster.zone_index,
        **ring.nodes._asdict(),
        fails=ring.fails,
        cpu=np.maximum(cluster.cpu - situation.used_cpu, LEAST_FREE * cluster.cpu),
        down=chances.down,
        zone_down=chances.zone_down,
        position=loads.position,
        load=loads.at(loads.load),
        rate=loads.at(loads.rate),
        state=loads.at(state),
        operators=tuple(loads.operators[k].id for k in loads.operator.tolist()),
        key_group=loads.key_group,
        atom=loads.atom,
        group_load=loads.load,
        group_state=state,
        capacity=power.capacity,
        foreign=power.foreign,
        overload=options.overload,
        replication=options.replication,
        setting=setting,
        thresholds=_thresholds(options),
        windows=None if series is None else loads.at(series.loads) / series.window_s,
        window_s=1.0 if series is None else series.window_s,
        queue_s=None if ring.here is None else measured_queues(situation, loads, power.capacity),
        current=ring.current,
        copies_in_place=_copies_in_place(options, ring.here),
        keep=ring.keep,
        rebalance=options.rebalance,
        target_load=options.target_load,
        max_bytes=options.max_bytes,
        tokens=options.tokens,
        state_known=not bool(np.isnan(loads.state).all()),
        probabilities_known=chances.known,
        failure_period_s=cluster.failure_period_s,
        capacity_known=capacity_known,
        measured=situation.stats is not None,
    )


def _zones(cluster: Cluster) -> tuple[str, ...]:
    """Return the names of zones by number, empty for that of a node without one."""
    names = {int(number): node.zone or "" for number, node in zip(cluster.zone_index, cluster.nodes, strict=True)}
    return tuple(names[number] for number in range(len(names)))


def _members(
    options: PeerRingOptions, cluster: Cluster, here: RingInPlace | None, listed: Sequence[str] | None, keep: bool
) -> Members:
    """Return who is on the ring; the tier of a ring that stays is that which it has."""
    nodes = requested_members(options, cluster, None if here is None else here.ring)
    if keep and here is not None and here.ring.tier is not None:
        tier = np.zeros(len(cluster.nodes), dtype=np.bool_)
        tier[here.ring.tier] = True
        nodes = nodes._replace(tier=tier & ~nodes.members)
    if listed is None:
        return nodes
    named = set(listed)
    there = np.array([node.id in named for node in cluster.nodes], dtype=np.bool_)
    return nodes._replace(members=there)


def _changes(options: PeerRingOptions) -> bool:
    """Return whether options ask for another ring than the one in place."""
    asked = (options.add, options.remove, options.tier, options.rebalance)
    return any(map(bool, asked)) or options.target_load is not None or options.max_bytes is not None


def _copies_in_place(options: PeerRingOptions, here: RingInPlace | None) -> int | None:
    """Return how many backups the ring in place keeps where these are others than are asked for, else None."""
    if here is None:
        return None
    kept = min(options.replication, here.ring.most_copies) if here.replication is None else here.replication
    return None if kept == options.replication else kept


def _thresholds(options: PeerRingOptions) -> RingThresholds:
    """Return when nodes ask and give; who asks for help gives none, whatever the limits are."""
    return RingThresholds(
        options.queue_high_s,
        min(options.queue_low_s, options.queue_high_s),
        options.overload,
        min(options.accept, options.overload),
        options.hold,
    )


def capacity_per_core(
    options: PeerRingOptions, loads: RingLoads, cluster: Cluster, members: BoolArray, current: Ring | None
) -> float:
    """Return load units per second and core; by default such that the ring in place, else the planned one, is 0.7 full.

    Then capacity does not change with the nodes that are added or removed.
    """
    if options.capacity_per_core is not None:
        return float(options.capacity_per_core)
    on_ring = members if current is None else np.isin(np.arange(len(cluster.nodes)), current.node)
    ring = replace(cluster, nodes=tuple(cluster.nodes[k] for k in np.flatnonzero(on_ring).tolist()), file_order=())
    if loads.series is not None:
        return capacity_of(loads.series, ring)
    return default_capacity(loads.load[None, :], ring, 1.0)
