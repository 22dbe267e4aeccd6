"""Output fidelity: how much of what a job puts out still rests on all of its input ([SuZhou2016], section III).

The paper's recursion is over losses. Here it is over what is *intact*, 1 - loss: a mean of losses is 1 minus the mean
of what is intact, and a join's ``1 - Π(1 - loss)`` becomes a plain product, without a rounding error at the ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.rates import FullStream, Rates, Stream
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The tasks of operators at one depth. A *slot* is a weighted mean of upstream tasks; its weights sum to 1.

    A task with independent inputs has one slot, a join one per input stream; a task keeps the product of its slots.
    A full edge is gathered into one number before it is spread over the slots. Tasks are rows of the model, which may
    have others, see :class:`FidelityModel`.
    """

    task: IntArray  # (N,) rows with inputs, ascending
    first: IntArray  # (N,) first slot of each
    slots: int
    sender: IntArray  # (P,) substreams: row, slot, weight
    slot: IntArray  # (P,)
    weight: FloatArray  # (P,)
    gathered: IntArray  # (G,) senders of full edges: row, gathering, weight
    gathering: IntArray  # (G,)
    gather_weight: FloatArray  # (G,)
    gatherings: int
    spread: IntArray  # (S,) gathering, slot, weight of each receiver
    spread_slot: IntArray  # (S,)
    spread_weight: FloatArray  # (S,)

    @property
    def owner(self) -> IntArray:
        """Place in :attr:`task` of the task that each slot belongs to, shape (slots,)."""
        return np.repeat(np.arange(len(self.task)), np.diff(np.append(self.first, self.slots)))

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the weighted mean of the senders' values for each slot, shape (slots,); *values* by row."""
        sums = np.bincount(self.slot, self.weight * values[self.sender], minlength=self.slots)
        if self.gatherings:
            each = np.bincount(self.gathering, self.gather_weight * values[self.gathered], minlength=self.gatherings)
            sums = sums + np.bincount(self.spread_slot, self.spread_weight * each[self.spread], minlength=self.slots)
        return np.asarray(sums, dtype=np.float64)

    def means(self, intact: FloatArray) -> FloatArray:
        """Return what is intact of each slot, shape (slots,)."""
        return np.minimum(self.sums(intact), 1.0)

    def others(self, values: FloatArray) -> FloatArray:
        """Return the product of the values of the other slots of each slot's task, shape (slots,)."""
        if self.slots == len(self.task):
            return np.ones(self.slots)
        owner, zero = self.owner, values == 0.0
        rest = np.where(zero, 1.0, values)  # no division by 0 where a join lacks one stream
        zeros = np.add.reduceat(zero.astype(np.int64), self.first)[owner]
        return np.where(zeros == zero, np.multiply.reduceat(rest, self.first)[owner] / rest, 0.0)

    def slot_slopes(self, live: BoolArray, means: FloatArray, slope: FloatArray) -> FloatArray:
        """Return how output fidelity grows with each slot, shape (slots,), from how it does with each task.

        *means* are what is intact of each slot, shape (slots,).
        """
        return np.asarray((slope[self.task] * live[self.task])[self.owner] * self.others(means), dtype=np.float64)

    def pass_back(self, slopes: FloatArray, slope: FloatArray) -> None:
        """Add to the slope of each sender what the slots' slopes, shape (slots,), make of it; slope: (tasks,)."""
        tasks = len(slope)
        slope += np.bincount(self.sender, self.weight * slopes[self.slot], minlength=tasks)
        if self.gatherings:
            each = np.bincount(self.spread, self.spread_weight * slopes[self.spread_slot], minlength=self.gatherings)
            slope += np.bincount(self.gathered, self.gather_weight * each[self.gathering], minlength=tasks)


