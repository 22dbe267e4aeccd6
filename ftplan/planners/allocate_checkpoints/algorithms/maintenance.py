"""Keeping an allocation good over time: move what improves it most, and no more than needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions, allocation
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, limits_of
from ftplan.planners.allocate_checkpoints.algorithms.search.best_first import best_first
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import (
    CopyMigration,
    CurrentAllocation,
    MoveLimits,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.partial_restoration import (
    least_cost,
    padded,
    restore_in_part,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.restoration import Restored, lead_back, restore
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result

#: Share of the time limit that maintenance has after a fresh plan took all of it.
LEAST_TIME_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What maintenance did. ``before``, ``after`` and ``fresh`` are costs as planners count them: low is good.

    ``restoring`` is how many of the moves were made for broken rules. ``bound_by``: ``best`` (a fresh plan is no
    better), ``threshold``, ``max-moves`` or ``max-bytes``. ``full_restoration`` are the moves and bytes that keeping
    all rules would take, None where they are kept; ``still_broken`` names the rules that then stay broken.
    """

    before: float
    after: float | None
    fresh: float
    random: float
    moves: int
    size: float
    restoring: int
    bound_by: str
    full_restoration: tuple[int, float] | None = None
    still_broken: tuple[str, ...] = ()


class _MaintenanceTask(NamedTuple):
    """What maintenance starts from and aims at: ``target`` is the cost that is good enough."""

    current: CurrentAllocation
    limits: Limits
    allowance: MoveLimits
    target: float

    def migration(self, copies: IntArray) -> CopyMigration:
        """Return the migration from the current copies to these (U, c)."""
        working = WorkingAllocation.of(self.current.problem, self.limits, copies)
        return CopyMigration.of(working, self.current, self.allowance)


def maintain(
    fresh: Result[Allocation],
    nodes: Sequence[Sequence[int]],
    allowance: MoveLimits,
    options: AllocationOptions,
    budget: Budget,
) -> tuple[Result[Allocation], MaintenanceReport | None]:
    """Move the copies in place until they are within the threshold of a fresh plan, or a limit on moves is reached.

    *nodes* holds the node positions of each key group's copies now. First what breaks a rule of the fresh plan is
    restored with as few moves as possible; then the moves that save most are made. Where single moves and exchanges
    get stuck, the fresh plan itself is taken and led back towards the current copies as far as threshold and rules
    allow.

    Guarantee: keeps the rules of the fresh plan; within *max_moves* and *max_bytes*; never costs more than the
    current copies where these keep the rules; without limits on moves within the threshold of the fresh plan. The
    number of moves is not the least, except where nothing but restoration was needed and the proof says so. Where
    restoration takes more than is allowed, a part is restored (:func:`restore_in_part`): the answer then claims no
    rules, and who knows the cluster says which it keeps.

    Source: [Madsen2015], section 6, Temporal changes. Departures: the difference is relative to what a random plan
    loses against the fresh one, since costs cross zero; limits on moves, exchanges and restoration are additions.
    """
    answer = fresh.answer
    if answer is None:
        return fresh, None
    problem = answer.problem.by_group
    target = answer.value + allowance.threshold * max(problem.random_value - answer.value, 0.0)
    task = _MaintenanceTask(CurrentAllocation(problem, nodes), limits_of(problem, answer.rules), allowance, target)
    restored = restore(task.current, task.limits, answer.copies, allowance, options.seed, budget)
    migration = task.migration(restored.copies)
    over = migration.exceeded()
    report = MaintenanceReport(
        task.current.value,
        after=None,
        fresh=answer.value,
        random=problem.random_value,
        moves=0,
        size=0.0,
        restoring=migration.moves,
        bound_by=over[0] if over else "best",
    )
    if over:
        return _restored_in_part(fresh, task, restored, report, budget)
    copies, blocked = restored.copies, tuple[str, ...]()
    if migration.value > target + task.current.problem.noise:
        best_first(migration, target, budget)
        copies = _feasible_or(migration, restored.copies)
        if problem.value(copies) > target + task.current.problem.noise:
            copies, blocked = _from_fresh(task, answer.copies, copies, budget)
    return _result(fresh, task, copies, blocked, report)


def _feasible_or(migration: CopyMigration, start: IntArray) -> IntArray:
    """Return the copies, or those at the start where rounding in the running sums let a limit slip."""
    return migration.allocation.copies if migration.allocation.is_feasible() else start


