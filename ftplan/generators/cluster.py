"""Random clusters: machines in zones, and what of a topology lies on them."""

from __future__ import annotations

import math

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.knobs import FloatRange
from ftplan.generators.options import ClusterKnobs
from ftplan.generators.topology import DIGITS, digits
from ftplan.model.cluster import Cluster, Network, Node, Placement, Zone
from ftplan.model.cluster import spread as round_robin
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray, Topology

#: Without a topology.
NODES = 10
#: Cores of a node where neither these nor the number of nodes are given.
CORES = 4.0
#: Share of all cores that a topology takes where nothing else is said.
UTILISATION = 0.6
#: Cores of other work that are worth a word.
LEAST_CORES = 1e-6
#: Nodes that are made without being asked for.
MOST_NODES = 100_000


def cluster(knobs: ClusterKnobs, topology: Topology | None = None) -> Cluster:
    """Return nodes ``n1``, ``n2``, … dealt to zones ``z1``, ``z2``, … in turn, with a topology on them if there is one.

    Sizes of nodes double from the least of ``cores`` to the most. ``utilisation`` is the share of all cores in use:
    with a topology and without ``cores``, nodes get the size that makes its tasks take this share; otherwise other
    work (``used_cpu``, even over the nodes) takes what the tasks leave of it. Primaries lie round robin, by zone (the
    tasks of an operator in zone after zone, each on the node with most room there), or at random where there is room.
    Checkpoint copies and replicas lie at random, each in a zone of its own where there are enough.

    Raises
    ------
    FtplanError
        If the topology takes more than the cores that are given, or copies find no nodes of their own.
    """
    random = np.random.default_rng(knobs.seed)
    need = np.concatenate([o.cpu for o in topology.operators]) if topology is not None else np.zeros(0)
    sizes, used = _sizes(knobs, float(need.sum()), topology is not None, random)
    zone = np.arange(len(sizes)) % min(knobs.zones, len(sizes)) if knobs.zones else None
    chance = np.random.default_rng([knobs.seed, 1])
    probability = [_probability(knobs.node_failure, chance) for _ in sizes]
    nodes = tuple(
        Node(
            f"n{k + 1}",
            float(size),
            memory_mb=None if knobs.memory_per_core is None else digits(knobs.memory_per_core * float(size)),
            zone=None if zone is None else f"z{zone[k] + 1}",
            used_cpu=float(used[k]),
            failure_probability=probability[k],
        )
        for k, size in enumerate(sizes)
    )
    count = 0 if zone is None else int(zone.max()) + 1
    zones = tuple(Zone(f"z{z + 1}", _probability(knobs.zone_failure, chance)) for z in range(count))
    network = Network(knobs.bandwidth, knobs.delay_s)
    placement = None
    if topology is not None and knobs.placement != "none":
        room = sizes - used
        own = np.arange(len(sizes)) if zone is None else zone
        placement = _placement(knobs, topology, Cluster(nodes, file_order=tuple(range(len(nodes)))), room, own, random)
    return Cluster(nodes, zones, network, placement, tuple(range(len(nodes))))


