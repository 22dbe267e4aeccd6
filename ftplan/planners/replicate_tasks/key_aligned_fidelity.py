"""Key-aligned fidelity: output fidelity where a loss upstream of several streams of one join counts once.

A → B, A → C by key ranges, B ⋈ C by key, half of A lost: output fidelity takes the streams as unrelated and keeps 1/4;
with aligned keys they lack the same keys, and 1/2 is kept. The rules are those of output fidelity ([SuZhou2016],
section III) but for joins:

- An operator whose inputs all have one *root* shares that root. Any other operator with ``key_groups`` has the key
  groups of that number as its root, any other one itself. A *slice* is the key range of one task of the root, or a run
  of key groups that no operator divides.
- A stream by range (one-to-one, split, merge) has the root of its operator. A stream over a full edge has the key
  groups as its root where both its operators have the same number of them: key group g is with task
  ``floor(g · parallelism / key_groups)`` of each. Measured rates weigh both; where a full edge carries records between
  tasks without a key group in common, its keys are others. Any other stream has no root.
- In a join, streams of one root are multiplied slice by slice, the root's loss counting once, and the task keeps the
  mean over slices, weighted by the mean of the streams' weights. Other streams are unrelated and multiplied as in
  output fidelity. A stream without a slice that others have counts by its mean there.

It is in [0, 1], never falls when more tasks live, and equals output fidelity where no join has two streams of one root.
It is *not* always above output fidelity: where B lacks one half of the keys and C the other, the join has none of them.

Limits: operators with the same number of key groups are taken to hash the same key, which a topology cannot say. Keys
inside one slice are unrelated where a split made it finer, unless the receivers have its key groups. Of nested roots
only the nearest one counts: an operator behind unlike roots, or with an unrelated stream beside aligned ones, has
slices of its own. Substreams without a partitioning, and parallel edges of unlike ones, count as unaligned. Full edges
are by key for joins only: what other operators keep as a whole is as in output fidelity. What tasks weigh follows from
rates, not from how many key groups they have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel, Level, LevelBuilder, fidelity_model
from ftplan.model.rates import FullStream, Rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, FloatArray, IntArray


def key_aligned_model(graph: TaskGraph, rates: Rates) -> FidelityModel:
    """Return the model whose ``fidelity`` is the key-aligned one; cost O(tasks + substreams + slices of all tasks).

    Rows beside those of the tasks are slices of a task, and means of a stream. Where no join has two streams of one
    root this is :func:`~ftplan.model.measures.fidelity.fidelity_model`.
    """
    base, roots = fidelity_model(graph, rates), _roots(graph)
    return _Slicing(graph, rates, base, roots).model() if roots.groups else base


class _Roots(NamedTuple):
    """Roots of the operators by position: an operator, or -G for the key groups where there are G."""

    root: dict[int, int]
    shared: dict[int, tuple[int, ...]]  # the inputs of operators that share their root
    groups: dict[int, dict[int, tuple[int, ...]]]  # of joins: the inputs of each root that two or more have


def _roots(graph: TaskGraph) -> _Roots:
    roots = _Roots({}, {}, {})
    for i in graph.order:
        by_root: dict[int | None, list[int]] = {}
        for source in sorted({edge.source for edge in graph.in_edges[i]}):
            by_root.setdefault(_stream_root(graph, roots.root, source, i), []).append(source)
        aligned = {root: tuple(sources) for root, sources in by_root.items() if root is not None}
        groups = {root: sources for root, sources in aligned.items() if len(sources) > 1}
        if groups and graph.topology.operators[i].inputs == "correlated":
            roots.groups[i] = groups
        if len(by_root) == len(aligned) == 1:
            ((roots.root[i], roots.shared[i]),) = aligned.items()
        else:
            roots.root[i] = -_key_groups(graph, i) or i
    return roots


def _stream_root(graph: TaskGraph, root: dict[int, int], source: int, target: int) -> int | None:
    if _by_range(graph, source, target):
        return root[source]
    count = _key_groups(graph, target)
    keyed = count and (_key_groups(graph, source) == count or root[source] == -count)
    return -count if keyed and all(_by_key(graph, edge) for edge in _edges(graph, source, target)) else None


def _edges(graph: TaskGraph, source: int, target: int) -> list[Edge]:
    return [edge for edge in graph.in_edges[target] if edge.source == source]


def _by_range(graph: TaskGraph, source: int, target: int) -> bool:
    """Return whether a stream goes by range; where it was measured, each receiver has some of it."""
    edges = _edges(graph, source, target)
    receivers = graph.topology.operators[target].parallelism
    fed = (edge.substreams is None or len(np.unique(edge.substreams.to_index)) == receivers for edge in edges)
    return all(edge.partitioning in ("one-to-one", "split", "merge") for edge in edges) and all(fed)


def _by_key(graph: TaskGraph, edge: Edge) -> bool:
    """Return whether an edge may be full by key: where it was measured, between tasks with key groups in common."""
    if edge.partitioning != "full" or edge.substreams is None:
        return edge.partitioning == "full"
    first, count = graph.key_groups
    carries = edge.substreams.rate > 0.0
    sender = edge.substreams.from_index[carries] + graph.offset[edge.source]
    receiver = edge.substreams.to_index[carries] + graph.offset[edge.target]
    last = first + count
    return bool(((first[sender] < last[receiver]) & (first[receiver] < last[sender])).all())


def _key_groups(graph: TaskGraph, i: int) -> int:
    """Return the number of an operator's key groups, 0 where some task has none."""
    operator = graph.topology.operators[i]
    return operator.key_groups if operator.key_groups and operator.key_groups >= operator.parallelism else 0