def _from_fresh(
    task: _MaintenanceTask, fresh: IntArray, incumbent: IntArray, budget: Budget
) -> tuple[IntArray, tuple[str, ...]]:
    """Lead the fresh copies back towards the current ones; return these or the incumbent, and the limits that blocked.

    Copies go back, the cheapest first, as long as the cost stays within the target; and beyond it while there are
    more moves than allowed. Cost O(U c log(U c)) a pass.
    """
    problem = task.current.problem
    migration = task.migration(fresh)
    working = migration.allocation

    def at_home(slot: int) -> bool:
        """Whether it has gone back in this pass already, so that its added cost is another."""
        return bool(task.current.held[slot // problem.copies, working.flat[slot]])

    lead_back(migration, lambda slot, added: not at_home(slot) and migration.value + added <= task.target)
    if not working.is_feasible():  # only what was too large to be checked all along
        blocked = task.migration(fresh).exceeded()
        return (incumbent, blocked) if blocked else (fresh, ())
    blocked = migration.exceeded()
    if not blocked:  # these copies are good enough
        return working.copies, ()
    lead_back(migration, lambda slot, _: not at_home(slot) and bool(migration.exceeded()))
    if not migration.exceeded():
        best_first(migration, task.target, budget)
        copies = _feasible_or(migration, incumbent)
        if problem.value(copies) < problem.value(incumbent):
            incumbent = copies
    return incumbent, () if problem.value(incumbent) <= task.target else blocked


def _result(
    fresh: Result[Allocation],
    task: _MaintenanceTask,
    copies: IntArray,
    blocked: tuple[str, ...],
    report: MaintenanceReport,
) -> tuple[Result[Allocation], MaintenanceReport]:
    """Return the result of copies (U, c) within all rules, with the status by their gap to the fresh plan's bound."""
    answer, problem = fresh.answer, task.current.problem
    assert answer is not None
    after, moves = problem.value(copies), task.current.moves(copies)
    bound_by = blocked[0] if blocked else "threshold"
    if not blocked and not moves and after <= answer.value + task.current.problem.noise:
        bound_by = "best"
    report = replace(report, after=after, moves=moves, size=task.current.size(copies), bound_by=bound_by)
    status, bound = problem.judged(after, fresh.bound)
    result = replace(
        fresh,
        status=status,
        answer=allocation(problem, copies, answer.rules),
        bound=bound,
        reason=_reason(report, task.allowance, blocked),
    )
    return result, report


def _restored_in_part(
    fresh: Result[Allocation], task: _MaintenanceTask, full: Restored, report: MaintenanceReport, budget: Budget
) -> tuple[Result[Allocation], MaintenanceReport]:
    """Restore what the limits on moves allow; *full* is what would keep all rules and takes more."""
    answer, allowance = fresh.answer, task.allowance
    assert answer is not None
    moves, size = task.current.moves(full.copies), task.current.size(full.copies)
    part = restore_in_part(task.current, task.limits, allowance, budget)
    copies = padded(part)
    report = replace(
        report,
        after=part.value,
        moves=part.moves,
        size=part.size,
        restoring=part.moves,
        full_restoration=(moves, size),
    )
    over = allowance.exceeded(moves, size)
    proven = {"max-moves": full.least_moves >= moves, "max-bytes": full.least_size >= size * (1 - 1e-9)}
    least = "at least " if all(proven[name] for name in over) else ""
    reason = (
        f"{_moved(part.moves) if part.moves else 'no change'}: {allowance.refusal(over)}, and mending all "
        f"rules that the copies in place break takes {least}{moves} moves of {size:.12g} bytes"
    )
    bound = None if fresh.bound is None else min(least_cost(task.current), part.value)
    kept = Allocation(answer.problem, copies, answer.rules)
    return replace(fresh, status="feasible", answer=kept, rules=(), bound=bound, reason=reason), report


def _reason(report: MaintenanceReport, allowance: MoveLimits, blocked: tuple[str, ...]) -> str:
    """Return in one sentence what was done and what ended it."""
    assert report.after is not None
    scale = report.random - report.fresh
    off = max(report.after - report.fresh, 0.0)
    far = f"{off / scale:.4g} of what a random plan loses against a fresh one" if scale > 0 else f"{off:.6g}"
    done = _moved(report.moves)
    if report.restoring:
        done += f" ({report.restoring} to mend broken rules)"
    if not report.moves:
        done = "no change"
    if blocked:
        return f"{done}: {allowance.refusal(blocked)}; a fresh plan is better by {far}"
    if report.bound_by == "best":
        return f"{done}: a fresh plan is no better than the copies in place"
    if off <= 0:
        return f"{done}: as good as a fresh plan"
    return f"{done}: {far} is left, within --threshold {allowance.threshold:g}"


def _moved(moves: int) -> str:
    return f"moved {moves} copies" if moves != 1 else "moved 1 copy"