def _sizes(
    knobs: ClusterKnobs, need: float, loaded: bool, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return cores of each node, and those that other work uses."""
    share = knobs.utilisation
    if share is None:
        share = UTILISATION if loaded else 0.0
    if loaded and share <= 0.0 < need:
        raise FtplanError("--utilisation 0: the topology takes some; give a share above 0")
    low, high = knobs.cores or (CORES, CORES)
    steps = math.floor(math.log2(high / low) + 1e-9)
    kinds = [low * 2.0**step for step in range(steps + 1)]
    count, wanted = knobs.nodes, 0.0
    if count is None:
        count, wanted = (max(knobs.zones, 2), need / share * (1.0 - ROUNDING)) if loaded else (NODES, 0.0)
        if wanted > MOST_NODES * low:
            most = f"more than {MOST_NODES:,} nodes have: give --cores, or --nodes"
            raise FtplanError(f"{need:,.0f} cores in use need {wanted:,.0f} in all, {most}")
    drawn: list[float] = []
    total = 0.0
    while len(drawn) < count or total < wanted:
        drawn.append(kinds[int(random.integers(len(kinds)))])
        total += drawn[-1]
    sizes, count = np.array(drawn), len(drawn)
    if loaded and need > 0.0 and knobs.cores is None:
        return np.full(count, _up(need / share / count)), np.zeros(count)
    given = knobs.utilisation is not None
    if need > sizes.sum() * (share if given else 1.0) * (1 + 1e-9):
        raise FtplanError(
            f"the topology takes {need:g} cores, more than {f'--utilisation {share:g} of ' if given else ''}the "
            f"{sizes.sum():g} that the nodes have: give more --nodes or --cores, or leave one of them out"
        )
    other = max(0.0, share - need / sizes.sum()) if given else 0.0
    used = [min(digits(other * size), size) if other * size > LEAST_CORES else 0.0 for size in sizes.tolist()]
    return sizes, np.array(used)


def _up(value: float) -> float:
    """Round up as people write numbers, so that what fits still does."""
    near = digits(value)
    return near if near >= value else digits(value * (1.0 + 10.0 ** (1 - DIGITS)))


def _probability(between: FloatRange | None, random: np.random.Generator) -> float | None:
    return None if between is None else digits(float(random.uniform(*between)))


def _placement(
    knobs: ClusterKnobs, topology: Topology, machines: Cluster, room: FloatArray, zone: IntArray,
    random: np.random.Generator,
) -> Placement:  # fmt: skip
    """Return where everything lies; nodes are numbered as in *room*, and *zone* numbers theirs."""
    names = np.array([node.id for node in machines.nodes], dtype=object)
    if knobs.placement == "round-robin":
        tasks = {id: list(hosts) for id, hosts in round_robin(topology, machines).tasks.items()}
    else:
        place = _by_zone if knobs.placement == "zones" else _at_random
        home = place(topology, room.copy(), zone, random)
        tasks = {id: names[hosts].tolist() for id, hosts in home.items()}
    number = {name: k for k, name in enumerate(names.tolist())}
    at = {id: np.array([number[name] for name in hosts], dtype=np.int64) for id, hosts in tasks.items()}
    copies: dict[str, tuple[tuple[str, ...], ...]] = {}
    more = np.random.default_rng([knobs.seed, 2])
    if knobs.copies:
        for operator in topology.keyed_operators:
            primary = at[operator.id][operator.task_of_key_groups()]
            hosts = _elsewhere(primary, knobs.copies, zone, more)
            copies[operator.id] = tuple(tuple(names[row].tolist()) for row in hosts)
    replicas: dict[str, tuple[str | None, ...]] = {}
    if knobs.replicas > 0.0:
        for operator in topology.operators:
            chosen = more.random(operator.parallelism) < knobs.replicas
            hosts = _elsewhere(at[operator.id], 1, zone, more)[:, 0]
            replicas[operator.id] = tuple(
                str(names[h]) if yes else None for h, yes in zip(hosts.tolist(), chosen.tolist(), strict=True)
            )
    return Placement({id: tuple(hosts) for id, hosts in tasks.items()}, checkpoints=copies, replicas=replicas)


def _by_zone(topology: Topology, room: FloatArray, zone: IntArray, random: np.random.Generator) -> dict[str, IntArray]:
    """Deal the tasks of each operator to the zones in turn, in each to the node with most room."""
    members = [np.flatnonzero(zone == z) for z in range(int(zone.max()) + 1)]
    turn, home = 0, {}
    for operator in topology.operators:
        hosts = np.empty(operator.parallelism, dtype=np.int64)
        for k in range(operator.parallelism):
            here = members[turn % len(members)]
            hosts[k] = here[int(np.argmax(room[here]))]
            room[hosts[k]] -= operator.cpu[k]
            turn += 1
        home[operator.id] = hosts
    return home


def _at_random(
    topology: Topology, room: FloatArray, zone: IntArray, random: np.random.Generator
) -> dict[str, IntArray]:
    """Place the largest tasks first, each at random where there is room."""
    cpu = np.concatenate([operator.cpu for operator in topology.operators])
    host = by_room(cpu, np.lexsort((random.random(len(cpu)), -cpu)), room, random)
    ends = np.cumsum([operator.parallelism for operator in topology.operators])
    return dict(zip((o.id for o in topology.operators), np.split(host, ends[:-1]), strict=True))


def by_room(cpu: FloatArray, order: IntArray, room: FloatArray, random: np.random.Generator) -> IntArray:
    """Return a random node with room for each task, taken in an *order*; the one with most room where there is none.

    Shapes: cpu, order, answer (tasks,); room (nodes,).
    """
    host, used = np.empty(len(cpu), dtype=np.int64), np.zeros(len(room))
    for task in order.tolist():
        able = np.flatnonzero(used + cpu[task] <= room + ROUNDING)
        host[task] = int(random.choice(able)) if len(able) else int((used - room).argmin())
        used[host[task]] += cpu[task]
    return host


def _elsewhere(primary: IntArray, copies: int, zone: IntArray, random: np.random.Generator) -> IntArray:
    """Return nodes for copies of what lies on *primary*, shape (things, copies): no two on one node.

    They lie in zones of their own and outside of the primary's, where there are so many; otherwise anywhere.

    Raises
    ------
    FtplanError
        If there are too few nodes.
    """
    nodes, zones = len(zone), int(zone.max()) + 1
    if copies >= nodes:
        raise FtplanError(f"--copies {copies}: beside the primary {nodes} nodes hold {nodes - 1} at most")
    members = [np.flatnonzero(zone == z) for z in range(zones)]
    hosts = np.empty((len(primary), copies), dtype=np.int64)
    for k, home in enumerate(primary.tolist()):
        if zones > copies:
            others = random.choice(zones - 1, copies, replace=False)
            chosen = [members[z + (z >= zone[home])] for z in others.tolist()]
            hosts[k] = [here[random.integers(len(here))] for here in chosen]
        else:
            others = random.choice(nodes - 1, copies, replace=False)
            hosts[k] = others + (others >= home)
    return hosts
