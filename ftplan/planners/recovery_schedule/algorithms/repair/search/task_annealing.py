"""Search over the host of each task by simulated annealing, judged by what a placement gains as a whole."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement

#: Tasks above which it is not tried: a round costs as much as there are tasks.
MOST_TASKS = 1_000
#: Rounds for each task and pass, and passes where nothing else limits them.
ROUNDS_PER_PASS, PASSES = 20, 127
#: Temperature at the start and the end of a cycle, of what the start gains for each task.
HOT, COLD = 0.3, 1e-3
#: Rounds between two looks at the clock.
LOOK_EVERY = 50
#: Shares of the moves: two tasks change places, one goes elsewhere, one takes the place of another that goes elsewhere;
#: the rest are of the order.
SWAP, MOVE, SHIFT = 0.4, 0.75, 0.9

Gain = Callable[[RepairPlacement], float]


def anneal_tasks(
    instance: RepairInstance, start: RepairPlacement, gain: Gain, budget: Budget, seed: int
) -> RepairPlacement:
    """Return a placement that gains no less than *start*; tasks begin at the first step of their hosts.

    In cycles, each twice as long as the one before and from the best placement so far; no guarantee.
    ``budget.iterations`` bounds the passes over the tasks; more go on where fewer end, and never gain less. The clock
    may end a cycle early, which then cools down sooner. Cost of a round: one evaluation.
    """
    tasks = len(instance.task)
    if tasks < 2 or tasks > MOST_TASKS or len(instance.host) == 0 or start.step_s is not None:
        return start
    search = _Annealing(instance, start, gain, seed)
    total = ROUNDS_PER_PASS * tasks * budget.passes(PASSES)
    cycle, done = ROUNDS_PER_PASS * tasks, 0
    while done < total and not budget.over():
        search.cycle(cycle, min(cycle, total - done), budget)
        done += cycle
        cycle *= 2
    return search.best


class _Annealing:
    """A placement under search."""

    def __init__(self, instance: RepairInstance, start: RepairPlacement, gain: Gain, seed: int) -> None:
        self.best, self.best_gain = start, gain(start)
        self._instance, self._gain, self._random = instance, gain, random.Random(seed)
        self._cost = instance.cost.tolist()
        self._restores = bool((instance.restore_s > 0.0).any())
        self._unit = max(abs(self.best_gain), 1e-9) / len(instance.task)

    def cycle(self, rounds: int, many: int, budget: Budget) -> None:
        """Make the first *many* of the rounds of a cycle."""
        self._load()
        began, left_s, planned = now(), budget.left_s, rounds
        for done in range(many):
            if done and done % LOOK_EVERY == 0:
                if budget.over():
                    return
                possible = int(done * left_s / max(now() - began, 1e-9))
                if possible < min(planned, many):
                    planned, budget.cut = max(possible, done), True
            self._round(self._unit * HOT * (COLD / HOT) ** min(1.0, done / planned))

    def _load(self) -> None:
        instance = self._instance
        self._host, self._order = self.best.host.tolist(), self.best.order.tolist()
        used = np.bincount(
            self.best.host[self.best.host >= 0],
            instance.cost[self.best.host >= 0],
            minlength=len(instance.host),
        )
        self._room = (instance.room - used + ROUNDING * np.maximum(1.0, instance.room)).tolist()
        self._pool = instance.pool - float(used[: instance.pooled].sum()) + ROUNDING * max(1.0, instance.pool)
        self._current = self.best_gain

    def _round(self, temperature: float) -> None:
        """Try one move."""
        kind, draw, tasks = self._random.random(), self._random.randrange, len(self._host)
        if kind > SHIFT and self._restores:
            self._reorder(draw(tasks), draw(tasks), temperature)
            return
        a, b = draw(tasks), draw(tasks)
        host_a, host_b = self._host[a], self._host[b]
        elsewhere = draw(len(self._room) + 1) - 1
        if kind <= SWAP:
            moves = {a: host_b, b: host_a}
        elif kind <= MOVE:
            moves = {a: elsewhere}
        else:
            moves = {a: host_b, b: elsewhere}
        moves = {task: host for task, host in moves.items() if self._host[task] != host}
        if not moves:
            return
        before = {task: self._host[task] for task in moves}
        self._put(moves)
        if not self._fits(moves) or not self._accepted(temperature):
            self._put(before)

    def _put(self, moves: dict[int, int]) -> None:
        """Move tasks, whether there is room or not."""
        pooled = self._instance.pooled
        for task, host in moves.items():
            cost = self._cost[task]
            for at, cores in ((self._host[task], cost), (host, -cost)):
                if at != NOWHERE:
                    self._room[at] += cores
                    self._pool += cores if at < pooled else 0.0
            self._host[task] = host

    def _fits(self, moves: dict[int, int]) -> bool:
        return self._pool >= 0.0 and all(host == NOWHERE or self._room[host] >= 0.0 for host in moves.values())

    def _reorder(self, a: int, b: int, temperature: float) -> None:
        """Let two tasks change places in the order of restores."""
        order = self._order
        order[a], order[b] = order[b], order[a]
        if not self._accepted(temperature):
            order[a], order[b] = order[b], order[a]

    def _accepted(self, temperature: float) -> bool:
        """Return whether to go on from the placement as it is, and keep it where it is the best."""
        placement = RepairPlacement(np.array(self._host, dtype=np.int64), np.array(self._order, dtype=np.int64))
        gained = self._gain(placement)
        change = gained - self._current
        if change < 0.0 and self._random.random() >= math.exp(change / temperature):
            return False
        self._current = gained
        if gained > self.best_gain and self._instance.fits(placement.host):
            self.best, self.best_gain = placement, gained
        return True