@dataclass(frozen=True, slots=True, eq=False)
class FidelityModel:
    """Output fidelity of one topology, prepared for any set of live tasks; a question costs O(tasks + substreams).

    What the levels lead to are *rows*: the tasks, and behind them those that ``task_of`` adds, such as parts of a task.
    A row keeps the product of its slots while the task that it belongs to lives. Live tasks have shape (tasks,), what
    is intact of rows shape (rows,).
    """

    levels: tuple[Level, ...]
    outputs: IntArray  # (O,) output tasks
    weight: FloatArray  # (O,) their weights, summing to 1
    task_of: IntArray | None = None  # (rows,) the number of tasks for a row that never fails; None: rows are tasks

    def live_rows(self, live: BoolArray) -> BoolArray:
        """Return which rows live, shape (rows,)."""
        return live if self.task_of is None else np.append(live, True)[self.task_of]

    def by_task(self, values: FloatArray, tasks: int) -> FloatArray:
        """Return the sum of the values of each task's rows, shape (tasks,), from those of rows."""
        if self.task_of is None:
            return values
        return np.bincount(self.task_of, values, minlength=tasks)[:tasks].astype(np.float64, copy=False)

    def intact(self, live: BoolArray) -> FloatArray:
        """Return 1 - loss of each row's output, shape (rows,)."""
        return self.intact_and_means(live)[0]

    def intact_and_means(self, live: BoolArray) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """Return 1 - loss of each row's output, (rows,), and what is intact of each slot, (slots,), by level."""
        up = self.live_rows(live)
        intact, means = up.astype(np.float64), []
        for level in self.levels:
            means.append(level.means(intact))
            kept = np.multiply.reduceat(means[-1], level.first)
            intact[level.task] = np.where(up[level.task], kept, 0.0)
        return intact, tuple(means)

    def slope(self, live: BoolArray, intact: FloatArray) -> FloatArray:
        """Return how output fidelity grows with what is intact of each row, the rest as it is, shape (rows,).

        *intact* is as :meth:`intact` returns it for *live*. The derivative, by one pass against the streams; times
        ``intact``, and summed :meth:`by_task`, it is what is lost if only that task fails: exactly so, unless the task
        reaches one join on two ways. Cost O(tasks + substreams).
        """
        return self.slope_by_means(live, [level.means(intact) for level in self.levels])

    def slope_by_means(self, live: BoolArray, means: Sequence[FloatArray]) -> FloatArray:
        """Return :meth:`slope` from what is intact of each slot, by level."""
        up = self.live_rows(live)
        slope = np.zeros(len(up))
        slope[self.outputs] = self.weight
        for level, mean in zip(reversed(self.levels), reversed(means), strict=True):
            level.pass_back(level.slot_slopes(up, mean, slope), slope)
        return slope

    def fidelity(self, live: BoolArray) -> float:
        """Return the output fidelity, between 0 and 1; 1 where the topology has no output."""
        return self.of_intact(self.intact(live))

    def of_intact(self, intact: FloatArray) -> float:
        """Return the weighted mean of what is intact of the outputs, from that of each row, (rows,)."""
        return min(1.0, float(self.weight @ intact[self.outputs])) if len(self.outputs) else 1.0


def fidelity_model(graph: TaskGraph, rates: Rates) -> FidelityModel:
    """Prepare the scoring of a topology; O(tasks + substreams), full edges count their tasks only."""
    incoming: dict[int, dict[int, list[Stream]]] = defaultdict(lambda: defaultdict(list))
    for stream in rates.streams:
        incoming[stream.target][stream.source].append(stream)
    levels: list[Level] = []
    for at in range(1, max(graph.depth, default=0) + 1):
        builder = LevelBuilder(graph)
        for i in graph.by_id:
            if graph.depth[i] == at:
                builder.add(i, list(incoming[i].values()))
        if (level := builder.level()) is not None:
            levels.append(level)
    outputs = np.flatnonzero(graph.output)
    return FidelityModel(tuple(levels), outputs, _output_weights(rates, outputs))


def _output_weights(rates: Rates, outputs: IntArray) -> FloatArray:
    """Return what each output weighs: rate_out, else the input rate for all, else equal; summing to 1."""
    for weight in (rates.out[outputs], rates.into[outputs]):
        if (total := weight.sum()) > 0.0:
            return np.asarray(weight / total, dtype=np.float64)
    return np.full(len(outputs), 1.0 / max(1, len(outputs)))