class _Slices(NamedTuple):
    """Slices of an operator's tasks, by task; ``weight`` is what a slice is of its task, summing to 1 for each."""

    row: IntArray  # (S,) that holds what is intact of it
    task: IntArray  # (S,)
    slice: IntArray  # (S,) task of the root, or run of key groups
    weight: FloatArray  # (S,)


class _Slicing:
    """Adds the rows of slices to a model of output fidelity, level by level."""

    def __init__(self, graph: TaskGraph, rates: Rates, base: FidelityModel, roots: _Roots) -> None:
        self.graph, self.rates, self.base, self.roots = graph, rates, base, roots
        self.task_of = [np.arange(graph.tasks)]
        self.rows = graph.tasks
        self.sliced: dict[int, _Slices] = {}  # of operators that share a root
        self.wanted, keyed = self._wanted()
        self.first_group = {count: self._runs(operators) for count, operators in keyed.items()}

    def model(self) -> FidelityModel:
        """Return the model."""
        levels: list[Level] = []
        for level in self.base.levels:
            levels += self._levels(level)
        return FidelityModel(tuple(levels), self.base.outputs, self.base.weight, np.concatenate(self.task_of))

    def _wanted(self) -> tuple[set[int], dict[int, set[int]]]:
        """Return the operators whose slices some join multiplies, and those with aligned key groups by their number."""
        graph, roots = self.graph, self.roots
        wanted: set[int] = set()
        keyed: dict[int, set[int]] = {}
        for i in reversed(graph.order):
            groups = dict(roots.groups.get(i, {}))
            if i in wanted:
                groups[roots.root[i]] = roots.shared[i]
            for root, sources in groups.items():
                wanted |= {s for s in sources if s in roots.shared and roots.root[s] == root}
                if root < 0:
                    keyed.setdefault(-root, set()).update(k for k in (i, *sources) if _key_groups(graph, k) == -root)
        return wanted, keyed

    def _runs(self, operators: set[int]) -> IntArray:
        """Return the first key group of each run that none of the operators divides."""
        owners = [self.graph.topology.operators[i].task_of_key_groups() for i in sorted(operators)]
        new = [np.flatnonzero(np.diff(owner, prepend=-1)) for owner in owners]
        return np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *new]))

    def _run_sizes(self, count: int) -> IntArray:
        return np.diff(np.append(self.first_group[count], count))

    def _owner_of_runs(self, i: int, count: int) -> IntArray:
        """Return the task that has each run of key groups, shape (runs,)."""
        index = self.graph.topology.operators[i].task_of_key_groups()[self.first_group[count]]
        return np.asarray(index + self.graph.offset[i], dtype=np.int64)

    def _slices(self, i: int, root: int) -> _Slices:
        """Return the slices of an operator by a root: rows of their own, else those of its tasks."""
        if i in self.sliced and self.roots.root[i] == root:
            return self.sliced[i]
        if root >= 0:
            tasks = np.arange(self.graph.slice_of(i).start, self.graph.slice_of(i).stop)
            return _Slices(tasks, tasks, tasks, np.ones(len(tasks)))
        task, size = self._owner_of_runs(i, -root), self._run_sizes(-root)
        owned = np.bincount(task, size, minlength=self.graph.tasks)
        return _Slices(task, task, np.arange(len(task)), size / owned[task])

    def _levels(self, level: Level) -> list[Level]:
        """Return the levels of one depth: means of streams, slices, tasks."""
        means, slices, whole = (LevelBuilder(self.graph) for _ in range(3))
        here = set(self.graph.operator_of[level.task].tolist())
        kept = np.ones(level.slots, dtype=np.bool_)
        for i in (i for i in self.graph.by_id if i in here):
            alone = i in self.roots.shared
            for root, sources in self.roots.groups.get(i, {}).items():
                streams = [_Stream.of(self, level, i, root, (source,)) for source in sources]
                laid = self._lay(streams, level, means, slices, alone)
                kept[np.concatenate([stream.slots for stream in streams])] = False
                tasks, place = np.unique(laid.task, return_inverse=True)
                whole.pairs.append((laid.row, whole.new_slots(tasks)[place], laid.weight))
                if alone:
                    self.sliced[i] = laid
                    self.task_of[0][tasks] = self.graph.tasks  # its slices live or not
            if i in self.wanted and i not in self.sliced:
                root = self.roots.root[i]
                stream = _Stream.of(self, level, i, root, self.roots.shared[i])
                # by range the slices of a task make up the task; by key they do where the senders are whole tasks
                whole_tasks = stream.by_range and (root >= 0 or bool((stream.row < self.graph.tasks).all()))
                self.sliced[i] = (stream.by_task() if whole_tasks else None) or self._lay(
                    [stream], level, means, slices, True
                )
        if whole.slots:
            whole.copy(level, np.flatnonzero(kept), level.task[level.owner[kept]])
            return [made for made in (means.level(), slices.level(), whole.level()) if made is not None]
        return [*(made for made in (means.level(), slices.level()) if made is not None), level]

    def _new_rows(self, task_of: IntArray) -> IntArray:
        self.task_of.append(task_of)
        self.rows += len(task_of)
        return np.arange(self.rows - len(task_of), self.rows)

    def _lay(
        self, streams: list[_Stream], level: Level, means: LevelBuilder, slices: LevelBuilder, alone: bool
    ) -> _Slices:
        """Add a row for each slice of each task that some of the streams bring, with a slot for each stream.

        *alone*: these rows are down with their tasks; else the tasks' own rows are.
        """
        tasks, width = self.graph.tasks, self.graph.tasks + 1 + max([0, *self.first_group])
        keys = np.unique(np.concatenate([stream.task * width + stream.slice for stream in streams]))
        task = keys // width
        row = self._new_rows(task if alone else np.full(len(keys), tasks))
        parts = []
        for stream in streams:
            at = np.searchsorted(keys, stream.task * width + stream.slice)
            part = np.bincount(at, stream.weight, minlength=len(keys))
            parts.append(part)
            slot = slices.new_slots(row)
            some = part[at] > 0.0
            slices.pairs.append((stream.row[some], slot[at[some]], stream.weight[some] / part[at[some]]))
            lacking = np.flatnonzero(part <= 0.0)
            if len(lacking):
                missed, place = np.unique(task[lacking], return_inverse=True)
                mean = self._new_rows(np.full(len(missed), tasks))
                means.copy(level, stream.slots[np.searchsorted(level.task[level.owner[stream.slots]], missed)], mean)
                slices.pairs.append((mean[place], slot[lacking], np.ones(len(lacking))))
        return _Slices(row, task, keys % width, np.mean(parts, axis=0))


