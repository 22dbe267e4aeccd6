"""From files to the question of a peer ring: who is on it, what key groups weigh, and what times follow from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.measures.node_load import capacity_of, default_capacity
from ftplan.model.plan import InputFile
from ftplan.model.problem import Problem
from ftplan.model.topology import BoolArray, Topology
from ftplan.planners.peer_ring.inputs.current import RingInPlace, deployment_warnings, ring_in_place
from ftplan.planners.peer_ring.inputs.failures import FailureProbabilities, failing_nodes
from ftplan.planners.peer_ring.inputs.loads import RingLoads, measured_queues, ring_loads
from ftplan.planners.peer_ring.inputs.members import Members, check_options, check_replication, requested_members
from ftplan.planners.peer_ring.inputs.setting import NodePower, ring_setting
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.problem import RingProblem, RingThresholds
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class PreparedRing:
    """The question of a peer ring and what it was made of.

    Attributes
    ----------
    loads
        What key groups weigh, state NaN where unknown.
    costs
        The recovery costs that were asked for.
    capacity_per_core
        Load units per second and core.
    inputs
        Fingerprints of the files that were read beside the inputs.
    """

    problem: RingProblem
    topology: Topology
    cluster: Cluster
    options: PeerRingOptions
    loads: RingLoads
    costs: GivenCosts
    capacity_per_core: float
    inputs: tuple[InputFile, ...]


def prepare(
    problem: Problem, options: PeerRingOptions, listed: Sequence[str] | None = None, judging: bool = False
) -> PreparedRing:
    """Build the question of a peer ring from topology and cluster, and statistics where there are some.

    Cost O(W K + K log K) for W windows and K key groups.

    Parameters
    ----------
    listed
        The nodes that are the ring's whatever the options say, to judge a plan that was made by hand.
    judging
        Whether a plan is to be judged: that there are too few nodes for its copies is no error then.

    Raises
    ------
    FtplanError
        If an input is missing, options ask for what cannot be, or a selector or plan names what is not there.
    """
    topology, cluster = _needed(problem)
    check_options(options)
    loads, given = ring_loads(topology, problem.stats, options), GivenCosts.of(options.costs)
    ids = tuple(node.id for node in cluster.nodes)
    here = None if options.current is None else ring_in_place(options.current, ids, loads.position)
    fails, said = failing_nodes(options.fail, problem.failure, cluster)
    keep = here is not None and bool(fails.any()) and not _changes(options)
    nodes = _members(options, cluster, here, listed, keep)
    if not judging:
        check_replication(options, nodes)
        _check_kept(options, here, keep)
        _check_order(options, here)
    per_core = capacity_per_core(options, loads, cluster, nodes.members, None if here is None else here.ring)
    capacity = cluster.cpu * per_core
    foreign = np.array([node.used_cpu for node in cluster.nodes], dtype=np.float64) * per_core
    power = NodePower(cluster.cpu, capacity, foreign, nodes.members)
    setting, assumed = ring_setting(options, topology, cluster.network, loads, power, given)
    zones = _zones(cluster)
    series, chances = loads.series, FailureProbabilities.of(cluster, zones, nodes.members | nodes.tier)
    state = np.nan_to_num(loads.state)
    built = RingProblem(  # the function is long because the problem has many fields
        nodes=ids,
        zones=zones,
        zone=cluster.zone_index,
        members=nodes.members,
        tier=nodes.tier,
        added=nodes.added,
        removed=nodes.removed,
        fails=fails,
        cpu=cluster.cpu,
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
        capacity=capacity,
        foreign=foreign,
        overload=options.overload,
        replication=options.replication,
        setting=setting,
        thresholds=_thresholds(options),
        windows=None if series is None else loads.at(series.loads) / series.window_s,
        window_s=1.0 if series is None else series.window_s,
        queue_s=None if here is None else measured_queues(problem.stats, cluster, loads, capacity),
        current=None if here is None else here.ring,
        copies_in_place=_copies_in_place(options, here),
        keep=keep,
        rebalance=options.rebalance,
        target_load=options.target_load,
        max_bytes=options.max_bytes,
        tokens=options.tokens,
        state_known=not bool(np.isnan(loads.state).all()),
        probabilities_known=chances.known,
        measured=problem.stats is not None,
        warnings=tuple(
            dict.fromkeys((
                *loads.warnings,
                *assumed,
                *said,
                *deployment_warnings(nodes, fails, cluster, here, keep),
                *chances.warnings,
            ))
        ),
    )  # fmt: skip
    files = tuple(file for file in (None if here is None else here.file, given.file) if file is not None)
    return PreparedRing(built, topology, cluster, options, loads, given, per_core, files)


def _needed(problem: Problem) -> tuple[Topology, Cluster]:
    for name in ("topology", "cluster"):
        if getattr(problem, name) is None:
            raise FtplanError(f"a peer ring needs {name}: give --{name} (in Python {name}=...)")
    assert problem.topology is not None
    assert problem.cluster is not None
    return problem.topology, problem.cluster


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


def _check_order(options: PeerRingOptions, here: RingInPlace | None) -> None:
    """Refuse to let neighbours share load where nodes have several tokens, and so no one neighbour.

    Raises
    ------
    FtplanError
        With what would move load there.
    """
    if options.rebalance and here is not None and not here.ring.simple:
        text = "--rebalance moves load between neighbours, and nodes of the ring in place have several tokens"
        raise FtplanError(f"{text}: plan it anew without --rebalance")


def _check_kept(options: PeerRingOptions, here: RingInPlace | None, keep: bool) -> None:
    """Refuse another number of copies than those of a ring that stays, since only a failure is asked for.

    Raises
    ------
    FtplanError
        With the number that it keeps.
    """
    kept = None if here is None else here.replication
    if keep and kept is not None and kept != options.replication:
        copies = "1 copy" if kept == 1 else f"{kept:,} copies"
        text = f"the ring in place keeps {copies} of each key group beside its owner, not {options.replication}"
        raise FtplanError(f"{text}: give --replication {kept} for what its failure does")


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
