"""Operators in layers, ordered so that few streams cross."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology

#: Boxes of a layer; the operators beyond share one.
BOXES = 14
#: Layers that are drawn at all, and rounds in which their order is improved.
MOST_LAYERS, SWEEPS = 40, 8


@dataclass(frozen=True)
class Layered:
    """Boxes of operators by layer, and streams between boxes.

    Attributes
    ----------
    boxes
        Positions of the operators of each box; most hold one.
    layers
        Numbers of boxes, and ``-1 - k`` where stream *k* passes a layer, in order.
    streams
        (box, box, style) of each stream, without those within a box.
    """

    boxes: tuple[tuple[int, ...], ...]
    layers: tuple[tuple[int, ...], ...]
    streams: tuple[tuple[int, int, str], ...]


def layered(topology: Topology, weight: Sequence[int]) -> Layered | None:
    """Return the layers of a topology by the longest way from a source, None where there are too many to draw.

    Their order follows the barycentres of their neighbours, forth and back ([Sugiyama1981]).

    Parameters
    ----------
    weight
        How much each operator matters: of a crowded layer those that matter least share a box.
    """
    depth = TaskGraph(topology).depth
    if max(depth, default=0) >= MOST_LAYERS:
        return None
    by_layer: dict[int, list[int]] = defaultdict(list)
    for i in range(len(topology.operators)):
        by_layer[depth[i]].append(i)
    boxes: list[tuple[int, ...]] = []
    layers: list[list[int]] = []
    for layer in range(len(by_layer)):
        members = sorted(by_layer[layer], key=lambda i: -weight[i])
        kept = members if len(members) <= BOXES else members[: BOXES - 1]
        groups = [(i,) for i in sorted(kept)] + ([tuple(members[len(kept) :])] if len(kept) < len(members) else [])
        layers.append(list(range(len(boxes), len(boxes) + len(groups))))
        boxes += groups
    box_of = {i: box for box, members in enumerate(boxes) for i in members}
    kinds: dict[tuple[int, int], str] = {}
    for edge in topology.edges:
        kinds.setdefault((box_of[edge.source], box_of[edge.target]), edge.partitioning or "measured")
    streams = tuple((a, b, kind) for (a, b), kind in sorted(kinds.items()) if a != b)
    layer_of = {box: k for k, layer in enumerate(layers) for box in layer}
    links: list[tuple[int, int]] = []
    for k, (a, b, _) in enumerate(streams):
        before = a
        for layer in range(layer_of[a] + 1, layer_of[b]):
            if before != -1 - k:
                links.append((before, -1 - k))
            layers[layer].append(-1 - k)
            before = -1 - k
        links.append((before, b))
    _improve(layers, links)
    return Layered(tuple(boxes), tuple(map(tuple, layers)), streams)


def _improve(layers: list[list[int]], links: Sequence[tuple[int, int]]) -> None:
    """Sort each layer by the mean place of its neighbours before, then after, some times; ties keep their order."""
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for a, b in links:
        after[a].append(b)
        before[b].append(a)
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        near = before if forth else after
        order = range(1, len(layers)) if forth else range(len(layers) - 2, -1, -1)
        for k in order:
            beside = layers[k - 1] if forth else layers[k + 1]
            place = {item: (i + 0.5) / len(beside) for i, item in enumerate(beside)}
            own = {item: (i + 0.5) / len(layers[k]) for i, item in enumerate(layers[k])}

            def mean(
                item: int,
                k: int = k,
                place: dict[int, float] = place,
                own: dict[int, float] = own,
                near: dict[int, list[int]] = near,
            ) -> float:
                known = [place[other] for other in near[item] if other in place]
                if item < 0 and item in place:  # a stream that passes several layers goes straight
                    known.append(place[item])
                return sum(known) / len(known) if known else own[item]

            layers[k].sort(key=mean)
