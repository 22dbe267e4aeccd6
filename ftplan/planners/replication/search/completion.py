"""For every task at once: the MC-tree through it that is worth most for each replica still missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.metrics.fidelity import FidelityModel, Level
from ftplan.metrics.fidelity_gains import gains
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray

#: What costs nothing counts as this in a ratio: the largest worth over it is still a number.
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
    def levels(self) -> tuple[Slots, ...]:
        """The levels with their candidates sorted."""
        return tuple(map(_slots, self.model.levels))

    @cached_property
    def first_slot(self) -> IntArray:
        """First slot of each task among the slots of all levels, -1 for leaves, shape (tasks,)."""
        first = np.full(self.tasks, -1, dtype=np.int64)
        offset = 0
        for level in self.model.levels:
            first[level.task] = level.first + offset
            offset += level.slots
        return first

    @cached_property
    def slot_count(self) -> IntArray:
        """Number of slots of each task, shape (tasks,)."""
        count = np.zeros(self.tasks, dtype=np.int64)
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
    sender: IntArray  # by slot: whom to complete upstream, -1 where the slot has something
    below: IntArray  # (T,) the consumer to complete, -1 where none is needed
    entered: IntArray  # (T,) the slot by which that consumer is entered

    def missing(self, task: int) -> list[int]:
        """Return the tasks of the tree through *task* that do not live, each once."""
        found: dict[int, None] = {}
        self._up(task, found)
        while self.below[task] >= 0:
            entered, task = int(self.entered[task]), int(self.below[task])
            self._up(task, found, entered)
        return list(found)

    def _up(self, task: int, found: dict[int, None], entered: int = -1) -> None:
        """Add a task and whatever it needs upstream, but for the slot by which the tree enters it."""
        waiting = [task]
        while waiting:
            at = waiting.pop()
            if not self.live[at]:
                found[at] = None
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

    Upstream, a slot without anything takes the sender of most value for each unit of cost; downstream, a task that
    nobody uses takes the consumer that makes the whole tree worth most. *cheapest*: the trees of least cost instead.

    Where a join's streams share ancestors a tree may cost less than it says, and gain more.
    """
    now = gains(completion.model, live)
    up_cost = np.where(live, 0.0, weight)
    value = np.ones(len(live))
    senders, costs, values = [], [], []
    for slots, mean in zip(completion.levels, now.means, strict=True):
        sender, cost, worth = _upstream(slots, mean, up_cost, value, cheapest)
        level = slots.level
        up_cost[level.task] += np.add.reduceat(cost, level.first)
        value[level.task] = np.multiply.reduceat(worth, level.first)
        senders.append(sender)
        costs.append(cost)
        values.append(worth)
    own = np.where(live, 0.0, weight)
    down = _Down(completion, live, now.slope)
    offset = sum(level.slots for level in completion.model.levels)
    for k in reversed(range(len(senders))):
        offset -= completion.levels[k].level.slots
        state = (now.means[k], costs[k], values[k])
        down.level(completion.levels[k], offset, state, (up_cost, value, own), now.intact, cheapest)
    gain = down.base + down.rise * (value - now.intact)
    joined = np.concatenate(senders) if senders else np.zeros(0, dtype=np.int64)
    return Trees(completion, live, gain, up_cost + down.cost, joined, down.below, down.entered)