#: Row of the sender, receiver, slice, and part of the receiver's slot; each (E,).
_Entries = tuple[IntArray, IntArray, IntArray, FloatArray]


class _Stream(NamedTuple):
    """Slices that enter the tasks of an operator: row of the sender, task, slice, and part of the task's slot."""

    row: IntArray  # (E,)
    task: IntArray  # (E,)
    slice: IntArray  # (E,)
    weight: FloatArray  # (E,)
    slots: IntArray  # (N,) of the level, one for each task, ascending
    by_range: bool

    @staticmethod
    def of(slicing: _Slicing, level: Level, i: int, root: int, sources: tuple[int, ...]) -> _Stream:
        """Return the streams from some operators into another one, taken as one; for a join this is one operator."""
        operator_of = slicing.graph.operator_of
        into = operator_of[level.task][level.owner] == i
        entries, slots, by_range = [], [], True
        for source in sources:
            if _by_range(slicing.graph, source, i):
                pairs = np.flatnonzero(into[level.slot] & (operator_of[level.sender] == source))
                made = _entries_by_range(slicing._slices(source, root), level, pairs)
                if root < 0 and _key_groups(slicing.graph, i) == -root and _splits_evenly(slicing.graph, source, i):
                    made = _only_own_keys(made, slicing._owner_of_runs(i, -root))
                entries.append(made)
                slots.append(level.slot[pairs])
                continue
            by_range = False
            pairs = np.flatnonzero(into[level.slot] & (operator_of[level.sender] == source))
            first = level.gathered[np.searchsorted(level.gathering, np.arange(level.gatherings))]  # of each gathering
            spread = into[level.spread_slot] & (operator_of[first[level.spread]] == source)
            slots += [level.slot[pairs], level.spread_slot[spread]]
            part = _received(level, pairs, np.flatnonzero(spread), slicing.graph.tasks)
            entries.append(_entries_by_key(slicing, (source, i), -root, part))
        row, task, cut, weight = (np.concatenate([entry[k] for entry in entries]) for k in range(4))
        return _Stream(row, task, cut, weight, np.unique(np.concatenate(slots)), by_range)

    def by_task(self) -> _Slices | None:
        """Return the slices where each task has one, which its own row then holds; None elsewhere."""
        pairs = np.unique(np.stack((self.task, self.slice)), axis=1)
        if pairs.shape[1] > len(self.slots):
            return None
        return _Slices(pairs[0], pairs[0], pairs[1], np.ones(pairs.shape[1]))


