"""Key-aligned fidelity: output fidelity where a loss upstream of several streams of one join counts once.

A → B, A → C by key ranges, B ⋈ C by key, half of A lost: output fidelity takes the streams as unrelated and keeps 1/4;
with aligned keys they lack the same keys, and 1/2 is kept. The rules are those of output fidelity ([SuZhou2016],
section III) but for joins:

- An operator whose inputs all come by range (one-to-one, split, merge) and have one *root* shares that root. Every
  other operator (a source, one behind a full edge or measured substreams, one that mixes roots) is its own root.
- A *slice* is the key range of one task of the root. What is intact is tracked per task and slice; a slice weighs what
  it contributes to the task. With independent inputs a slice keeps the weighted mean, as in output fidelity.
- In a join, streams that come by range from one root are multiplied slice by slice, the root's loss counting once, and
  the task keeps the mean over slices, weighted by the mean of the streams' weights. Other streams are unrelated and
  multiplied as in output fidelity. A stream without a slice that others have counts by its mean there.

It is in [0, 1], never falls when more tasks live, and equals output fidelity where no join has two streams of one root.
It is *not* always above output fidelity: where B lacks one half of the keys and C the other, the join has none of them.

Limits: keys inside one slice are unrelated where a split made it finer; of nested roots only the nearest one counts;
measured substreams count as unaligned, whatever their shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.metrics.fidelity import FidelityModel, Level, fidelity_model
from ftplan.model.rates import Rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _SlicedStream:
    """One stream: entry e gives row ``row[e]`` the part ``weight[e]`` of its slot, from row ``sender[e]`` of all."""

    sender: IntArray  # (E,)
    row: IntArray  # (E,)
    weight: FloatArray  # (E,)
    part: FloatArray  # (R,) what the slice is of the stream
    slot: IntArray  # (R,) slot of the row's task, for rows that the stream lacks

    def intact(self, value: FloatArray, means: FloatArray) -> FloatArray:
        """Return what is intact of each row, shape (R,)."""
        total = np.bincount(self.row, self.weight * value[self.sender], minlength=len(self.part))
        kept = np.divide(total, self.part, out=means[self.slot], where=self.part > 0.0)
        return np.asarray(np.minimum(kept, 1.0), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Streams of one root into one operator; a row is a slice of a task, R rows."""

    streams: tuple[_SlicedStream, ...]
    task: IntArray  # (R,)
    slices: IntArray  # (R,) task of the root
    weight: FloatArray  # (R,) of the slice in the task, summing to 1 for each task


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One operator: unrelated slots are multiplied by task, groups by slice; ``first`` is its first row of all."""

    tasks: slice
    slots: IntArray
    slot_task: IntArray
    groups: tuple[_Group, ...]
    first: int
    rows: int
    shares_root: bool


@dataclass(frozen=True, slots=True, eq=False)
class KeyAlignedModel:
    """Key-aligned fidelity of one topology, prepared for any set of live tasks."""

    base: FidelityModel
    sources: tuple[tuple[slice, int], ...]  # tasks and first row of operators without input
    levels: tuple[tuple[Level, tuple[_Step, ...]], ...]
    rows: int

    def intact(self, live: BoolArray) -> FloatArray:
        """Return what is intact of each task's output, shape (tasks,)."""
        intact, value = live.astype(np.float64), np.zeros(self.rows)
        for tasks, first in self.sources:
            value[first : first + tasks.stop - tasks.start] = intact[tasks]
        for level, steps in self.levels:
            means = level.means(intact)
            for step in steps:
                _apply(step, live, means, intact, value)
        return intact

    def fidelity(self, live: BoolArray) -> float:
        """Return the key-aligned fidelity, between 0 and 1; 1 where the topology has no output."""
        return self.base.of_intact(self.intact(live))


def _apply(step: _Step, live: BoolArray, means: FloatArray, intact: FloatArray, value: FloatArray) -> None:
    """Fill in what is intact of an operator's tasks and rows."""
    kept = live.astype(np.float64)
    np.multiply.at(kept, step.slot_task, means[step.slots])
    for group in step.groups:
        each = live[group.task].astype(np.float64)
        for stream in group.streams:
            each *= stream.intact(value, means)
        some = np.unique(group.task)
        kept[some] *= np.minimum(np.bincount(group.task, group.weight * each, minlength=len(live))[some], 1.0)
        if step.shares_root:
            value[step.first : step.first + step.rows] = each
    intact[step.tasks] = kept[step.tasks]
    if not step.shares_root:
        value[step.first : step.first + step.rows] = kept[step.tasks]