def _upstream(
    slots: Slots, mean: FloatArray, up_cost: FloatArray, value: FloatArray, cheapest: bool
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return for each slot the sender to complete (-1: none needed), its cost, and what the slot then has."""
    level = slots.level

    def score(worth: FloatArray, cost: FloatArray) -> FloatArray:
        cost = np.maximum(cost, LEAST_COST)
        return np.where(worth > 0.0, (1.0 + 1e-6 * worth if cheapest else worth) / cost, -1.0)

    sender, worth = level.sender, level.weight * value[level.sender]
    if level.gatherings:
        each = level.gather_weight * value[level.gathered]
        ordered = score(each, up_cost[level.gathered])[slots.gather_order]
        best = slots.gather_order[_first_best(ordered, slots.first_of_gathering)]
        sender = np.concatenate((sender, level.gathered[best][level.spread]))
        worth = np.concatenate((worth, level.spread_weight * each[best][level.spread]))
    cost = up_cost[sender]
    pick = slots.by_slot[_first_best(score(worth, cost)[slots.by_slot], slots.first_of_slot)]
    needed = mean <= 0.0
    return (
        np.where(needed, sender[pick], -1),
        np.where(needed, cost[pick], 0.0),
        np.where(needed, worth[pick], mean),
    )


class _Down:
    """The way from each task to an output, filled level by level from the outputs on."""

    def __init__(self, completion: Completion, live: BoolArray, rise: FloatArray) -> None:
        count = len(live)
        self.used = rise > 0.0
        self.live = live
        self.rise = rise.copy()
        self.base = np.zeros(count)
        self.cost = np.where(self.used, 0.0, np.inf)
        self.score = np.full(count, -1.0)
        self.below = np.full(count, -1, dtype=np.int64)
        self.entered = np.full(count, -1, dtype=np.int64)

    def level(
        self,
        slots: Slots,
        offset: int,
        slot_state: tuple[FloatArray, FloatArray, FloatArray],
        task_state: tuple[FloatArray, FloatArray, FloatArray],
        intact: FloatArray,
        cheapest: bool,
    ) -> None:
        """Offer the consumers of one level to their senders."""
        level, (mean, slot_cost, slot_value), (up_cost, value, own) = slots.level, slot_state, task_state
        user = level.task[slots.owner]
        rest = level.others(slot_value)
        all_cost = np.add.reduceat(slot_cost, level.first)[slots.owner]
        with np.errstate(invalid="ignore"):  # inf - inf: a slot that cannot be had
            cost = own[user] + all_cost - slot_cost + self.cost[user]
        base = self.base[user] + self.rise[user] * (mean * rest - intact[user])
        rise = self.rise[user] * rest

        def offer(sender: IntArray, weight: FloatArray, slot: IntArray) -> None:
            open_ = ~self.used[sender] & (weight > 0.0) & np.isfinite(cost[slot])
            sender, weight, slot = sender[open_], weight[open_], slot[open_]
            worth = base[slot] + rise[slot] * weight * value[sender]
            price = np.maximum(cost[slot] + up_cost[sender], LEAST_COST)
            score = (1.0 + 1e-6 * worth) / price if cheapest else worth / price
            order = np.lexsort((slot, -score, sender))
            order = order[np.append(True, np.diff(sender[order]) > 0)] if len(order) else order
            order = order[score[order] > self.score[sender[order]]]
            sender, slot = sender[order], slot[order]
            self.score[sender], self.base[sender], self.cost[sender] = score[order], base[slot], cost[slot]
            self.rise[sender], self.below[sender], self.entered[sender] = (
                rise[slot] * weight[order], user[slot], slot + offset,
            )  # fmt: skip

        offer(level.sender, level.weight, level.slot)
        if level.gatherings:
            self._full(slots, offer, (base, rise, cost), (up_cost, value), cheapest)

    def _full(
        self,
        slots: Slots,
        offer: Callable[[IntArray, FloatArray, IntArray], None],
        by_slot: tuple[FloatArray, FloatArray, FloatArray],
        by_task: tuple[FloatArray, FloatArray],
        cheapest: bool,
    ) -> None:
        """Offer each full edge's best consumer, as its best sender sees it, to all its senders."""
        level, (base, rise, cost), (up_cost, value) = slots.level, by_slot, by_task
        each = level.gather_weight * value[level.gathered]
        ordered = (each / np.maximum(up_cost[level.gathered], LEAST_COST))[slots.gather_order]
        best = slots.gather_order[_first_best(ordered, slots.first_of_gathering)]
        worth = base[level.spread_slot] + rise[level.spread_slot] * level.spread_weight * each[best][level.spread]
        price = np.maximum(cost[level.spread_slot] + up_cost[level.gathered[best]][level.spread], LEAST_COST)
        score = (1.0 + 1e-6 * worth) / price if cheapest else worth / price
        order = np.lexsort((level.spread_slot, -score, level.spread))
        first = np.searchsorted(level.spread[order], np.arange(level.gatherings))
        chosen = order[first]
        weight = level.gather_weight * level.spread_weight[chosen][level.gathering]
        offer(level.gathered, weight, level.spread_slot[chosen][level.gathering])