def _entries_by_range(slices: _Slices, level: Level, pairs: IntArray) -> _Entries:
    """Return (row, receiver, slice, weight) for the slices of each substream's sender."""
    low = np.searchsorted(slices.task, level.sender[pairs])
    count = np.searchsorted(slices.task, level.sender[pairs], side="right") - low
    pair = np.repeat(pairs, count)
    at = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(low, count)
    receiver = level.task[level.owner[level.slot[pair]]]
    return slices.row[at], receiver, slices.slice[at], level.weight[pair] * slices.weight[at]


def _splits_evenly(graph: TaskGraph, source: int, target: int) -> bool:
    """Return whether a stream by range divides the tasks of an operator into several each, and these evenly."""
    senders, receivers = (graph.topology.operators[i].parallelism for i in (source, target))
    return senders < receivers and receivers % senders == 0


def _only_own_keys(entries: _Entries, owner: IntArray) -> _Entries:
    """Leave each receiver the key groups that it has, of those of its sender; *owner* by run, shape (runs,)."""
    row, receiver, cut, weight = entries
    own = owner[cut] == receiver
    kept = np.bincount(receiver, weight * own, minlength=int(owner.max()) + 1)[receiver]
    every = np.bincount(receiver, weight)[receiver]
    own |= kept <= 0.0
    weight = np.where(kept > 0.0, weight * every / np.where(kept > 0.0, kept, 1.0), weight)
    return row[own], receiver[own], cut[own], weight[own]


def _received(level: Level, pairs: IntArray, spread: IntArray, tasks: int) -> FloatArray:
    """Return what some substreams and full edges are of the slots of each receiver, shape (tasks,)."""
    sends = np.bincount(level.gathering, level.gather_weight, minlength=level.gatherings)
    to = level.task[level.owner[np.concatenate((level.slot[pairs], level.spread_slot[spread]))]]
    weight = np.concatenate((level.weight[pairs], level.spread_weight[spread] * sends[level.spread[spread]]))
    return np.bincount(to, weight, minlength=tasks).astype(np.float64, copy=False)


def _entries_by_key(slicing: _Slicing, ends: tuple[int, int], count: int, part: FloatArray) -> _Entries:
    """Return the entries of a stream over full edges, each slice to the task that has its keys, by what is sent."""
    graph, (source, target) = slicing.graph, ends
    slices = slicing._slices(source, -count)
    receiver = slicing._owner_of_runs(target, count)[slices.slice]
    pair, at = np.unique(slices.task * graph.tasks + receiver, return_inverse=True)
    whole = np.bincount(at, slices.weight)  # of the sender, by pair
    sent = np.zeros(len(pair))
    for stream in slicing.rates.streams:
        if (stream.source, stream.target) != ends:
            continue
        if isinstance(stream, FullStream):
            sent += stream.sent[pair // graph.tasks - graph.offset[source]] * whole
            continue
        named = (stream.sender + graph.offset[source]) * graph.tasks + stream.receiver + graph.offset[target]
        place = np.minimum(np.searchsorted(pair, named), len(pair) - 1)
        here = pair[place] == named
        sent += np.bincount(place[here], stream.rate[here], minlength=len(pair))
    weight = (sent / np.maximum(whole, 1e-300))[at] * slices.weight
    silent = np.bincount(receiver, weight, minlength=graph.tasks)[receiver] <= 0.0  # keys weigh alike
    weight = np.where(silent, slicing._run_sizes(count)[slices.slice], weight)
    total = np.bincount(receiver, weight, minlength=graph.tasks)
    return slices.row, receiver, slices.slice, part[receiver] * weight / total[receiver]
