"""Random topologies, and their shapes: which operator feeds which.

A shape is an acyclic graph in which the operators that feed none are as many as asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.queries import priorities_of, queries_topology, shared_topology
from ftplan.model import ranges
from ftplan.model.topology import Edge, FloatArray, Operator, Partitioning, Topology

#: Significant digits of drawn costs and states.
DIGITS = 4


class Shape(NamedTuple):
    """The edges (from, to) between operators by number, and for each operator one that stands before it, or -1.

    What stands before it is the neighbour whose parallelism an operator may share.
    """

    edges: tuple[tuple[int, int], ...]
    before: tuple[int, ...]


def shape_of(knobs: TopologyKnobs, operators: int, random: np.random.Generator) -> Shape:
    """Return the graph of *operators* operators.

    Raises
    ------
    FtplanError
        If so many operators or outputs do not make the shape.
    """
    _check(knobs, operators)
    if knobs.shape == "tree":
        return _tree(knobs.outputs, operators, random)
    if knobs.shape == "chain":
        return _ordered([(i - 1, i) for i in range(1, operators)], operators)
    if knobs.shape == "diamond":
        arms = range(1, operators - 1)
        return _ordered([*((0, i) for i in arms), *((i, operators - 1) for i in arms)], operators)
    return _layers(knobs, operators, random)


def _check(knobs: TopologyKnobs, operators: int) -> None:
    least = {"chain": 1, "diamond": 3}.get(knobs.shape, knobs.outputs)
    if operators < least:
        of = f" with {knobs.outputs} outputs" if least == knobs.outputs > 1 else ""
        raise FtplanError(f"--operators {operators}: a {knobs.shape}{of} needs at least {least}")
    if knobs.shape in ("chain", "diamond") and knobs.outputs > 1:
        raise FtplanError(f"--outputs {knobs.outputs}: a {knobs.shape} has one; use --shape tree, layers or dag")


def _tree(outputs: int, operators: int, random: np.random.Generator) -> Shape:
    """Return in-trees, one to each output: operator 0 and the next few; each other one feeds an earlier one."""
    feeds = [-1] * outputs + [int(random.integers(0, i)) for i in range(outputs, operators)]
    return Shape(tuple((i, feeds[i]) for i in range(outputs, operators)), tuple(feeds))


def _layers(knobs: TopologyKnobs, operators: int, random: np.random.Generator) -> Shape:
    """Return layers of ``width`` operators that read from the layer before, or (dag) from any operators before.

    The last ``outputs`` operators are the outputs. Each operator beyond the first layer reads from as many as
    ``fan_in`` says; one that nobody reads from feeds another operator of the next layer, or any later one.
    """
    inner, in_layers = operators - knobs.outputs, knobs.shape == "layers"
    step = knobs.width if in_layers else 1
    layers = [range(first, min(first + step, inner)) for first in range(0, inner, step)]
    layers += [range(inner, operators)]
    edges: dict[tuple[int, int], None] = {}
    for number, layer in enumerate(layers):
        senders = (layers[number - 1] if in_layers else range(layer.start)) if number else range(0)
        for receiver in layer if senders else ():
            wanted = min(int(random.integers(knobs.fan_in[0], knobs.fan_in[1] + 1)), len(senders))
            for sender in random.choice(len(senders), wanted, replace=False).tolist():
                edges[senders[sender], receiver] = None
    read = {sender for sender, _ in edges}
    for number, layer in enumerate(layers[:-1]):
        later = layers[number + 1] if in_layers else range(layer.stop, operators)
        for sender in layer:
            if sender not in read:
                edges[sender, int(later[random.integers(len(later))])] = None
    return _ordered(sorted(edges, key=lambda edge: edge[::-1]), operators)


def _ordered(edges: Iterable[tuple[int, int]], operators: int) -> Shape:
    listed = tuple(edges)
    first: dict[int, int] = {}
    for sender, receiver in listed:
        first.setdefault(receiver, sender)
    return Shape(listed, tuple(first.get(i, -1) for i in range(operators)))


def topology(knobs: TopologyKnobs) -> Topology:
    """Return a random topology, by default as the random topologies of [SuZhou2016], section VI-C and figure 14.

    Operators ``o0``, ``o1``, … of a shape; the loads of an operator's tasks fall as k^-zipf, shuffled: a source emits
    in proportion to them, any other operator's input is divided so. The paper gives no ranges of parallelism and no
    shape; these are assumptions. An edge is one-to-one, split or merge as the parallelism allows, or full. The
    records that an operator emits are divided by the number of edges that leave it, each of which carries all that a
    task emits: no shape multiplies records. Shapes ``queries`` and ``shared-tasks`` are those of
    :mod:`ftplan.generators.queries`. Cost O(tasks + edges).

    Raises
    ------
    FtplanError
        If the knobs contradict each other, or make more tasks than ``max_tasks``.
    """
    made = {"queries": queries_topology, "shared-tasks": shared_topology}.get(knobs.shape, _operators)(knobs)
    return replace(made, name=f"{knobs.shape}-{knobs.seed}")


def _operators(knobs: TopologyKnobs) -> Topology:
    random = np.random.default_rng(knobs.seed)
    low, high = (len(knobs.tasks),) * 2 if knobs.tasks else knobs.operators
    count = int(random.integers(low, high + 1))
    if count > knobs.max_tasks:
        raise FtplanError(f"--operators {count:,}: more than --max-tasks {knobs.max_tasks:,}")
    shape = shape_of(knobs, count, random)
    tasks = _parallelism(knobs, shape, random)
    if sum(tasks) > knobs.max_tasks:
        raise FtplanError(f"{sum(tasks):,} tasks are more than --max-tasks {knobs.max_tasks:,}")
    joins = random.random(count) < knobs.joins
    loads = [random.permutation(1.0 / np.arange(1, n + 1) ** knobs.zipf) for n in tasks]
    fed = {target for _, target in shape.edges}
    leaving = np.bincount([source for source, _ in shape.edges], minlength=count)
    more = np.random.default_rng([knobs.seed, 1])
    outputs = _outputs(knobs, count)
    operators = [
        _operator(knobs, i, loads[i], _Place(i in fed, bool(joins[i]), i in outputs, int(leaving[i])), more)
        for i in range(count)
    ]
    return Topology(tuple(operators), tuple(_edges(knobs, shape, tasks)))


def _parallelism(knobs: TopologyKnobs, shape: Shape, random: np.random.Generator) -> list[int]:
    """Return the tasks of each operator; a share of them has as many as the operator that stands before it."""
    low, high = knobs.parallelism
    tasks: list[int] = []
    for before in shape.before:
        own, same = int(random.integers(low, high + 1)), random.random() < knobs.same_parallelism
        tasks.append(tasks[before] if before >= 0 and same else own)
    return list(knobs.tasks) or tasks


def _outputs(knobs: TopologyKnobs, count: int) -> range:
    return range(knobs.outputs) if knobs.shape == "tree" else range(count - knobs.outputs, count)


def _edges(knobs: TopologyKnobs, shape: Shape, tasks: list[int]) -> list[Edge]:
    full = np.random.default_rng([knobs.seed, 2]).random(len(shape.edges)) < knobs.full
    return [
        Edge(source, target, partitioning(tasks[source], tasks[target], bool(whole)))
        for (source, target), whole in zip(shape.edges, full.tolist(), strict=True)
    ]


def partitioning(senders: int, receivers: int, full: bool = False) -> Partitioning:
    """Return how two operators are joined: full, or what their parallelism allows."""
    if full:
        return "full"
    return "one-to-one" if senders == receivers else "split" if senders < receivers else "merge"


class _Place(NamedTuple):
    """What the shape says of an operator: whether others feed it, it joins and is an output; edges that leave it."""

    fed: bool
    join: bool
    output: bool
    leaving: int


def _operator(
    knobs: TopologyKnobs, number: int, load: FloatArray, place: _Place, random: np.random.Generator
) -> Operator:
    """Return an operator: its place and loads are given, what it costs and holds is drawn."""
    one, (fed, join, output, leaving) = np.ones(len(load)), place
    stateful = random.random() < knobs.stateful
    cpu = _spread(float(random.uniform(*knobs.cpu)), knobs, load, random)
    low, high = knobs.state_bytes  # drawn by its logarithm, from a byte up
    drawn = float(np.exp(random.uniform(*np.log(np.maximum((low, high), min(1.0, high))))) if high > 0.0 else 0.0)
    state = _spread(drawn, knobs, load, random) * stateful
    selectivity = digits(float(random.uniform(*knobs.selectivity))) / max(1, leaving)
    priority = priorities_of(knobs.priority, knobs.priorities, load, random) if output else one
    keyed = fed and stateful and knobs.key_groups > 0
    return Operator(
        f"o{number}",
        len(load),
        _within(cpu, ranges.CORES),
        _within(state, ranges.BYTES),
        priority,
        inputs="correlated" if join else "independent",
        key_groups=max(knobs.key_groups, len(load)) if keyed else None,
        selectivity=max(selectivity, ranges.SELECTIVITY.low) if selectivity > 0.0 else 0.0,
        rate_out=None if fed else _within(load * knobs.rate / max(1, leaving), ranges.RATE),
        input_share=load if fed else None,
        output=output,
    )


def _spread(mean: float, knobs: TopologyKnobs, load: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return a mean for every task, by its load where ``costs`` says so, lognormal around it with ``cpu_sigma``."""
    values = np.full(len(load), mean)
    if knobs.costs == "load":
        values *= load / load.mean()
    if knobs.cpu_sigma > 0.0:
        values *= random.lognormal(0.0, knobs.cpu_sigma, len(load))
    return np.array([digits(value) for value in values.tolist()])


def digits(value: float) -> float:
    """Return a number as people write it."""
    return float(f"{value:.{DIGITS}g}")


def _within(values: FloatArray, allowed: ranges.Range) -> FloatArray:
    """Return values that files may hold: those beyond the range move to its end, 0 stays."""
    return np.where(values > 0.0, np.clip(values, allowed.low, allowed.high), 0.0)
