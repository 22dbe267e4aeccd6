"""The topology with the plan on it: a box an operator, a cell a task, or a strip where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ftplan.model.topology import Operator, Topology
from ftplan.reports.drawing import NARROW, WIDE, Drawing, Figure, Line, Point, Rect, Shape, Text, fitted, text_width
from ftplan.reports.layers import Layered, layered
from ftplan.reports.numbers import count, number, size
from ftplan.reports.plan_figures import LIVE, DrawnState, States, counts, key, state_table

CELL, GAP, PAD, HEAD = 17.0, 2.0, 8.0, 38.0
#: Room for the streams between two columns.
LEAST_GAP = 44.0
#: Lines of counts below the strip of a folded operator.
COUNTS = 3
_EDGES = {
    "one-to-one": "edge",
    "split": "edge-split",
    "merge": "edge-merge",
    "full": "edge-full",
    "measured": "edge-measured",
}


@dataclass(frozen=True)
class Box:
    """A box on the sheet."""

    x: float
    y: float
    width: float
    height: float


def topology_figure(topology: Topology, states: States, max_tasks: int) -> Figure:
    """Return the drawing of a topology.

    Parameters
    ----------
    max_tasks
        With more tasks than this in all, each operator is folded: a strip and counts instead of a cell a task.
    """
    fold = topology.task_count > max_tasks
    name = f" of {topology.name}" if topology.name else ""
    operators = count(len(topology.operators), "operator")
    touched = len([k for k in states if k[0] in topology.position])
    said = f"{operators}{name} with {count(topology.task_count, 'task')}, {touched:,} of them touched by the plan."
    if fold:
        said += f" Operators are folded, since there are more than {max_tasks:,} tasks (--max-tasks)."
    weight = [operator.parallelism for operator in topology.operators]
    for operator_id, _ in states:
        if operator_id in topology.position:
            weight[topology.position[operator_id]] += 1000
    layers = layered(topology, weight)
    table = state_table(states, topology)
    if layers is None:
        said += " It has too many layers to be drawn."
        nothing = Drawing(NARROW, 0.0, ())
        return Figure("Topology", said, nothing, nothing, (), table)
    kinds = sorted({kind for _, _, kind in layers.streams})
    lines = tuple((f"line:{_EDGES[kind]}", "", f"{kind} streams") for kind in kinds)
    return Figure(
        "Topology",
        said,
        _across(topology, layers, states, fold),
        _down(topology, layers, states, fold),
        (*key(states, topology), *lines),
        table,
    )


def _across(topology: Topology, layers: Layered, states: States, fold: bool) -> Drawing:
    """Return the layers as columns from left to right."""
    columns = len(layers.layers)
    width = min(max((WIDE - 2 - LEAST_GAP * (columns - 1)) / columns, 116.0), 200.0)
    gap = min(max((WIDE - 2 - width * columns) / max(columns - 1, 1), LEAST_GAP), 110.0)
    heights = [_height(topology, members, states, fold, width) for members in layers.boxes]

    def tall(item: int) -> float:
        return heights[item] if item >= 0 else 4.0

    full = [sum(map(tall, layer)) + 18.0 * (len(layer) - 1) for layer in layers.layers]
    sheet = max(full) + 8.0
    boxes: dict[int, Box] = {}
    passes: dict[tuple[int, int], Point] = {}
    for column, layer in enumerate(layers.layers):
        x, y = 1.0 + column * (width + gap), 4.0 + (sheet - 8.0 - full[column]) / 2
        for item in layer:
            if item >= 0:
                boxes[item] = Box(x, y, width, heights[item])
            else:
                passes[-1 - item, column] = (x + width / 2, y + 2.0)
            y += tall(item) + 18.0
    column_of = {item: column for column, layer in enumerate(layers.layers) for item in layer if item >= 0}
    leaving, arriving = _ports(layers, boxes, "y")
    shapes: list[Shape] = []
    for k, (a, b, kind) in enumerate(layers.streams):
        points = [(boxes[a].x + width, leaving[k])]
        for column in range(column_of[a] + 1, column_of[b]):
            x, y = passes[k, column]
            points += [(x - width / 2, y), (x + width / 2, y)]
        points.append((boxes[b].x - 1.0, arriving[k]))
        shapes.append(Line(tuple(points), _EDGES[kind], "x", _stream(topology, layers, k)))
    for box, members in enumerate(layers.boxes):
        shapes += _drawn(topology, members, boxes[box], states, fold)
    used = columns * width + (columns - 1) * gap + 2.0
    return Drawing(used, sheet, tuple(shapes))


def _down(topology: Topology, layers: Layered, states: States, fold: bool) -> Drawing:
    """Return the layers below each other, two boxes beside each other at most: it fits onto a phone."""
    gap = 14.0
    boxes: dict[int, Box] = {}
    y = 2.0
    for layer in layers.layers:
        items = [item for item in layer if item >= 0]
        beside = min(len(items), 2)
        width = (NARROW - 2.0 - gap * (beside - 1)) / beside
        width = min(width, 220.0)
        for start in range(0, len(items), 2):
            row = items[start : start + 2]
            left = 1.0 + (NARROW - 2.0 - len(row) * width - gap * (len(row) - 1)) / 2
            tallest = 0.0
            for i, item in enumerate(row):
                height = _height(topology, layers.boxes[item], states, fold, width)
                boxes[item] = Box(left + i * (width + gap), y, width, height)
                tallest = max(tallest, height)
            y += tallest + 14.0
        y += 20.0
    leaving, arriving = _ports(layers, boxes, "x")
    shapes: list[Shape] = []
    for k, (a, b, kind) in enumerate(layers.streams):
        points = ((leaving[k], boxes[a].y + boxes[a].height), (arriving[k], boxes[b].y - 1.0))
        shapes.append(Line(points, _EDGES[kind], "y", _stream(topology, layers, k)))
    for box, members in enumerate(layers.boxes):
        shapes += _drawn(topology, members, boxes[box], states, fold)
    return Drawing(NARROW, y - 30.0, tuple(shapes))


def _ports(layers: Layered, boxes: dict[int, Box], along: str) -> tuple[list[float], list[float]]:
    """Return where on their boxes the streams leave and arrive, sorted by where the others lie: fewer cross."""

    def middle(box: int) -> float:
        b = boxes[box]
        return b.y + b.height / 2 if along == "y" else b.x + b.width / 2

    def spread(ends: Sequence[tuple[int, int]]) -> list[float]:
        places = [0.0] * len(ends)
        for box in boxes:
            mine = [k for k, (own, _) in enumerate(ends) if own == box]
            mine.sort(key=lambda k: (middle(ends[k][1]), k))
            b = boxes[box]
            begin, length = (b.y, b.height) if along == "y" else (b.x, b.width)
            for i, k in enumerate(mine):
                places[k] = begin + length * (i + 1) / (len(mine) + 1)
        return places

    return spread([(a, b) for a, b, _ in layers.streams]), spread([(b, a) for a, b, _ in layers.streams])


def _stream(topology: Topology, layers: Layered, k: int) -> str:
    a, b, kind = layers.streams[k]
    ends = [layers.boxes[box] for box in (a, b)]
    names = [topology.operators[m[0]].id if len(m) == 1 else count(len(m), "operator") for m in ends]
    return f"{names[0]} to {names[1]}: {kind}"


def _height(topology: Topology, members: Sequence[int], states: States, fold: bool, width: float) -> float:
    if len(members) > 1:
        return HEAD + 8.0
    operator = topology.operators[members[0]]
    if fold:
        listed = [item for item in counts(states, operator.id, operator.parallelism) if item[0] != LIVE]
        return HEAD + 18.0 + 14.0 * min(len(listed), COUNTS) + (6.0 if listed else 2.0)
    across = _cells_across(operator, width)
    return HEAD + (CELL + GAP) * -(-operator.parallelism // across) + PAD - 2.0


def _cells_across(operator: Operator, width: float) -> int:
    """Return how many cells stand beside each other: rows are about equally long."""
    fit = max(int((width - 2 * PAD + GAP) // (CELL + GAP)), 1)
    return -(-operator.parallelism // -(-operator.parallelism // fit))


def _drawn(topology: Topology, members: Sequence[int], box: Box, states: States, fold: bool) -> list[Shape]:
    """Return a box with its operator, or with the sum of several."""
    inner = box.width - 2 * PAD
    if len(members) > 1:
        tasks = sum(topology.operators[i].parallelism for i in members)
        title = ", ".join(topology.operators[i].id for i in members[:30])
        return [
            Rect(box.x, box.y, box.width, box.height, "box", title, 5.0),
            Text(box.x + PAD, box.y + 18, fitted(f"{len(members):,} more operators", inner, "strong"), "strong"),
            Text(box.x + PAD, box.y + 33, count(tasks, "task"), "small"),
        ]
    operator = topology.operators[members[0]]
    said = count(operator.parallelism, "task") + (", output" if operator.output else "")
    if operator.inputs == "correlated":
        said += ", join"
    shapes: list[Shape] = [
        Rect(box.x, box.y, box.width, box.height, "box", _details(operator), 5.0),
        Text(box.x + PAD, box.y + 18, fitted(operator.id, inner, "strong"), "strong"),
        Text(box.x + PAD, box.y + 32, fitted(said, inner, "small"), "small"),
    ]
    if fold:
        return shapes + _strip(operator, box, states)
    across = _cells_across(operator, box.width)
    for i in range(operator.parallelism):
        state = states.get((operator.id, i), LIVE)
        x, y = box.x + PAD + (CELL + GAP) * (i % across), box.y + HEAD + (CELL + GAP) * (i // across)
        shapes.append(Rect(x, y, CELL, CELL, state.style, f"{operator.id}/{i}: {state.text}", 2.5))
        if state.mark:
            shapes.append(Text(x + CELL / 2, y + 12.5, state.mark, _lettering(state), "middle"))
    return shapes


def _strip(operator: Operator, box: Box, states: States) -> list[Shape]:
    """Return a strip of the operator's tasks by state, and how many they are."""
    listed = counts(states, operator.id, operator.parallelism)
    shapes: list[Shape] = []
    x, inner = box.x + PAD, box.width - 2 * PAD
    for state, tasks in listed:
        wide = inner * tasks / operator.parallelism
        shapes.append(Rect(x, box.y + HEAD, wide, 13.0, state.style, f"{tasks:,}: {state.text}"))
        if state.mark and wide >= text_width(state.mark, "mark") + 3.0:
            shapes.append(Text(x + wide / 2, box.y + HEAD + 10.5, state.mark, _lettering(state), "middle"))
        x += wide
    named = [(state, tasks) for state, tasks in listed if state != LIVE]
    for i, (state, tasks) in enumerate(named[:COUNTS]):
        rest = sum(n for _, n in named[COUNTS - 1 :]) if i == COUNTS - 1 and len(named) > COUNTS else None
        text = f"{tasks:,} {state.short or state.text}" if rest is None else f"{rest:,} in other ways"
        shapes.append(Text(box.x + PAD, box.y + HEAD + 27 + 14 * i, fitted(text, inner, "small"), "small"))
    return shapes


def _lettering(state: DrawnState) -> str:
    return "down-mark" if state.style == "down-hatched" else "mark"


def _details(operator: Operator) -> str:
    """Return what a pointer over an operator shows."""
    parts = [operator.id if operator.name is None else f"{operator.id} ({operator.name})"]
    parts.append(f"{count(operator.parallelism, 'task')} of {number(float(operator.cpu.mean()))} cores")
    state = float(operator.state_bytes.sum())
    parts += [f"{size(state)} of state"] if state else []
    parts += [f"{operator.key_groups:,} key groups"] if operator.key_groups else []
    return ", ".join(parts)
