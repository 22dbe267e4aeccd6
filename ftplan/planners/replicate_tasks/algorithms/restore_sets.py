"""Sets of failed tasks whose replicas together shorten the restore of some query, and what each would save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.replicate_tasks.algorithms.models.downtime_relaxation import CaseRelaxation, Outages

#: Entries of sets and queries that are held at most.
MOST_ENTRIES = 3_000_000


@dataclass(frozen=True, eq=False)
class RestoreSets:
    """Sets of tasks that shorten the restore of some query. Entries are the tasks of all queries, one after another."""

    member: IntArray  # tasks of the sets, one after another
    set_of: IntArray  # of each member
    entry: IntArray  # task of each entry
    first: IntArray  # first entry of each query
    seconds: FloatArray  # restore of each entry
    outage: IntArray  # in which case and outage each entry fails
    worth: FloatArray  # probability x priority of each query
    lives: BoolArray  # (outages, N) whether a node outlives the outage
    pair_set: IntArray  # pairs of a set and a query that it shortens
    pair_query: IntArray
    other: IntArray  # entries of the query that are not in the set, for each pair, and one more without a restore
    other_first: IntArray

    @property
    def count(self) -> int:
        """Number of sets."""
        return int(self.set_of[-1]) + 1 if len(self.set_of) else 0

    def left_s(self, node: IntArray) -> FloatArray:
        """Return what of each entry's restore is left with replicas, shape (entries + 1,); the last one has none."""
        here = node[self.entry]
        live = (here != NOWHERE) & self.lives[self.outage, here]
        return np.append(np.where(live, 0.0, self.seconds), 0.0)

    def waiting(self, node: IntArray) -> float:
        """Return the expected priority x seconds that queries wait for restores alone."""
        if not len(self.entry):
            return 0.0
        return float(self.worth @ np.maximum.reduceat(self.left_s(node)[:-1], self.first))

    def saved(self, node: IntArray) -> FloatArray:
        """Return by how much each set would shorten that, if all its replicas lived, shape (sets,)."""
        if not len(self.pair_set):
            return np.zeros(self.count)
        left = self.left_s(node)
        longest = np.maximum.reduceat(left[:-1], self.first)
        without = np.maximum.reduceat(left[self.other], self.other_first)
        gain = self.worth[self.pair_query] * (longest[self.pair_query] - without)
        return np.asarray(np.bincount(self.pair_set, gain, self.count), dtype=np.float64)

    def tasks(self, number: int) -> IntArray:
        """Return the tasks of a set."""
        return self.member[slice(*np.searchsorted(self.set_of, (number, number + 1)))]


def restore_sets(cases: Sequence[CaseRelaxation]) -> RestoreSets:
    """Return for each query that goes down its tasks of the longest restores, of the two longest, ..., and all."""
    sets: dict[tuple[int, ...], None] = {}
    entries: list[IntArray] = []
    seconds: list[FloatArray] = []
    worth: list[float] = []
    lives: list[BoolArray] = []
    outage: list[int] = []
    for case in cases:
        for out in (case.start, *case.later):
            left_s = max(0.0, case.horizon_s - out.at_s)
            for tasks, priority in _tasks_of(out):
                restore = np.minimum(case.restore_s[tasks], left_s)
                for least in np.unique(restore)[::-1].tolist():
                    sets[tuple(sorted(tasks[restore >= least].tolist()))] = None
                for task in tasks[restore > 0.0].tolist():
                    sets[(task,)] = None
                entries.append(tasks)
                seconds.append(restore)
                worth.append(case.weight * priority)
                outage += [len(lives)] * len(tasks)
            lives.append(case.fails_s > out.at_s)
    none = np.zeros(0, dtype=np.int64)
    entry = np.concatenate([*entries, none]).astype(np.int64)
    first = np.cumsum([0, *(len(tasks) for tasks in entries)])[:-1].astype(np.int64)
    listed, pairs = _pairs(list(sets), entries, first)
    return RestoreSets(
        member=np.concatenate([np.array(each, dtype=np.int64) for each in listed] or [none]),
        set_of=np.repeat(np.arange(len(listed)), [len(each) for each in listed]),
        entry=entry,
        first=first,
        seconds=np.concatenate([*seconds, np.zeros(0)]),
        outage=np.array(outage, dtype=np.int64),
        worth=np.array(worth),
        lives=np.array(lives, dtype=np.bool_),
        pair_set=np.array([number for number, _, _ in pairs], dtype=np.int64),
        pair_query=np.array([query for _, query, _ in pairs], dtype=np.int64),
        other=np.concatenate([np.append(rest, len(entry)) for _, _, rest in pairs] or [none]).astype(np.int64),
        other_first=np.cumsum([0, *(len(rest) + 1 for _, _, rest in pairs)])[:-1].astype(np.int64),
    )


def _pairs(
    sets: list[tuple[int, ...]], entries: list[IntArray], first: IntArray
) -> tuple[list[tuple[int, ...]], list[tuple[int, int, IntArray]]]:
    """Return the sets, as many as :data:`MOST_ENTRIES` allow, and (set, query, other entries) where they meet."""
    queries: dict[int, list[int]] = {}
    for query, tasks in enumerate(entries):
        for task in tasks.tolist():
            queries.setdefault(task, []).append(query)
    pairs, size = [], 0
    for number, members in enumerate(sets):
        for query in sorted({query for task in members for query in queries[task]}):
            rest = np.flatnonzero(~np.isin(entries[query], members)) + first[query]
            pairs.append((number, query, rest))
            size += len(rest) + 1
        if size > MOST_ENTRIES:
            return sets[: number + 1], pairs
    return sets, pairs


def _tasks_of(out: Outages) -> Iterator[tuple[IntArray, float]]:
    """Yield the failed tasks and the priority of each query."""
    queries = out.queries
    for q, priority in enumerate(out.priority.tolist()):
        needed = np.zeros(queries.bundles, dtype=np.bool_)
        needed[queries.members(q)] = True
        yield queries.tasks_of(needed), priority
