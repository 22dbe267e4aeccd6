"""Small repairs in which nodes and tasks fail on the way, and schedules of them drawn at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.failure import FailureEvent
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair


def random_burst(seed: int, most_tasks: int = 5) -> RecoveryProblem:
    """Return a repair of some tasks; others live, on a node that fails later more often than not, some with standbys.

    One or two things fail later: nodes, now and then with what was recovered there, or a task by itself.
    """
    problem, rng = random_repair(seed, most_tasks), np.random.default_rng(seed + 1_000_000)
    tasks = problem.graph.tasks
    failed = rng.random(tasks) < 0.6
    dying = problem.live_hosts
    live = dying + 1
    hosts = [*problem.hosts[:dying], Host("dying", float(rng.choice([0.0, 0.5, 1.0]))), *problem.hosts[dying:]]
    home = np.where(rng.random(tasks) < 0.6, dying, rng.integers(0, live, tasks))
    standby = np.where(~failed & (rng.random(tasks) < 0.2), rng.integers(0, live, tasks), -1)
    events: list[FailureEvent] = []
    for at_s in np.sort(rng.choice([4.0, 10.0, 15.0, 25.0, 32.0], int(rng.integers(1, 3)), replace=False)).tolist():
        if rng.random() < 0.75:
            host = int(rng.integers(0, len(hosts))) if events or rng.random() < 0.5 else dying
            nodes = frozenset([str(hosts[host].id)])
            events.append(FailureEvent(at_s, "node", nodes, np.zeros(0, dtype=np.int64)))
        else:
            events.append(FailureEvent(at_s, "task", frozenset(), rng.integers(0, tasks, 1)))
    return replace(
        problem,
        hosts=tuple(hosts),
        live_hosts=live,
        failed=failed,
        home=np.where(failed, -1, home),
        standby=standby,
        arrivals=tuple(ArrivalEvent(item.at_s, item.host + 1, item.range_s) for item in problem.arrivals),
        failures=tuple(events),
        local_bytes={},
    )


class AtRandom:
    """Starts tasks in a random order on random hosts with room, now and then none."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self._eager = rng, rng.random()

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return what is started, and where."""
        room, pool, placed = np.where(state.there, state.free, 0.0), state.pool, []
        for task in self._rng.permutation(np.flatnonzero(state.down)).tolist():
            cost = float(state.cost[task])
            if self._rng.random() > self._eager and self._rng.random() < 0.5:
                continue
            for host in self._rng.permutation(len(room)).tolist():
                pooled = host < state.problem.live_hosts
                if cost <= room[host] and (not pooled or cost <= pool):
                    room[host] -= cost
                    pool -= cost if pooled else 0.0
                    placed.append(StepAssignment(task, host, cost))
                    break
        return Decision(np.array([item.task for item in placed], dtype=np.int64), placed=tuple(placed))


def least_at_random(problem: RecoveryProblem, draws: int, seed: int = 0) -> float:
    """Return the least Σ priority × seconds down of random schedules, infinite where none brings a query back."""
    options = RecoveryOptions(objective="priority-time", time_limit_s=60.0)
    rng, least = np.random.default_rng(seed), np.inf
    for _ in range(draws):
        result = construct_schedule(problem, options, AtRandom(rng))
        if result.answer is not None:
            least = min(least, priority_time_of(result.answer, problem))
    return least
