"""For every task at once: the MC-tree through it of the largest profit density, by the replicas still missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel, Level
from ftplan.model.measures.fidelity_gains import Gains, gains
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: What costs nothing counts as this in a ratio: the largest value over it is still a number.
LEAST_COST = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """A level and its candidates: substreams, then one for each full edge that enters a slot, sorted by slot."""

    level: Level
    owner: IntArray
    by_slot: IntArray
    first_of_slot: IntArray
    gather_order: IntArray
    first_of_gathering: IntArray


@dataclass(frozen=True, eq=False)
class Completion:
    """What is static about completing trees."""

    model: FidelityModel
    tasks: int

    @cached_property
    def task_of(self) -> IntArray:
        """The task of each row of the model, the number of tasks for a row that never fails, shape (rows,)."""
        return np.arange(self.tasks) if self.model.task_of is None else self.model.task_of

    @cached_property
    def levels(self) -> tuple[Slots, ...]:
        """The levels with their candidates sorted."""
        return tuple(map(_slots, self.model.levels))

    @cached_property
    def first_slot(self) -> IntArray:
        """First slot of each row among the slots of all levels, -1 for leaves, shape (rows,)."""
        first = np.full(len(self.task_of), -1, dtype=np.int64)
        offset = 0
        for level in self.model.levels:
            first[level.task] = level.first + offset
            offset += level.slots
        return first

    @cached_property
    def slot_count(self) -> IntArray:
        """Number of slots of each row, shape (rows,)."""
        count = np.zeros(len(self.task_of), dtype=np.int64)
        for level in self.model.levels:
            count[level.task] = np.diff(np.append(level.first, level.slots))
        return count


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """The tree of each task: what it gains, what its missing replicas cost (shape (tasks,)), and how to follow it."""

    completion: Completion
    live: BoolArray
    gain: FloatArray
    cost: FloatArray
    change: FloatArray  # by how much fidelity grows or falls with the task alone
    row: IntArray  # (T,) of the model, by which the tree passes the task
    sender: IntArray  # by slot: the row to complete upstream, -1 where the slot has something
    below: IntArray  # by row: the consumer to complete, -1 where none is needed
    entered: IntArray  # by row: the slot by which that consumer is entered

    def missing(self, task: int) -> list[int]:
        """Return the tasks of the tree through *task* that do not live, each once."""
        missing: dict[int, None] = {}
        row = int(self.row[task])
        self._up(row, missing)
        while self.below[row] >= 0:
            entered, row = int(self.entered[row]), int(self.below[row])
            self._up(row, missing, entered)
        return list(missing)

    def _up(self, row: int, missing: dict[int, None], entered: int = -1) -> None:
        """Add the task of a row and whatever it needs upstream, but for the slot by which the tree enters it."""
        waiting = [row]
        while waiting:
            at = waiting.pop()
            task = int(self.completion.task_of[at])
            if task < len(self.live) and not self.live[task]:
                missing[task] = None
            first = int(self.completion.first_slot[at])
            slots = range(first, first + int(self.completion.slot_count[at]))
            waiting += [int(self.sender[slot]) for slot in slots if slot != entered and self.sender[slot] >= 0]


def _slots(level: Level) -> Slots:
    slot = np.concatenate((level.slot, level.spread_slot))
    by_slot = np.argsort(slot, kind="stable")
    order = np.argsort(level.gathering, kind="stable")
    return Slots(
        level,
        level.owner,
        by_slot,
        np.searchsorted(slot[by_slot], np.arange(level.slots)),
        order,
        np.searchsorted(level.gathering[order], np.arange(level.gatherings)),
    )


def _first_best(score: FloatArray, first: IntArray) -> IntArray:
    """Return the position of the first best score of each group; groups lie end to end from *first*."""
    best = np.repeat(np.maximum.reduceat(score, first), np.diff(np.append(first, len(score))))
    at = np.where(score == best, np.arange(len(score)), len(score))
    return np.asarray(np.minimum.reduceat(at, first), dtype=np.int64)


def trees(completion: Completion, live: BoolArray, weight: FloatArray, cheapest: bool = False) -> Trees:
    """Return the tree through every task; O(tasks + substreams), a full edge counts its tasks only.

    Upstream, a slot without anything takes the sender of the largest profit density; downstream, a task that nobody
    uses takes the consumer with which the whole tree's is largest. *cheapest*: the trees of least cost instead.

    Where a join's streams share ancestors a tree may cost less than it says, and gain more; in a model with further
    rows ancestors upstream of the task are counted once. Of a task with several rows the tree counts the gain by one.
    """
    now = gains(completion.model, live)
    missing = np.append(np.where(live, 0.0, weight), 0.0)[completion.task_of]
    up = _Upstream(missing.copy(), np.ones(len(missing)))
    fills: list[_Fill] = []
    for slots, mean in zip(completion.levels, now.means, strict=True):
        fill = _fill(slots, mean, up, cheapest)
        up.cost[slots.level.task] += np.add.reduceat(fill.cost, slots.level.first)
        up.value[slots.level.task] = np.multiply.reduceat(fill.value, slots.level.first)
        fills.append(fill)
        if completion.model.task_of is not None:
            joins = slots.level.task[np.add.reduceat((fill.cost > 0.0).astype(np.int64), slots.level.first) > 1]
            up.cost[joins] = _cost_upstream(completion, fills, joins, np.where(live, 0.0, weight))
    down = _Downstream(now, up, missing, cheapest)
    offset = sum(slots.level.slots for slots in completion.levels)
    for slots, mean, fill in zip(completion.levels[::-1], now.means[::-1], fills[::-1], strict=True):
        offset -= slots.level.slots
        down.offer_level(slots, offset, mean, fill)
    gain, cost = down.base + down.rise * (up.value - now.intact), up.cost + down.cost
    senders = np.concatenate([fill.sender for fill in fills]) if fills else np.zeros(0, dtype=np.int64)
    row = _best_rows(completion, _density(gain, cost, cheapest))
    return Trees(completion, live, gain[row], cost[row], now.change, row, senders, down.below, down.entered)


def _cost_upstream(completion: Completion, fills: list[_Fill], rows: IntArray, missing: FloatArray) -> FloatArray:
    """Return what it costs to complete some rows upstream, each task once; cost O(sizes of their trees)."""
    sender, task_of = np.concatenate([fill.sender for fill in fills]), completion.task_of
    tree, row, tasks = np.arange(len(rows)), rows, completion.tasks + 1
    reached = []
    while len(row):
        tree, row = np.divmod(np.unique(tree * len(task_of) + row), len(task_of))
        reached.append(tree * tasks + task_of[row])
        count = completion.slot_count[row]
        slot = np.repeat(completion.first_slot[row] - np.cumsum(count) + count, count) + np.arange(count.sum())
        tree, row = np.repeat(tree, count), sender[slot]
        tree, row = tree[row >= 0], row[row >= 0]
    once = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *reached]))
    cost = np.bincount(once // tasks, np.append(missing, 0.0)[once % tasks], minlength=len(rows))
    return np.asarray(cost, dtype=np.float64)


def _best_rows(completion: Completion, score: FloatArray) -> IntArray:
    """Return the first row of the best score of each task, shape (tasks,)."""
    task_of, tasks = completion.task_of, completion.tasks
    if len(task_of) == tasks:
        return task_of
    order = np.lexsort((-score, task_of))
    return np.asarray(order[np.searchsorted(task_of[order], np.arange(tasks))], dtype=np.int64)


class _Upstream(NamedTuple):
    """What it costs to complete each row upstream, itself included, and what is intact of it then, shape (rows,)."""

    cost: FloatArray
    value: FloatArray


class _Fill(NamedTuple):
    """Of each slot of a level: the sender to complete (-1: none), its cost, and what is intact of the slot then."""

    sender: IntArray
    cost: FloatArray
    value: FloatArray


class _Entry(NamedTuple):
    """Of each slot of a level, where a tree enters its task there.

    The consumer, the number of its first slot, what the tree costs from there on, and what it gains: ``base`` and
    ``rise`` for each unit of what is intact of the slot.
    """

    consumer: IntArray
    offset: int
    cost: FloatArray
    base: FloatArray
    rise: FloatArray


def _density(value: FloatArray, cost: FloatArray, cheapest: bool = False) -> FloatArray:
    """Return the profit density; where the cheapest is sought, cost decides and value breaks ties."""
    return np.asarray((1.0 + 1e-6 * value if cheapest else value) / np.maximum(cost, LEAST_COST), dtype=np.float64)


def _fill(slots: Slots, mean: FloatArray, up: _Upstream, cheapest: bool) -> _Fill:
    """Choose a sender for each slot in which nothing is intact."""
    level = slots.level

    def score(value: FloatArray, cost: FloatArray) -> FloatArray:
        return np.where(value > 0.0, _density(value, cost, cheapest), -1.0)

    sender, value = level.sender, level.weight * up.value[level.sender]
    if level.gatherings:
        each = level.gather_weight * up.value[level.gathered]
        ordered = score(each, up.cost[level.gathered])[slots.gather_order]
        best = slots.gather_order[_first_best(ordered, slots.first_of_gathering)]
        sender = np.concatenate((sender, level.gathered[best][level.spread]))
        value = np.concatenate((value, level.spread_weight * each[best][level.spread]))
    cost = up.cost[sender]
    pick = slots.by_slot[_first_best(score(value, cost)[slots.by_slot], slots.first_of_slot)]
    empty = mean <= 0.0
    return _Fill(
        np.where(empty, sender[pick], -1), np.where(empty, cost[pick], 0.0), np.where(empty, value[pick], mean)
    )


class _Downstream:
    """The way from each row to an output, filled level by level from the outputs on; arrays of shape (rows,)."""

    def __init__(self, now: Gains, up: _Upstream, own_cost: FloatArray, cheapest: bool) -> None:
        count = len(own_cost)
        self.now, self.up, self.own_cost, self.cheapest = now, up, own_cost, cheapest
        self.used = now.slope > 0.0
        self.rise = now.slope.copy()
        self.base = np.zeros(count)
        self.cost = np.where(self.used, 0.0, np.inf)
        self.density = np.full(count, -1.0)
        self.below = np.full(count, -1, dtype=np.int64)
        self.entered = np.full(count, -1, dtype=np.int64)

    def offer_level(self, slots: Slots, offset: int, mean: FloatArray, fill: _Fill) -> None:
        """Offer the consumers of one level to their senders."""
        level = slots.level
        consumer = level.task[slots.owner]
        rest = level.others(fill.value)
        all_cost = np.add.reduceat(fill.cost, level.first)[slots.owner]
        with np.errstate(invalid="ignore"):  # inf - inf: a slot that cannot be had
            cost = self.own_cost[consumer] + all_cost - fill.cost + self.cost[consumer]
        base = self.base[consumer] + self.rise[consumer] * (mean * rest - self.now.intact[consumer])
        entry = _Entry(consumer, offset, cost, base, self.rise[consumer] * rest)
        self._offer(entry, level.sender, level.weight, level.slot)
        if level.gatherings:
            self._offer_full(slots, entry)

    def _offer(self, entry: _Entry, sender: IntArray, weight: FloatArray, slot: IntArray) -> None:
        """Let each unused sender enter the slot with which its tree has the largest density."""
        open_ = ~self.used[sender] & (weight > 0.0) & np.isfinite(entry.cost[slot])
        sender, weight, slot = sender[open_], weight[open_], slot[open_]
        value = entry.base[slot] + entry.rise[slot] * weight * self.up.value[sender]
        density = _density(value, entry.cost[slot] + self.up.cost[sender], self.cheapest)
        order = np.lexsort((slot, -density, sender))
        order = order[np.append(True, np.diff(sender[order]) > 0)] if len(order) else order
        order = order[density[order] > self.density[sender[order]]]
        sender, slot = sender[order], slot[order]
        self.density[sender], self.base[sender], self.cost[sender] = density[order], entry.base[slot], entry.cost[slot]
        self.rise[sender] = entry.rise[slot] * weight[order]
        self.below[sender], self.entered[sender] = entry.consumer[slot], slot + entry.offset

    def _offer_full(self, slots: Slots, entry: _Entry) -> None:
        """Offer each full edge's best consumer, as its best sender sees it, to all its senders."""
        level, up, slot = slots.level, self.up, slots.level.spread_slot
        each = level.gather_weight * up.value[level.gathered]
        ordered = _density(each, up.cost[level.gathered])[slots.gather_order]
        best = slots.gather_order[_first_best(ordered, slots.first_of_gathering)]
        value = entry.base[slot] + entry.rise[slot] * level.spread_weight * each[best][level.spread]
        cost = entry.cost[slot] + up.cost[level.gathered[best]][level.spread]
        order = np.lexsort((slot, -_density(value, cost, self.cheapest), level.spread))
        chosen = order[np.searchsorted(level.spread[order], np.arange(level.gatherings))]
        weight = level.gather_weight * level.spread_weight[chosen][level.gathering]
        self._offer(entry, level.gathered, weight, slot[chosen][level.gathering])
