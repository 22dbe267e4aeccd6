"""Plans that grow by MC-trees, one after another, on nodes that have room for them, and are ruined and grown again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, better, significant
from ftplan.planners.replicate_tasks.algorithms.search.completion import Completion, Trees, trees
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Costs that differ by less, of the cost, are equal.
EQUAL = 1e-12
#: Replicas of one node or operator, or of no kinship, that are given up together at most.
TOGETHER = 12


def improved(
    growth: TreeGrowth, room: ReplicaPlacement, prices: Sequence[Price], tries: int, seed: int
) -> ReplicaPlacement:
    """Return a solution that giving up replicas and growing again does not better, as far as it was tried.

    Each replica alone, that of least gain first; with hosts then those of a node together, then random ones. Replicas
    without use go with them. What is as good and cheaper is better.

    Cost: *tries* growths. Guarantee: no worse than *room*, within its limits.
    """
    waiting = _ruins(room, prices[0], seed)
    value = room.value
    for number in range(tries):
        given_up = next(waiting, None)
        if given_up is None or growth.budget.over():
            break
        other = growth.grown(without(room, given_up), prices[number % len(prices)], given_up[0])
        changed = other.value
        cheaper = not better(value, changed) and other.cost < room.cost - EQUAL * max(1.0, room.cost)
        if (better(changed, value) or cheaper) and other.within_changes:
            room, value = other, changed
            waiting = _ruins(room, prices[0], seed)
    return room


def without(room: ReplicaPlacement, tasks: list[int]) -> ReplicaPlacement:
    """Return a solution without some replicas and all that are of no use then."""
    other = room.copy()
    for task in tasks:
        other.remove(task)
    return trimmed(other)


def trimmed(room: ReplicaPlacement) -> ReplicaPlacement:
    """Return a solution without replicas of no use; where changes are limited those in place stay."""
    useful = room.problem.without_useless(room.node)
    tasks = np.flatnonzero(room.replicated & (useful == NOWHERE)).tolist()
    if not tasks:
        return room
    other = room.copy()
    for task in tasks:
        other.remove(task)
    return other


def _ruins(room: ReplicaPlacement, price: Price, seed: int) -> Iterator[list[int]]:
    """Yield sets of replicas to give up, that which must not come back at once first."""
    gain = room.single_changes
    tasks = np.flatnonzero(room.replicated & (room.problem.weight > 0.0))
    order = tasks[np.lexsort((tasks, significant(gain[tasks] / price.each[tasks])))].tolist()
    yield from ([task] for task in order)
    if len(order) < 2 or room.problem.hosts is None:
        return
    nodes = room.node[order]
    for node in dict.fromkeys(nodes.tolist()):
        here = [task for task, place in zip(order, nodes.tolist(), strict=True) if place == node]
        if len(here) > 1:
            yield here[:TOGETHER]
    draw = np.random.default_rng(seed)
    while True:
        count = int(draw.integers(2, max(3, min(TOGETHER, len(order)) + 1)))
        yield draw.permutation(order)[:count].tolist()


#: Plans that begin with another tree.
STARTS = 20
#: Tasks times starts up to which plans begin with another tree.
WORK = 100_000
#: One look at all candidates is good for this share of the replicas chosen so far, at least for one tree.
SHARE = 0.01
#: Trees that one look is good for at least, for each by which it is dearer than usual.
LEAST = 5
#: Trees for which one look may find no room, and looks without any that does; trees that are passed over.
STUCK, MAX_ROUNDS, MAX_IGNORED = 200, 20, 200
#: Tasks of the states whose trees are remembered.
REMEMBERED = 100_000
#: What a replica that costs nothing counts as, of the mean of all.
ALMOST_FREE = 1e-12


class Price(NamedTuple):
    """What each replica counts as, shape (T,), > 0; and how much of it a budget of 1 is, infinite where unrelated."""

    each: FloatArray
    per_budget: float


class _TreeCandidates(NamedTuple):
    """Trees that may fit and gain: profit density, failure case and the task that names each."""

    density: FloatArray
    case: IntArray
    task: IntArray

    def densest(self) -> list[tuple[int, int]]:
        """Return case and task of all, in descending order of density."""
        order = np.lexsort((self.task, self.case, -self.density))
        return list(zip(self.case[order].tolist(), self.task[order].tolist(), strict=True))


class TreeGrowth:
    """Grows plans of one problem by MC-trees, always by those of the largest profit density that find room."""

    def __init__(self, problem: ReplicationProblem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.completion = Completion(problem.model, problem.tasks)
        # Many tasks and cases make a round dear, so that fewer, larger rounds are made.
        self.share = min(1.0, SHARE * problem.looks**1.5)
        self.least = max(1, int(LEAST * (problem.looks - 1.0)))
        self.seen: dict[tuple[bytes, bytes, bool], Trees] = {}
        self.most_seen = max(2 * len(problem.cases), REMEMBERED // max(1, problem.tasks))
        total = problem.total_weight or 1.0
        self.cases = [(case.weight / total, case.failed) for case in problem.cases]

    @property
    def prices(self) -> list[Price]:
        """What a replica counts as in profit density: what it takes of the budget, and with hosts of the nodes."""
        weight, hosts = self.problem.weight, self.problem.hosts
        takes = [weight] if hosts is None else [weight, hosts.cpu]
        each = [np.maximum(some / (float(some.mean()) or 1.0), ALMOST_FREE) for some in takes]
        prices = [Price(each[0], 1.0 / (float(weight.mean()) or 1.0)), *(Price(some, np.inf) for some in each[1:])]
        ratio = each[-1] / each[0]
        if hosts is not None and self.problem.looks > 1.0:
            return [Price(each[0] + each[1], np.inf)]
        return prices[:1] if np.ptp(ratio) <= ROUNDING * np.max(ratio) else prices

    def starts(self, room: ReplicaPlacement, price: Price) -> list[ReplicaPlacement]:
        """Return a solution with another tree each: the densest that fits through a task of each operator."""
        if STARTS * self.problem.tasks > WORK or self.budget.over():
            return []
        priced = self._priced(room, price, False)
        starts: dict[int, ReplicaPlacement] = {}
        for case, task in self._candidates(room, priced, price).densest():
            operator = int(self.problem.graph.operator_of[task])
            if operator not in starts and len(starts) < STARTS:
                trial = room.copy()
                if not self._taken(trial, priced[case], case, task):
                    starts[operator] = trial
        return list(starts.values())

    def grown(
        self,
        room: ReplicaPlacement,
        price: Price,
        forbidden: int | None = None,
        steps: list[ReplicaPlacement] | None = None,
    ) -> ReplicaPlacement:
        """Return a solution with trees added while some fits and gains, none of them with a *forbidden* task.

        Every solution on the way is added to *steps*.
        """
        price = Price(price.each.copy(), price.per_budget)
        if forbidden is not None:
            price.each[forbidden] = np.inf
        barred: set[tuple[int, int]] = set()
        while not self.budget.over():
            possible = room.possible()
            if not self._may_grow(room, possible):
                break
            open_to = Price(np.where(possible | room.replicated, price.each, np.inf), price.per_budget)
            larger = self._round(room, open_to, barred, False) or self._round(room, open_to, barred, True)
            if larger is None:
                break
            price.each[np.isinf(open_to.each) & (possible | room.replicated)] = np.inf  # what found no place will not
            room = larger
            if steps is not None:
                steps.append(room)
        return room

    def _may_grow(self, room: ReplicaPlacement, possible: BoolArray) -> bool:
        """Return whether some replica may fit, or move from a node that fails with its primary."""
        open_to = possible & self.problem.fails & (room.cost + self.problem.weight <= room.limit)
        if bool((open_to & ~room.replicated).any()):
            return True
        pairs = zip(self.problem.cases, self.problem.down, strict=True)
        return any((case.failed & room.replicated & down[room.node]).any() for case, down in pairs if down.any())

    def _priced(self, room: ReplicaPlacement, price: Price, cheapest: bool) -> list[Trees]:
        """Return the densest trees in each case."""
        return [self._trees(live, price.each, cheapest) for live in self.problem.live_at(room.node)]

    def _trees(self, live: BoolArray, price: FloatArray, cheapest: bool) -> Trees:
        """Return the trees of one case; those of states seen lately are remembered."""
        missing = np.where(live, 0.0, price)
        key = (live.tobytes(), missing.tobytes(), cheapest)
        tree = self.seen.pop(key, None) or trees(self.completion, live, missing, cheapest)
        self.seen[key] = tree  # the latest last
        if len(self.seen) > self.most_seen:
            del self.seen[next(iter(self.seen))]
        return tree

    def _round(
        self, room: ReplicaPlacement, price: Price, barred: set[tuple[int, int]], cheapest: bool
    ) -> ReplicaPlacement | None:
        """Return a solution with the densest trees that fit and find room, None without any.

        Trees that fit nowhere are *barred*, and so are those that gain nothing in all cases together: where nodes fail
        a replica that moves may lose elsewhere.
        """
        for _ in range(MAX_ROUNDS):
            priced = self._priced(room, price, cheapest)
            larger, stuck = room.copy(), 0
            taken: list[tuple[int, int]] = []
            most, passed = max(self.least, int(self.share * room.replicated.sum())), 0
            for case, task in self._candidates(room, priced, price).densest():
                if len(taken) >= most or passed >= MAX_IGNORED + most or stuck >= STUCK:
                    break
                if (case, task) in barred:
                    continue
                missing = self._taken(larger, priced[case], case, task)
                if missing:
                    barred.add((case, task))
                    stuck += 1
                    if len(missing) == 1:
                        price.each[missing[0]] = np.inf
                    continue
                if missing is None:
                    passed += 1
                else:
                    taken += [(case, task)] * max(1, int(larger.replicated.sum() - room.replicated.sum()) - len(taken))
            if taken and (not self.problem.nodes_fail or better(larger.value, room.value)):
                return larger
            barred.update(taken)
            if self.budget.over() or (not taken and stuck < STUCK):
                break
        return None

    def _taken(self, room: ReplicaPlacement, tree: Trees, case: int, task: int) -> list[int] | None:
        """Add the tree through a task to a solution; return which replicas found no room or budget, none where all did.

        None where nothing is missing any more; also for too little budget where another look would be dear.
        """
        down, node = self.problem.down[case], room.node
        missing = [t for t in tree.missing(task) if node[t] == NOWHERE or down[node[t]]]
        new = [t for t in missing if node[t] == NOWHERE]
        if not missing:
            return None
        if room.cost + float(self.problem.weight[new].sum()) > room.limit:
            return new if self.problem.looks <= 1.0 else None
        return room.add(missing, case)

    def _candidates(self, room: ReplicaPlacement, priced: list[Trees], price: Price) -> _TreeCandidates:
        """Return the trees that may fit into what is left of the budget, and gain."""
        left = np.inf if np.isinf(price.per_budget) else (room.limit - room.cost) * price.per_budget
        single = np.zeros(self.problem.tasks)
        for tree, (share, failed) in zip(priced, self.cases, strict=True):
            single += share * failed * tree.change
        densities, cases, tasks = [], [], []
        for case, (tree, (share, failed)) in enumerate(zip(priced, self.cases, strict=True)):
            gain = share * tree.gain
            if len(priced) > 1:  # a single replica counts in every case
                gain = np.maximum(gain, np.where(failed & ~room.replicated, single, 0.0))
            fits = (tree.cost > 0.0) & np.isfinite(tree.cost) & (gain > 0.0)
            fits &= tree.cost <= left * (1.0 + ROUNDING) + ROUNDING
            task = np.flatnonzero(fits)
            densities.append(gain[task] / tree.cost[task])
            cases.append(np.full(len(task), case))
            tasks.append(task)
        return _TreeCandidates(significant(np.concatenate(densities)), np.concatenate(cases), np.concatenate(tasks))