def key_aligned_model(graph: TaskGraph, rates: Rates) -> KeyAlignedModel:
    """Prepare the scoring of a topology; O(tasks + substreams + slices of all tasks)."""
    base = fidelity_model(graph, rates)
    builder = _SliceLayout(graph)
    built = []
    fed = {int(i) for level in base.levels for i in np.unique(graph.operator_of[level.task])}
    sources = tuple((graph.slice_of(i), builder.own_root(i)) for i in graph.order if i not in fed)
    for level in base.levels:
        here = np.unique(graph.operator_of[level.task]).tolist()
        built.append((level, tuple(builder.step(i, level) for i in here)))
    return KeyAlignedModel(base, sources, tuple(built), builder.rows)


class _SliceLayout:
    """Lays out rows: for each operator its root and, by row, task, slice and weight."""

    def __init__(self, graph: TaskGraph) -> None:
        self.graph = graph
        self.rows = 0
        self.root: dict[int, int] = {}
        self.first: dict[int, int] = {}
        self.layout: dict[int, tuple[IntArray, IntArray, FloatArray]] = {}

    def own_root(self, i: int) -> int:
        """Make an operator its own root; return its first row."""
        tasks = self.graph.slice_of(i)
        every = np.arange(tasks.start, tasks.stop)
        return self._lay(i, i, every, every, np.ones(len(every)))

    def _lay(self, i: int, root: int, task: IntArray, slices: IntArray, weight: FloatArray) -> int:
        self.root[i], self.first[i], self.layout[i] = root, self.rows, (task, slices, weight)
        self.rows += len(task)
        return self.first[i]

    def step(self, i: int, level: Level) -> _Step:
        """Return the step of an operator with inputs."""
        graph, owner = self.graph, level.task[level.owner]
        edges = graph.in_edges[i]
        wide = {e.source for e in edges if e.substreams is not None or e.partitioning == "full"}
        by_root: dict[int, list[int]] = {}
        for source in sorted({e.source for e in edges} - wide):
            by_root.setdefault(self.root[source], []).append(source)
        join = graph.topology.operators[i].inputs == "correlated"
        shares = not wide and len(by_root) == 1
        chosen = {r: s for r, s in by_root.items() if shares or (join and len(s) > 1)}
        groups = tuple(self._group(i, level, owner, s, join) for s in chosen.values())
        used = [stream.slot for group in groups for stream in group.streams]
        slots = np.flatnonzero(graph.operator_of[owner] == i)
        slots = np.setdiff1d(slots, np.concatenate(used)) if used else slots
        tasks = graph.slice_of(i)
        if shares and len(np.unique(groups[0].task)) == tasks.stop - tasks.start:
            group = groups[0]
            first = self._lay(i, next(iter(chosen)), group.task, group.slices, group.weight)
            return _Step(tasks, slots, owner[slots], groups, first, len(group.task), True)
        first = self.own_root(i)
        return _Step(tasks, slots, owner[slots], groups, first, tasks.stop - tasks.start, False)

    def _group(self, i: int, level: Level, owner: IntArray, sources: list[int], join: bool) -> _Group:
        """Return the streams of one root: one for each source of a join, else one of all."""
        made = [self._entries(i, level, owner, part) for part in ([[s] for s in sources] if join else [sources])]
        total = self.graph.tasks
        keys = np.unique(np.concatenate([task * total + slices for _, task, slices, _, _ in made]))
        task, slices = keys // total, keys % total
        streams = []
        for sender, to, cut, weight, slot in made:
            row = np.searchsorted(keys, to * total + cut)
            of_task = np.zeros(total, dtype=np.int64)
            of_task[to] = slot
            part = np.bincount(row, weight, minlength=len(keys)).astype(np.float64, copy=False)
            streams.append(_SlicedStream(sender, row, weight, part, of_task[task]))
        return _Group(tuple(streams), task, slices, np.mean([s.part for s in streams], axis=0))

    def _entries(
        self, i: int, level: Level, owner: IntArray, sources: list[int]
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]:
        """Return (row of the sender, receiver, slice, weight, slot) of each substream and slice."""
        from_op = self.graph.operator_of[level.sender]
        into = self.graph.operator_of[owner[level.slot]] == i
        parts = []
        for source in sources:
            task, slices, weight = self.layout[source]
            pairs = np.flatnonzero(into & (from_op == source))
            low = np.searchsorted(task, level.sender[pairs])
            count = np.searchsorted(task, level.sender[pairs], side="right") - low
            pair = np.repeat(pairs, count)
            row = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(low, count)
            slot = level.slot[pair]
            parts.append((row + self.first[source], owner[slot], slices[row], level.weight[pair] * weight[row], slot))
        a, b, c, d, e = zip(*parts, strict=True)
        return np.concatenate(a), np.concatenate(b), np.concatenate(c), np.concatenate(d), np.concatenate(e)