class LevelBuilder:
    """Collects the operators of one depth, or slots of any rows."""

    def __init__(self, graph: TaskGraph) -> None:
        self.graph = graph
        self.slots = 0
        self.gatherings = 0
        self.owner: list[IntArray] = []  # task of each slot
        self.pairs: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.gathers: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.spreads: list[tuple[IntArray, IntArray, FloatArray]] = []

    def add(self, operator: int, streams: list[list[Stream]]) -> None:
        """Add an operator; each of *streams* is all edges from one upstream operator."""
        tasks = self.graph.slice_of(operator)
        count = tasks.stop - tasks.start
        rate = np.array([sum(edge.received() for edge in edges) for edges in streams])  # (streams, tasks)
        edges_in = np.array([sum(_substreams(edge, count) for edge in edges) for edges in streams])
        if self.graph.topology.operators[operator].inputs == "correlated":
            for k, edges in enumerate(streams):
                slot = self._slots_of_receivers(tasks.start, edges_in[k] > 0)
                self._add_stream(edges, rate[k], edges_in[k], np.ones(count), slot)
            return
        slot = self._slots_of_receivers(tasks.start, np.asarray(edges_in.sum(axis=0) > 0))
        total, streams_in = rate.sum(axis=0), np.maximum((edges_in > 0).sum(axis=0), 1)
        for k, edges in enumerate(streams):
            part = np.divide(rate[k], total, out=1.0 / streams_in, where=total > 0.0)
            self._add_stream(edges, rate[k], edges_in[k], part, slot)

    def new_slots(self, rows: IntArray) -> IntArray:
        """Give each of some rows one slot more; return the slots."""
        self.owner.append(rows)
        self.slots += len(rows)
        return np.arange(self.slots - len(rows), self.slots)

    def copy(self, level: Level, slots: IntArray, rows: IntArray) -> None:
        """Add copies of some slots of a level, for these rows."""
        place = np.full(level.slots, -1, dtype=np.int64)
        place[slots] = self.new_slots(rows)
        some = place[level.slot] >= 0
        self.pairs.append((level.sender[some], place[level.slot[some]], level.weight[some]))
        some = place[level.spread_slot] >= 0
        used, number = np.unique(level.spread[some], return_inverse=True)
        self.spreads.append((number + self.gatherings, place[level.spread_slot[some]], level.spread_weight[some]))
        some = np.isin(level.gathering, used)
        number = np.searchsorted(used, level.gathering[some]) + self.gatherings
        self.gathers.append((level.gathered[some], number, level.gather_weight[some]))
        self.gatherings += len(used)

    def _slots_of_receivers(self, offset: int, receives: BoolArray) -> IntArray:
        """Give a slot to each task that has the stream; -1 to the others."""
        receivers = np.flatnonzero(receives)
        slot = np.full(len(receives), -1, dtype=np.int64)
        slot[receivers] = self.new_slots(receivers + offset)
        return slot

    def _add_stream(
        self, edges: list[Stream], rate: FloatArray, count: IntArray, part: FloatArray, slot: IntArray
    ) -> None:
        """Add one input stream, which is *part* of each receiver's slot."""
        weighted = rate > 0.0
        scale = part / np.where(weighted, rate, np.maximum(count, 1))
        for edge in edges:
            if isinstance(edge, FullStream):
                self._add_full(edge, np.where(weighted, scale * edge.share, 0.0), edge.sent, slot)
                self._add_full(edge, np.where(weighted, 0.0, scale), np.ones(len(edge.sent)), slot)
                continue
            weight = scale[edge.receiver] * np.where(weighted[edge.receiver], edge.rate, 1.0)
            self.pairs.append((edge.sender + self.graph.offset[edge.source], slot[edge.receiver], weight))

    def _add_full(self, edge: FullStream, spread: FloatArray, sent: FloatArray, slot: IntArray) -> None:
        """Add a full edge: sum the senders with weights *sent*, then spread that over the receivers."""
        some = np.flatnonzero(spread)
        if len(some) == 0:
            return
        senders = np.arange(len(sent)) + self.graph.offset[edge.source]
        self.gathers.append((senders, np.full(len(sent), self.gatherings), sent))
        self.spreads.append((np.full(len(some), self.gatherings), slot[some], spread[some]))
        self.gatherings += 1

    def level(self) -> Level | None:
        """Return the level with its slots in the order of their tasks; None where no task has an input."""
        if self.slots == 0:
            return None
        owner = np.concatenate(self.owner)
        order = np.argsort(owner, kind="stable")
        place = np.empty(self.slots, dtype=np.int64)
        place[order] = np.arange(self.slots)
        task, first = np.unique(owner[order], return_index=True)
        sender, slot, weight = _joined(self.pairs)
        gathered, gathering, gather_weight = _joined(self.gathers)
        spread, spread_slot, spread_weight = _joined(self.spreads)
        return Level(
            task, first, self.slots,
            sender, place[slot], weight,
            gathered, gathering, gather_weight, self.gatherings,
            spread, place[spread_slot], spread_weight,
        )  # fmt: skip


def _substreams(stream: Stream, receivers: int) -> IntArray:
    """Return how many substreams of an edge enter each receiver, shape (receivers,)."""
    if isinstance(stream, FullStream):
        return np.full(receivers, len(stream.sent), dtype=np.int64)
    return np.bincount(stream.receiver, minlength=receivers)


def _joined(parts: list[tuple[IntArray, IntArray, FloatArray]]) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the parts end to end."""
    nothing = np.zeros(0, dtype=np.int64)
    parts = parts or [(nothing, nothing, np.zeros(0))]
    first, second = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return first, second, np.concatenate([part[2] for part in parts])
