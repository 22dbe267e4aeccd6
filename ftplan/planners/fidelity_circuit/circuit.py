"""Output fidelity as a small circuit: operators whose tasks are all fed alike become one node, others a node a task.

A node keeps the product of its slots times what its own tasks keep; a slot is a weighted sum of nodes. Between full
edges only the weighted mean of an operator counts, so that the choice there is how many of its heaviest tasks. A task
that has several rows in the model is one node, which fills a slot of the node of each row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel, Level
from ftplan.model.measures.fidelity_gains import useful_rows
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.tables import Block

#: Weights that differ by less than this share are the same: they come from the same rates by different sums.
EQUAL = 1e-11


@dataclass(slots=True, eq=False)
class CircuitNode:
    """One operator, task, gathering of a full edge, or (the last) the output: base plus blocks, times the slots."""

    base: float
    blocks: list[Block]
    slots: list[dict[int, float]] = field(default_factory=list)  # weight of each node


@dataclass(slots=True, eq=False)
class Circuit:
    """Nodes in topological order; the last is the output."""

    nodes: list[CircuitNode]
    blocks: list[Block]


def circuit(
    graph: TaskGraph, model: FidelityModel, free: BoolArray, units: IntArray, budget: Budget | None = None
) -> Circuit:
    """Return the circuit of a topology where some tasks are live for free and the others cost *units*, below 0: never.

    Cost O(tasks + substreams); full edges count their tasks only. Raises :class:`OutOfTime`.
    """
    return _CircuitBuilder(graph, model, free, units, budget or Budget(math.inf)).circuit


def weighted_sum(circuits: list[Circuit], weights: list[float]) -> Circuit:
    """Return the weighted sum of the outputs of some circuits as one; tasks in several are a choice in each."""
    if len(circuits) == 1:
        return circuits[0]
    whole, output = Circuit([], []), {}
    for each, weight in zip(circuits, weights, strict=True):
        first, own = len(whole.nodes), {}
        for block in each.blocks:
            own[block.id] = replace(block, id=len(whole.blocks))
            whole.blocks.append(own[block.id])
        for node in each.nodes:
            slots = [{first + k: share for k, share in slot.items()} for slot in node.slots]
            whole.nodes.append(CircuitNode(node.base, [own[block.id] for block in node.blocks], slots))
        if weight > 0.0:
            output[len(whole.nodes) - 1] = weight
    whole.nodes.append(CircuitNode(1.0, [], [output]))
    return whole


class _CircuitBuilder:
    def __init__(
        self, graph: TaskGraph, model: FidelityModel, free: BoolArray, units: IntArray, budget: Budget
    ) -> None:
        self.free, self.units, self.budget = free, units, budget
        self.circuit = Circuit([], [])
        self.task_of = np.arange(graph.tasks) if model.task_of is None else model.task_of
        # rows that are no tasks have an operator number of their own
        self.operator_of = np.full(len(self.task_of), len(graph.topology.operators))
        self.operator_of[: graph.tasks] = graph.operator_of
        self.divided = _divided(graph, model, self.task_of)
        self.node_of_task: dict[int, int] = {}
        self.node_of = np.full(len(self.task_of), -1, dtype=np.int64)
        self.whole = self._whole_operators(graph, model)
        fed = np.zeros(len(self.task_of), dtype=np.bool_)
        for level in model.levels:
            fed[level.task] = True
        self._add_rows(graph, np.flatnonzero(~fed), None)
        for level in model.levels:
            self._add_rows(graph, level.task, level)
        self.circuit.nodes.append(CircuitNode(1.0, [], [_sum_of(self.node_of[model.outputs], model.weight)]))

    def _whole_operators(self, graph: TaskGraph, model: FidelityModel) -> dict[int, FloatArray]:
        """Return the share of each task in its operator, for operators fed alike and used as a whole only."""
        used: dict[int, list[FloatArray]] = {}
        alike = np.ones(len(graph.topology.operators) + 1, dtype=np.bool_)
        alike[-1] = False
        alike[graph.operator_of[self.divided]] = False
        for level in model.levels:
            alike[np.unique(self.operator_of[level.sender])] = False
            for _, senders, weights in _gatherings(level):
                i = int(graph.operator_of[senders[0]])
                used.setdefault(i, []).append(_over(graph, i, senders, weights))
            _find_fed_unlike(graph, self.operator_of, level, alike)
        by_operator = graph.operator_of[model.outputs]
        for i in np.unique(by_operator).tolist():
            here = by_operator == i
            used.setdefault(i, []).append(_over(graph, i, model.outputs[here], model.weight[here]))
        whole = {}
        for i in np.flatnonzero(alike).tolist():
            shares = [vector / vector.sum() for vector in used.get(i, []) if vector.sum() > 0.0]
            if all(np.allclose(other, shares[0], rtol=EQUAL, atol=0.0) for other in shares[1:]):
                tasks = graph.slice_of(i)
                whole[i] = shares[0] if shares else np.zeros(tasks.stop - tasks.start)
        return whole

    def _add_rows(self, graph: TaskGraph, rows: IntArray, level: Level | None) -> None:
        """Add the nodes of rows, whole operators where possible; *level* feeds them."""
        operators = self.operator_of[rows]
        slots = _Slots(level, self._gathered(graph, level)) if level is not None else None
        for i in dict.fromkeys(operators.tolist()):
            members = rows[operators == i]
            # in one operator all tasks or none are fed alike; sources among fed tasks are told apart by _fed_unlike
            groups = [members] if i in self.whole else members[:, None]
            for group in groups:
                self.budget.check()
                share = self.whole[i][group - graph.slice_of(i).start] if i in self.whole else np.ones(1)
                node = self._node(self.task_of[group], share)
                self.node_of[group] = len(self.circuit.nodes)
                if slots is not None:
                    node.slots += slots.of(int(group[0]), self.node_of)
                self.circuit.nodes.append(node)

    def _gathered(self, graph: TaskGraph, level: Level) -> dict[int, tuple[int, float]]:
        """Return the node and factor of each gathering of a level, adding nodes where the senders are single tasks."""
        gathered = {}
        for number, senders, weights in _gatherings(level):
            if int(graph.operator_of[senders[0]]) in self.whole:
                gathered[number] = (int(self.node_of[senders[0]]), float(weights.sum()))
                continue
            node = CircuitNode(1.0, [], [_sum_of(self.node_of[senders], weights / max(weights.sum(), 1e-300))])
            gathered[number] = (len(self.circuit.nodes), float(weights.sum()))
            self.circuit.nodes.append(node)
        return gathered

    def _node(self, tasks: IntArray, share: FloatArray) -> CircuitNode:
        """Return the node of rows of tasks with these shares, without what feeds it."""
        task = int(tasks[0])
        if task == len(self.free):
            return CircuitNode(1.0, [])
        if not self.divided[task]:
            return self._node_of_tasks(tasks, share)
        if task not in self.node_of_task:
            node = self._node_of_tasks(tasks, share)
            self.node_of_task[task] = len(self.circuit.nodes)
            self.circuit.nodes.append(node)
        return CircuitNode(1.0, [], [{self.node_of_task[task]: 1.0}])

    def _node_of_tasks(self, tasks: IntArray, share: FloatArray) -> CircuitNode:
        """Return the node of tasks with these shares: free ones at once, others in a block per cost."""
        free = self.free[tasks]
        node = CircuitNode(float(share[free].sum()), [])
        for cost in np.unique(self.units[tasks[~free & (self.units[tasks] >= 0)]]).tolist():
            some = np.flatnonzero(~free & (self.units[tasks] == cost) & (share > 0.0))
            some = some[np.argsort(-share[some], kind="stable")]
            if len(some):
                kept = np.concatenate([[0.0], np.cumsum(share[some])])
                block = Block(len(self.circuit.blocks), tasks[some], kept, int(cost))
                self.circuit.blocks.append(block)
                node.blocks.append(block)
        return node


def _divided(graph: TaskGraph, model: FidelityModel, task_of: IntArray) -> BoolArray:
    """Return the tasks of which several rows are of use, shape (tasks,)."""
    rows = useful_rows(model, np.ones(graph.tasks, dtype=np.bool_))
    return np.asarray(np.bincount(task_of[rows], minlength=graph.tasks)[: graph.tasks] > 1, dtype=np.bool_)


def _sum_of(nodes: IntArray, weights: FloatArray) -> dict[int, float]:
    """Return weights by node; several tasks of one node add up."""
    sums: dict[int, float] = {}
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        if weight > 0.0:
            sums[node] = sums.get(node, 0.0) + weight
    return sums


def _over(graph: TaskGraph, operator: int, tasks: IntArray, weights: FloatArray) -> FloatArray:
    """Return weights by index in an operator."""
    part = graph.slice_of(operator)
    return np.bincount(tasks - part.start, weights, minlength=part.stop - part.start).astype(np.float64, copy=False)


def _gatherings(level: Level) -> list[tuple[int, IntArray, FloatArray]]:
    """Return (number, senders, weights) of each gathering."""
    if not level.gatherings:
        return []
    ends = np.flatnonzero(np.diff(level.gathering)) + 1
    senders, weights = np.split(level.gathered, ends), np.split(level.gather_weight, ends)
    numbers = level.gathering[np.concatenate([[0], ends])].tolist()
    return list(zip(numbers, senders, weights, strict=True))


def _find_fed_unlike(graph: TaskGraph, operator_of: IntArray, level: Level, alike: BoolArray) -> None:
    """Clear *alike* for the operators of a level whose tasks are not all fed the same."""
    owner = np.repeat(level.task, np.diff(np.append(level.first, level.slots)))
    alike[np.unique(operator_of[owner[level.slot]])] = False
    order = np.lexsort((level.spread, level.spread_slot))
    slot, spread, weight = level.spread_slot[order], level.spread[order], level.spread_weight[order]
    operators = operator_of[level.task]
    for i in np.unique(operators).tolist():
        if not alike[i]:
            continue
        tasks = graph.slice_of(i)
        count = tasks.stop - tasks.start
        here = operator_of[owner[slot]] == i
        entries = int(here.sum())
        if int((operators == i).sum()) != count or entries % count:
            alike[i] = False
            continue
        slots = slot[here].reshape(count, -1)
        # number the slots within each task: the pattern must be the same for all of them
        within = slots - slots[:, :1]
        by_task = owner[slots] == np.arange(tasks.start, tasks.stop)[:, None]
        feeds = spread[here].reshape(count, -1)
        same = (within == within[:1]).all() and by_task.all() and (feeds == feeds[:1]).all()
        weights = weight[here].reshape(count, -1)
        alike[i] = bool(same) and np.allclose(weights, weights[:1], rtol=EQUAL, atol=0.0)


class _Slots:
    """The slots of a level's tasks as sums of nodes."""

    def __init__(self, level: Level, gathered: dict[int, tuple[int, float]]) -> None:
        self.level, self.gathered = level, gathered
        self.end = np.append(level.first[1:], level.slots)
        self.by_slot = np.argsort(level.slot, kind="stable")
        self.start = np.searchsorted(level.slot[self.by_slot], np.arange(level.slots + 1))
        self.by_spread = np.argsort(level.spread_slot, kind="stable")
        self.spread_start = np.searchsorted(level.spread_slot[self.by_spread], np.arange(level.slots + 1))

    def of(self, row: int, node_of: IntArray) -> list[dict[int, float]]:
        """Return the slots of a row."""
        level = self.level
        at = int(np.searchsorted(level.task, row))
        slots = []
        for s in range(int(level.first[at]), int(self.end[at])):
            pairs = self.by_slot[self.start[s] : self.start[s + 1]]
            slot = _sum_of(node_of[level.sender[pairs]], level.weight[pairs])
            for k in self.by_spread[self.spread_start[s] : self.spread_start[s + 1]].tolist():
                node, factor = self.gathered[int(level.spread[k])]
                weight = factor * float(level.spread_weight[k])
                if weight > 0.0:
                    slot[node] = slot.get(node, 0.0) + weight
            slots.append(slot)
        return slots
