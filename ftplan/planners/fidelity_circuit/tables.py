"""What a part of a topology keeps intact at each cost: tables that are combined, and read back into choices.

Two parts that feed one mean add up: the best split of a cost is a max-plus convolution. Parts in series, and the
streams of a join, multiply: a max-times convolution.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget

#: Rows of a convolution between two looks at the clock.
CHECK_EVERY_ROWS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Tasks of equal cost that are taken in this order only, heaviest first: how many is the one choice."""

    id: int
    tasks: IntArray  # (N,) task numbers
    kept: FloatArray  # (N + 1,) what the first n of them keep intact
    cost: int  # of one task, in units; > 0

    @property
    def most(self) -> int:
        """Number of tasks."""
        return len(self.tasks)


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """Best value at each cost in units, never falling, and how it is put together.

    ``kind`` is constant, block, scaled, sum, product or share; ``low`` is the number of tasks of a block that are
    paid for elsewhere, ``label`` the first block inside, -1 where there is none.
    """

    values: FloatArray
    kind: str = "constant"
    parts: tuple[ValueTable, ...] = ()
    block: Block | None = None
    low: int = 0
    step: int = 1  # cost of one task of a block
    taken: IntArray | None = None  # share: the cost in the shared table at each cost here
    copy: tuple[int, int] = (-1, -1)  # share: label and number of the copy
    label: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class BlockChoices:
    """Choices read back: tasks taken of each block, one number per copy of it, and costs taken of shared tables."""

    counts: dict[int, list[int]]
    shared: dict[int, dict[int, int]]


def constant(value: float) -> ValueTable:
    """Return a part without a choice."""
    return ValueTable(np.array([value]))


def of_block(block: Block, low: int, high: int, fine: int, limit: int) -> ValueTable:
    """Return the table of a block with between *low* and *high* tasks, the cost of *low* not included."""
    step = block.cost * fine
    last = low + min(high - low, limit // step)
    values = np.repeat(block.kept[low : last + 1], step)[: (last - low) * step + 1]
    return ValueTable(values, "block", block=block, low=low, step=step, label=block.id)


def scaled(table: ValueTable, factor: float) -> ValueTable:
    """Return a table times a number."""
    return table if factor == 1.0 else ValueTable(table.values * factor, "scaled", (table,), label=table.label)


def product(first: ValueTable, second: ValueTable, limit: int, budget: Budget) -> ValueTable:
    """Return the best product of two parts at each cost; raises :class:`OutOfTime`."""
    return _combined(first, second, limit, "product", np.multiply, budget)


def total(parts: Iterable[ValueTable], limit: int, budget: Budget) -> ValueTable:
    """Return the best sum of parts at each cost, the shortest tables first; raises :class:`OutOfTime`."""
    heap = [(len(table.values), k, table) for k, table in enumerate(parts)]
    heapq.heapify(heap)
    following = len(heap)
    while len(heap) > 1:
        first, second = heapq.heappop(heap)[2], heapq.heappop(heap)[2]
        both = _combined(first, second, limit, "sum", np.add, budget)
        heapq.heappush(heap, (len(both.values), following, both))
        following += 1
    return heap[0][2]


def share(table: ValueTable, part: float, number: int, limit: int) -> ValueTable:
    """Return a copy of a table that pays only a part of its cost, rounded down."""
    steps = _steps(table.values)
    paid = np.floor(part * steps + 1e-9).astype(np.int64)
    size = min(limit, int(paid[-1])) + 1
    taken = steps[np.searchsorted(paid, np.arange(size), side="right") - 1]
    return ValueTable(
        table.values[taken], "share", (table,), taken=taken, copy=(table.label, number), label=table.label
    )


def choices(table: ValueTable, cost: int, budget: Budget | None = None) -> BlockChoices:
    """Return choices that reach a table's value at a cost; no more is spent than each part needs.

    With *budget* copies that choose alike count once, since nested ones may be too many to look at each. Raises
    :class:`OutOfTime`.
    """
    seen: set[tuple[int, int]] = set()
    counts: dict[int, list[int]] = {}
    shared: dict[int, dict[int, int]] = {}
    stack = [(table, min(cost, len(table.values) - 1))]
    while stack:
        here, spent = stack.pop()
        spent = int(np.searchsorted(here.values, here.values[spent]))  # the first with this value
        if budget is not None:
            budget.check()
            if (id(here), spent) in seen:
                continue
            seen.add((id(here), spent))
        if here.block is not None:
            counts.setdefault(here.block.id, []).append(here.low + spent // here.step)
        elif here.taken is not None:
            at = int(here.taken[spent])
            shared.setdefault(here.copy[0], {})[here.copy[1]] = at
            stack.append((here.parts[0], at))
        elif here.kind == "scaled":
            stack.append((here.parts[0], spent))
        elif here.parts:
            stack.extend(_split(here, spent))
    return BlockChoices(counts, shared)


def _split(table: ValueTable, spent: int) -> list[tuple[ValueTable, int]]:
    """Return how a cost divides between the two parts of a sum or product."""
    first, second = table.parts
    a, b = first.values, second.values
    low, high = max(0, spent - len(b) + 1), min(spent, len(a) - 1)
    if low > high:  # both are spent wholly
        return [(first, len(a) - 1), (second, len(b) - 1)]
    left, right = a[low : high + 1], b[spent - high : spent - low + 1][::-1]
    best = int(np.argmax(left * right if table.kind == "product" else left + right))
    return [(first, low + best), (second, spent - low - best)]


def _steps(values: FloatArray) -> IntArray:
    """Return the costs at which a table rises, 0 among them."""
    return np.concatenate([[0], np.flatnonzero(np.diff(values) > 0.0) + 1]).astype(np.int64)


def _combined(
    first: ValueTable,
    second: ValueTable,
    limit: int,
    kind: str,
    combine: Callable[[FloatArray, float], FloatArray],
    budget: Budget,
) -> ValueTable:
    """Return the best combination of two parts at each cost up to *limit*."""
    label = min((t.label for t in (first, second) if t.label >= 0), default=-1)
    a, b = first.values, second.values
    steps_a, steps_b = (_steps(x) if len(x) > 1 else np.zeros(1, dtype=np.int64) for x in (a, b))
    if len(a) * len(steps_b) > len(b) * len(steps_a):
        a, b, steps_b = b, a, steps_a
    size = min(limit + 1, len(a) + len(b) - 1)
    values = np.full(size, -np.inf)
    for count, j in enumerate(steps_b[steps_b < size].tolist()):
        if count % CHECK_EVERY_ROWS == 0:
            budget.check()
        end = min(len(a), size - j)
        here = values[j : j + end]
        np.maximum(here, combine(a[:end], b[j]), out=here)
    return ValueTable(np.maximum.accumulate(values), kind, (first, second), label=label)
