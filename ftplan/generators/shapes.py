"""Which operator feeds which: acyclic graphs in which the operators that feed none are as many as asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.knobs import TopologyKnobs


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
