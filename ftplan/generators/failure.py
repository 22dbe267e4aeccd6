"""Random failures: what fails at once or in a row, what arrives in its place, and alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.options import FailureKnobs
from ftplan.generators.topology import digits
from ftplan.model.cluster import Cluster, Node
from ftplan.model.failure import Arrival, Fail, Failure, Scenario
from ftplan.model.names import Selector, natural_key
from ftplan.model.topology import Topology

#: Seconds between two draws of an arrival's time are rounded to these.
SECOND = 3


def failure(knobs: FailureKnobs, cluster: Cluster, topology: Topology | None = None) -> Failure:
    """Return what fails in a cluster.

    ``count`` nodes, zones, operators or tasks at random, or as many bursts: a burst begins on a random node and has a
    geometric number of nodes with mean ``burst``, or just this; each further one lies in a zone that is hit already,
    unless it spills over to any other. Failures in a row are ``spacing_s`` apart. Replacements are as large as the
    nodes that are lost, and in their zones; they can host tasks from a time uniform in ``arrival_time_s``: 2 to 6
    minutes, as 180 launches took in [SuZhouTR], section 7.1 and figure 7. ``uncertain`` leaves the range to the plan.

    Scenarios: each node or zone alone, by its ``failure_probability`` or ``probability``; or bursts, which share the
    latter.

    Raises
    ------
    FtplanError
        If more shall fail than there is, or tasks without a topology.
    """
    random = np.random.default_rng(knobs.seed)
    events = _events(knobs, cluster, topology, random)
    fail = tuple(
        Fail(select, digits(k * knobs.spacing_s)) for k, selectors in enumerate(events) for select in selectors
    )
    lost = _lost(cluster, [item.select for item in fail], topology)
    arrivals = _arrivals(knobs, lost, cluster, np.random.default_rng([knobs.seed, 1]))
    return Failure(fail, arrivals, _scenarios(knobs, cluster, np.random.default_rng([knobs.seed, 2])))


def _events(
    knobs: FailureKnobs, cluster: Cluster, topology: Topology | None, random: np.random.Generator
) -> list[list[Selector]]:
    """Return what fails together, one list an event."""
    if knobs.fail == "nothing":
        return []
    if knobs.fail == "everything":
        return [[Selector("zone", name) for name in _zones(cluster)]]
    if knobs.fail == "burst":
        bursts, left = [], set(range(len(cluster.nodes)))
        for _ in range(knobs.count):
            if left:
                bursts.append(burst(knobs, cluster, sorted(left), random))
                left -= set(bursts[-1])
        return [_nodes(cluster, members) for members in bursts]
    parts = _parts(knobs, cluster, topology)
    if knobs.count > len(parts):
        raise FtplanError(f"--count {knobs.count}: there are {len(parts)} {knobs.fail}")
    chosen = random.choice(len(parts), knobs.count, replace=False).tolist()
    return [[parts[k]] for k in (chosen if knobs.spacing_s else sorted(chosen))]


def _parts(knobs: FailureKnobs, cluster: Cluster, topology: Topology | None) -> Sequence[Selector]:
    """Return everything of the kind that fails."""
    if knobs.fail == "nodes":
        return _nodes(cluster, range(len(cluster.nodes)))
    if knobs.fail == "zones":
        return [Selector("zone", name) for name in _zones(cluster)]
    if topology is None:
        raise FtplanError(f"--fail {knobs.fail}: needs a topology; give -t FILE")
    if knobs.fail == "operators":
        return [Selector("operator", operator.id) for operator in topology.operators]
    return [Selector("task", o.id, k) for o in topology.operators for k in range(o.parallelism)]


def _zones(cluster: Cluster) -> list[str]:
    return sorted({node.zone_id for node in cluster.nodes}, key=natural_key)


def _nodes(cluster: Cluster, members: Iterable[int]) -> list[Selector]:
    return [Selector("node", cluster.nodes[k].id) for k in members]


def burst(knobs: FailureKnobs, cluster: Cluster, left: Sequence[int], random: np.random.Generator) -> list[int]:
    """Return the nodes of one burst, in ascending order, among those that are *left*."""
    size = round(knobs.burst) if knobs.burst_sizes == "fixed" else int(random.geometric(1.0 / knobs.burst))
    size = min(size, len(left))
    zone, free = cluster.zone_index, np.array(left)
    hit = [int(random.choice(free))]
    while len(hit) < size:
        free = free[free != hit[-1]]
        near = free[np.isin(zone[free], zone[hit])]
        spills = random.random() < knobs.spill or not len(near)
        hit.append(int(random.choice(free if spills else near)))
    return sorted(hit)


def _lost(cluster: Cluster, selectors: Iterable[Selector], topology: Topology | None) -> list[Node]:
    """Return the nodes that fail."""
    named = [selector for selector in selectors if selector.kind in ("node", "zone")]
    return [node for node in cluster.nodes if any(map(node.named_by, named))]


def _arrivals(
    knobs: FailureKnobs, lost: Sequence[Node], cluster: Cluster, random: np.random.Generator
) -> tuple[Arrival, ...]:
    """Return as many replacements as were asked for, else as were lost, by time."""
    like, (low, high) = lost or cluster.nodes, knobs.arrival_time_s
    taken = {node.id for node in cluster.nodes}
    names = (name for k in range(1, len(taken) + 10**9) if (name := f"r{k}") not in taken)
    count = len(lost) if knobs.arrivals is None else knobs.arrivals
    if knobs.uncertain:
        times = [(float(low), float(high))] * count
    else:
        times = [(t, t) for t in np.sort(random.uniform(low, high, count)).round(SECOND).tolist()]
    made = []
    for k, at_s in enumerate(times):
        node = like[k % len(like)]
        made.append(Arrival(at_s, Node(next(names), node.cpu, node.memory_mb, node.zone, accepts=node.accepts)))
    return tuple(made)


def _scenarios(knobs: FailureKnobs, cluster: Cluster, random: np.random.Generator) -> tuple[Scenario, ...]:
    """Return the alternatives."""
    made: list[Scenario] = []
    if knobs.scenarios in ("nodes", "both"):
        for node in cluster.nodes:
            chance = knobs.probability if node.failure_probability is None else node.failure_probability
            made.append(Scenario(f"node-{node.id}", chance, (Fail(Selector("node", node.id)),)))
    if knobs.scenarios in ("zones", "both"):
        known = {zone.id: zone.failure_probability for zone in cluster.zones}
        for name in _zones(cluster):
            given = known.get(name)
            chance = knobs.probability if given is None else given
            made.append(Scenario(f"zone-{name}", chance, (Fail(Selector("zone", name)),)))
    if knobs.scenarios == "bursts":
        every = range(len(cluster.nodes))
        for k in range(knobs.bursts):
            hit = _nodes(cluster, burst(knobs, cluster, every, random))
            chance = digits(knobs.probability / knobs.bursts)
            made.append(Scenario(f"burst-{k + 1}", chance, tuple(map(Fail, hit))))
    return tuple(made)
