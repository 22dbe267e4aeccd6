"""The time-expanded bound: what is up stays up, on the host where it was started, until that fails; relaxed, linear."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.step_function import StepFunctionBound
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.time_expanded_program import (
    ALL,
    OPEN_S,
    PLACED,
    RELAXED,
    TimeExpandedProgram,
    solve,
)
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import ClairvoyantRepair
from ftplan.planners.recovery_schedule.algorithms.repair.host_groups import HostGroups, host_groups

#: Pieces of time of the first program, the next and so on, with what is whole in it.
PROGRAMS = ((12, PLACED), (12, ALL), (20, ALL), (32, ALL))
#: Iterations of bounded work that one of them costs.
ITERATIONS = 4
#: Pieces of the linear program that says where to divide, and its share of the time.
DIVIDED, GUIDE = 40, 0.3
#: Columns of a program above which it is not built.
MOST_COLUMNS = 40_000
#: Times up to which all are looked at where something may be ready.
MOST_TIMES = 4_000


def time_expanded_bound(repair: ClairvoyantRepair, stairs: StepFunctionBound, budget: Budget, seed: int) -> float:
    """Return a lower bound on the priority × seconds that any schedule loses, that of *stairs* where none is proven.

    Time is divided into pieces. Binary x[j, h, e]: task j runs on host h by the end of epoch e, y[j, h, k] ≤ x: it has
    caught up there before the end of piece k; w[q, k] ≤ Σ_h y[j, h, k] for each task j that query q needs by then, and
    counts for the whole piece. Σ_h x[j, h, e] ≤ 1; Σ_j cost x[j, h, e] ≤ room; for each r in which tasks can first be
    started Σ seconds[j, h] y[j, h, k] over what is started not before r ≤ the seconds in lanes since then; Σ priority
    w[q, k] ≤ the stairs. x and y stay until the host fails or the task does. Pieces are divided where a solution of the
    program before has most to lose. Where there are many tasks and hosts a group of hosts is taken for one
    (:class:`HostGroups`). Nothing where tasks may be split or give way: their parts have no host.
    """
    if bool(repair.split.any()) or repair.problem.may_pause or not repair.is_small:
        return stairs.lost
    groups = host_groups(repair)
    if not groups.members:
        return stairs.lost
    best, found = stairs.lost, _even(repair, stairs)
    if _columns(groups, len(found.at_s)) <= MOST_COLUMNS:
        part = budget.part(GUIDE)
        answer = solve(TimeExpandedProgram(groups, found.at_s, stairs), part, RELAXED, seed)
        budget.cut |= part.cut
        if answer is not None:
            best, found = max(best, answer.lost), _Guide(found.at_s, answer.up, stairs.end_s)
    took_s, last = 0.0, (0, RELAXED)
    for pieces, whole in PROGRAMS[: budget.passes(ITERATIONS * len(PROGRAMS)) // ITERATIONS]:
        at_s = found.divided(_kept(repair), pieces)
        if (len(at_s), whole) == last or _columns(groups, len(at_s)) > MOST_COLUMNS or not budget.pays(took_s):
            break
        last, before_s = (len(at_s), whole), budget.left_s
        answer = solve(TimeExpandedProgram(groups, at_s, stairs), budget, whole, seed)
        took_s = before_s - budget.left_s
        best = best if answer is None else max(best, answer.lost)
        if answer is None or not answer.solved:  # finer ones take longer
            break
    return best


def _columns(groups: HostGroups, pieces: int) -> int:
    """Return about how many columns a program has."""
    repair = groups.repair
    several = any(not groups.alone(g) for g in range(len(groups.members)))
    again = len(repair.cost) if several else int((repair.far_s > 0.0).sum())
    pairs = len(groups.members) * (again * pieces + len(repair.cost) * len(repair.epochs))
    return pairs + repair.queries.queries * pieces


def _kept(repair: ClairvoyantRepair) -> FloatArray:
    """Return the times at which pieces have to begin: failures, and when something can run on another host."""
    times = [epoch.from_s for epoch in repair.epochs]
    for epoch in repair.epochs:
        first = repair.first_runs(epoch)
        times += first[(first > epoch.from_s) & (first < epoch.until_s)].tolist()
    return np.unique(times)


@dataclass(frozen=True, eq=False)
class _Guide:
    """Where time may be divided, and how much priority is up in each piece: what dividing there would gain."""

    at_s: FloatArray
    up: FloatArray
    end_s: float

    def divided(self, kept: FloatArray, pieces: int) -> FloatArray:
        """Return at most so many times, those kept among them, after which least is counted that is not up yet."""
        start = set(np.searchsorted(self.at_s, kept[kept < self.end_s], side="right").tolist())
        chosen = sorted({max(0, i - 1) for i in start} | {0})
        ends = np.append(self.at_s[1:], self.end_s)
        while len(chosen) < min(pieces, len(self.at_s)):
            gains = []
            for a, b in pairwise([*chosen, len(self.at_s)]):
                cut = np.arange(a + 1, b)
                if len(cut):
                    gain = (self.up[b - 1] - self.up[cut - 1]) * (ends[cut - 1] - self.at_s[a])
                    gains.append((float(gain.max()), -int(cut[int(np.argmax(gain))])))
            if not gains or max(gains)[0] <= 0.0:
                break
            chosen = sorted({*chosen, -max(gains)[1]})
        return np.asarray(self.at_s[chosen])


def _even(repair: ClairvoyantRepair, stairs: StepFunctionBound) -> _Guide:
    """Return times at which tasks can have caught up where these are few, even ones otherwise, and those kept."""
    kept = _kept(repair)
    if not bool((repair.far_s > 0.0).any()) and all(len(np.unique(epoch.replay_s)) <= 1 for epoch in repair.epochs):
        return _Guide(kept, np.arange(len(kept), dtype=np.float64), stairs.end_s)
    times = _attainable(repair, kept)
    if times is None:
        back_s = _all_back_s(repair)
        step = max(1e-3, min(back_s, stairs.end_s) / DIVIDED)
        spans = pairwise([*kept.tolist(), stairs.end_s])
        times = np.concatenate([np.arange(a, min(b, max(back_s, a + step)), step) for a, b in spans])
    times = times[times < stairs.end_s]
    at_s = np.unique(np.concatenate((kept, times[:: -(-len(times) // DIVIDED)])))
    at_s = at_s[np.append(True, np.diff(at_s) > OPEN_S)]
    place = np.searchsorted(stairs.at_s, np.append(at_s[1:], stairs.end_s), side="left") - 1
    return _Guide(at_s, stairs.most[place], stairs.end_s)


def _attainable(repair: ClairvoyantRepair, kept: FloatArray) -> FloatArray | None:
    """Return all times at which a task can have caught up, its lane never idle since it could begin; None where many.

    That is when some of the tasks have been fetched one after the other; some more times do no harm.
    """
    sums = {0.0}
    for seconds in np.unique(repair.seconds, axis=1).T.tolist():
        here = {0.0}
        for lasts in seconds:
            here |= {round(total + lasts, 9) for total in here} if lasts > 0.0 else set()
            if len(here) > MOST_TIMES:
                return None
        sums |= here
    begins = {float(t) for epoch in repair.epochs for t in np.unique(repair.begins(epoch)) if np.isfinite(t)}
    ready = np.unique(np.add.outer(np.array(sorted(begins)), np.array(sorted(sums))).ravel())
    times = [ready]
    for epoch in repair.epochs:
        kinds = np.unique(np.column_stack((epoch.replay_s, repair.catch_up, epoch.down_s)), axis=0)
        if len(kinds) * len(ready) > MOST_TIMES:
            return None
        times += [ready + add + rate * np.maximum(ready - down_s, 0.0) for add, rate, down_s in kinds.tolist()]
    return np.unique(np.concatenate([kept, *times]))


def _all_back_s(repair: ClairvoyantRepair) -> float:
    """Return about when the last task can be back: all restores in one lane of each host after the last arrival."""
    last = repair.epochs[-1]
    lanes = max(1, int(last.lives.sum())) * repair.problem.restores_at_once
    total = float(repair.seconds.min(axis=1, initial=np.inf).sum())
    there = repair.there_s[last.lives]
    latest = max(float(there.max(initial=0.0)), last.from_s)
    return latest + 4.0 * total / lanes + float(repair.seconds.max(initial=0.0))
