"""Random instances of benchmarks and tests whose draws are their own: figures in RESULTS.md rest on their bits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.generators.knobs import IntRange
from ftplan.generators.loads import drawn, expected, phases, sizes
from ftplan.generators.options import StatsKnobs
from ftplan.generators.topology import partitioning
from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.topology import Edge, FloatArray, Operator, Substreams, Topology

#: Of :func:`mixture` and :func:`lognormal_tree`: tasks of an operator in twentieths of all.
TWENTIETHS = (2, 1, 2, 4, 2, 2, 2, 3, 1, 1)
#: The operator that each of :func:`lognormal_tree` feeds; the last feeds none.
FEEDS = (1, 2, 3, 4, 5, 7, 5, 8, 9)


def bare_operator(
    number: int, load: FloatArray, fed: bool, join: bool = False, output: bool = False, shared: bool = False
) -> Operator:
    """Return an operator ``oN`` whose tasks take (*fed*) or emit in proportion to their loads, and cost a core each.

    *shared*: a source divides by them too.
    """
    one = np.ones(len(load))
    return Operator(
        f"o{number}", len(load), one, 0 * one, one, inputs="correlated" if join else "independent",
        rate_out=None if fed else load, input_share=load if fed or shared else None, output=output,
    )  # fmt: skip


def in_tree(
    seed: int, operators: int, parallelism: IntRange, skew: float, *, full: bool = False, joins: float = 0.0,
    shuffled: bool = True,
) -> Topology:  # fmt: skip
    """Return a random in-tree to ``o0``; loads fall as k^-skew, and edges are full or what the parallelism allows."""
    random = np.random.default_rng(seed)
    tasks = random.integers(parallelism[0], parallelism[1] + 1, operators).tolist()
    feeds = [0] + [int(random.integers(0, i)) for i in range(1, operators)]
    made, edges = [], []
    for i, count in enumerate(tasks):
        load = np.arange(1, count + 1) ** -skew
        load = random.permutation(load) if shuffled else load
        join = random.random() < joins
        made.append(bare_operator(i, load, i in feeds[1:], join, i == 0, shared=True))
        if i:
            edges.append(Edge(i, feeds[i], partitioning(count, tasks[feeds[i]], full)))
    return Topology(tuple(made), tuple(edges))


def mixture(tasks: int) -> Topology:
    """Return structured and full sub-topologies in a row with one join, about *tasks* tasks in ten operators."""
    n, names = tasks // 20, "abcdefghij"
    made = []
    for id, part in zip(names, TWENTIETHS, strict=True):
        one, fed = np.ones(n * part), id not in "ag"
        load = np.asarray(1.0 / np.arange(1, n * part + 1) ** 0.5, dtype=np.float64)
        made.append(
            Operator(
                id, n * part, one, one, one, inputs="correlated" if id == "f" else "independent",
                rate_out=None if fed else load, input_share=load if fed else None, output=id == "j",
            )
        )  # fmt: skip
    edges = []
    for row in ("ab", "bc", "cd", "de", "ef", "gf", "fh", "hi", "ij"):
        source, target = names.index(row[0]), names.index(row[1])
        kind = partitioning(n * TWENTIETHS[source], n * TWENTIETHS[target], row in ("cd", "fh"))
        edges.append(Edge(source, target, kind))
    return Topology(tuple(made), tuple(edges))


def lognormal_tree(tasks: int, random: np.random.Generator) -> Topology:
    """Return ten operators in an in-tree whose loads are lognormal with sigma 1; one edge is measured."""
    sizes = [max(1, tasks * part // 20) for part in TWENTIETHS]
    made, edges = [], []
    for i, size in enumerate(sizes):
        load = random.lognormal(0.0, 1.0, size).round(4)
        cpu = random.choice([0.1, 0.2, 0.3, 0.5], size)
        fed = i in FEEDS
        made.append(
            Operator(
                f"o{i}",
                size,
                cpu,
                np.zeros(size),
                np.ones(size),
                inputs="correlated" if i == 5 else "independent",
                rate_out=None if fed else load,
                input_share=load if fed else None,
                output=i == len(FEEDS),
            )
        )
        if i == len(FEEDS):
            continue
        there = sizes[FEEDS[i]]
        if i != 4:
            edges.append(Edge(i, FEEDS[i], partitioning(size, there)))
            continue
        pairs = {(k, k * there // size) for k in range(size)} | {(k * size // there, k) for k in range(there)}
        pairs |= set(zip(range(size), random.integers(0, there, size).tolist(), strict=True))
        rates = random.lognormal(0.0, 1.0, len(pairs)).round(4)
        edges.append(Edge(i, FEEDS[i], substreams=_substreams(sorted(pairs), rates)))
    return Topology(tuple(made), tuple(edges))


class LayerSizes(NamedTuple):
    """Layers of *width* operators with *parallelism* tasks, each with *links* to every operator that it feeds."""

    layers: int
    width: int
    parallelism: int
    links: int


def layered(
    sizes: LayerSizes, seed: int, *, cpu: float = 0.25, key_groups: int | None = None, joins_every: int = 0
) -> Topology:
    """Return layers of operators, each feeding all of the next by measured substreams with lognormal rates.

    The tasks that a task sends to are drawn with replacement; every *joins_every*-th layer joins. Ids are ``o0``,
    ``o1``, … where the width is 1, else ``o0-0``, ``o0-1``, ….
    """
    layers, width, parallelism, links = sizes
    random = np.random.default_rng(seed)
    one = np.ones(parallelism)
    ids = [f"o{layer}-{k}" if width > 1 else f"o{layer}" for layer in range(layers) for k in range(width)]
    made = [
        Operator(
            id,
            parallelism,
            cpu * one,
            0 * one,
            one,
            key_groups=key_groups,
            output=k >= (layers - 1) * width,
            inputs="correlated" if joins_every and k // width % joins_every == joins_every - 1 else "independent",
        )
        for k, id in enumerate(ids)
    ]
    edges = []
    for sender in range((layers - 1) * width):
        for k in range(width):
            ends = random.integers(0, parallelism, links * parallelism).tolist()
            pairs = sorted(set(zip(np.repeat(np.arange(parallelism), links).tolist(), ends, strict=True)))
            rates = np.array([round(float(random.lognormal(0.0, 1.0)), 3) for _ in pairs])
            edges.append(Edge(sender, (sender // width + 1) * width + k, substreams=_substreams(pairs, rates)))
    return Topology(tuple(made), tuple(edges))


def _substreams(pairs: list[tuple[int, int]], rates: FloatArray) -> Substreams:
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Substreams(columns[:, 0].copy(), columns[:, 1].copy(), rates)


def popular_queries(queries: int, random: np.random.Generator) -> Topology:
    """Return queries of two to seven tasks, of 5/2 as many, drawn without replacement in proportion to rank^-0.5.

    Costs and priorities are whole numbers from 1 to 10; queries cost as well.
    """
    tasks = 5 * queries // 2
    popular = np.arange(1, tasks + 1) ** -0.5
    popular /= popular.sum()
    needs = [np.sort(random.choice(tasks, random.integers(2, 8), replace=False, p=popular)) for _ in range(queries)]
    sender = np.concatenate(needs).astype(np.int64)
    receiver = np.repeat(np.arange(queries, dtype=np.int64), [len(need) for need in needs])

    def operator(id: str, count: int, output: bool) -> Operator:
        cpu = random.integers(1, 11, count).astype(np.float64)
        priority = random.integers(1, 11, count).astype(np.float64)
        return Operator(id, count, cpu, np.zeros(count), priority, output=output)

    stream = Edge(0, 1, substreams=Substreams(sender, receiver, np.ones(len(sender))))
    return Topology((operator("shared", tasks, False), operator("query", queries, True)), (stream,))


def daily_loads(
    groups: int, windows: int, seed: int | np.random.Generator, records: float = 10.0, day: int = 144
) -> FloatArray:
    """Return Poisson loads of key groups with lognormal sizes that follow the day with random phases.

    Shape (windows, groups); *records* is the median size in a window, and *day* how many windows a day has.
    """
    knobs = StatsKnobs(windows=windows, records=records, window_s=86_400.0 / day)
    random = np.random.default_rng(seed)
    size = records * sizes(knobs, groups, random)
    return drawn(knobs, expected(knobs, size, phases(knobs, groups, 0, random), random), random)


def packed_cluster(
    topology: Topology, nodes: int, zones: int, load: float, max_cpu: float, random: np.random.Generator
) -> Cluster:
    """Return equal nodes of which tasks take a share of what they may take (``max_cpu``), in zones in turn.

    Tasks are taken in a random order; each draws nodes until one has room.
    """
    cpu = np.concatenate([operator.cpu for operator in topology.operators])
    usable = float(cpu.sum()) / load / nodes
    used, home = np.zeros(nodes), np.zeros(len(cpu), dtype=np.int64)
    for task, node in zip(random.permutation(len(cpu)), random.integers(0, nodes, len(cpu)), strict=True):
        while used[node] + cpu[task] > usable:
            node = random.integers(0, nodes)
        used[node] += cpu[task]
        home[task] = node
    ends = np.cumsum([operator.parallelism for operator in topology.operators])
    placed = {
        operator.id: tuple(f"n{n}" for n in part.tolist())
        for operator, part in zip(topology.operators, np.split(home, ends[:-1]), strict=True)
    }
    machines = tuple(Node(f"n{n}", round(usable / max_cpu, 6), zone=f"z{n % zones}") for n in range(nodes))
    return Cluster(machines, placement=Placement(placed))
