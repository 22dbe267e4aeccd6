"""Keeping an allocation good over time: move what improves it most, and no more than needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.allocation import Allocation, allocation
from ftplan.planners.checkpoints.options import AllocationOptions
from ftplan.planners.checkpoints.rules.limits import Limits, limits_of
from ftplan.planners.checkpoints.search.best_first import best_first
from ftplan.planners.checkpoints.search.copies_in_place import MoveLimits, Moving, Present
from ftplan.planners.checkpoints.search.partial_restoration import least_cost, mend_in_part, padded
from ftplan.planners.checkpoints.search.restoration import Mended, fits, mend, returns
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation
from ftplan.planners.result import Result

#: Share of the time limit that upkeep has after a fresh plan took all of it.
LEAST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Upkept:
    """What upkeep did. ``before``, ``after`` and ``fresh`` are costs as planners count them: low is good.

    ``bound_by``: ``best`` (a fresh plan is no better), ``threshold``, ``max-moves`` or ``max-bytes``. ``mended`` is
    how many of the moves were made for broken rules. ``needed`` are the moves and bytes that mending all would take,
    None where it is done; ``still_broken`` names the rules that then stay broken.
    """

    before: float
    after: float | None
    fresh: float
    random: float
    moves: int
    size: float
    mended: int
    bound_by: str
    needed: tuple[int, float] | None = None
    still_broken: tuple[str, ...] = ()


def upkeep(
    fresh: Result[Allocation],
    nodes: Sequence[Sequence[int]],
    allowance: MoveLimits,
    options: AllocationOptions,
    budget: Budget,
) -> tuple[Result[Allocation], Upkept | None]:
    """Move the copies in place until they are within the threshold of a fresh plan, or a limit on moves is reached.

    *nodes* holds the node positions of each key group's copies now. First what breaks a rule of the fresh plan is
    mended with as few moves as possible; then the moves that save most are made. Where single moves and exchanges
    get stuck, the fresh plan itself is taken and led back towards the present as far as threshold and rules allow.

    Guarantee: keeps the rules of the fresh plan; within *max_moves* and *max_bytes*; never costs more than the
    present where that keeps the rules; without limits on moves within the threshold of the fresh plan. The number of
    moves is not the least, except where nothing but mending was needed and the proof says so. Where mending takes more
    than is allowed, what is allowed mends a part (:func:`mend_in_part`): the answer then claims no rules, and who
    knows the cluster says which it keeps.

    Source: Madsen & Zhou 2015, section 6, Temporal changes. The difference is relative to what a random plan loses
    against the fresh one, since costs cross zero; the limits, exchanges and mending are additions.
    """
    answer = fresh.answer
    if answer is None:
        return fresh, None
    problem = answer.problem.by_group
    present = Present.of(problem, nodes)
    limits = limits_of(problem, answer.rules)
    target = answer.value + allowance.threshold * max(problem.random_value - answer.value, 0.0)
    start = mend(present, limits, answer.copies, allowance, options.seed, budget)
    moving = Moving.at(WorkingAllocation.of(problem, limits, start.copies), present)
    mended = moving.moves
    over = allowance.exceeded(moving.moves, moving.size)
    report = Upkept(
        present.value, None, answer.value, problem.random_value, 0, 0.0, mended, over[0] if over else "best"
    )
    if over:
        return _in_part(fresh, nodes, present, limits, start, allowance, report, budget)
    copies = start.copies
    blocked: tuple[str, ...] = ()
    if moving.value > target + _noise(moving):
        best_first(moving, allowance, target, budget)
        copies = _checked(moving, start.copies)
        if problem.value(copies) > target + _noise(moving):
            copies, blocked = _from_fresh(answer.copies, copies, present, limits, allowance, target, budget)
    after, moves, size = problem.value(copies), present.moves(copies), present.size(copies)
    bound_by = blocked[0] if blocked else "threshold"
    if not blocked and not moves and after <= answer.value + _noise(moving):
        bound_by = "best"
    report = replace(report, after=after, moves=moves, size=size, bound_by=bound_by)
    closed = fresh.bound is not None and problem.gap(after, problem.settled_bound(after, fresh.bound)) <= 1e-9
    result = replace(
        fresh,
        status="optimal" if closed else "feasible",
        answer=allocation(problem, copies, answer.rules),
        bound=None if fresh.bound is None else problem.settled_bound(after, fresh.bound),
        reason=_reason(report, allowance, blocked),
    )
    return result, report


def _noise(moving: Moving) -> float:
    """Return by how much two sums of the same costs in another order may differ."""
    p = moving.placed.problem
    return 1e-12 * p.copies * float(np.abs(p.cost).max(axis=1, initial=0.0).sum())


def _checked(moving: Moving, start: IntArray) -> IntArray:
    """Return the copies, or those at the start where rounding in the running sums let a limit slip."""
    return moving.placed.copies if moving.placed.limits.kept(moving.placed.copies) else start


def _from_fresh(
    fresh: IntArray,
    found: IntArray,
    present: Present,
    limits: Limits,
    allowance: MoveLimits,
    target: float,
    budget: Budget,
) -> tuple[IntArray, tuple[str, ...]]:
    """Lead the fresh copies back towards the present; return the better of them and *found*, and what blocked.

    Copies go back, the cheapest first, as long as the cost stays within the target; and beyond it while there are
    more moves than allowed. Cost O(U c log(U c)) a pass.
    """
    problem = present.problem
    moving = Moving.at(WorkingAllocation.of(problem, limits, fresh), present)
    blocked: tuple[str, ...] = ()
    for strict in (True, False):
        changed = True
        while changed:
            changed = False
            for slot, node, added in returns(moving.placed, present):
                if not strict and not allowance.exceeded(moving.moves, moving.size):
                    break
                if present.here[slot // problem.copies, moving.placed.flat[slot]]:
                    continue  # it has gone back in this pass already, so that its added cost is another
                if (not strict or moving.value + added <= target) and fits(moving.placed, slot, node):
                    changed |= moving.make([(slot, node)])
        if strict:  # these copies are good enough
            blocked = allowance.exceeded(moving.moves, moving.size)
            if not blocked and limits.kept(moving.placed.copies):
                return moving.placed.copies, ()
            if not limits.kept(moving.placed.copies):  # only what was too large to be checked all along
                moving = Moving.at(WorkingAllocation.of(problem, limits, fresh), present)
                blocked = allowance.exceeded(moving.moves, moving.size)
                return (found, blocked) if blocked else (fresh, ())
    if not allowance.exceeded(moving.moves, moving.size):
        best_first(moving, allowance, target, budget)
        copies = _checked(moving, found)
        if problem.value(copies) < problem.value(found):
            found = copies
    return found, () if problem.value(found) <= target else blocked


def _in_part(
    fresh: Result[Allocation],
    nodes: Sequence[Sequence[int]],
    present: Present,
    limits: Limits,
    mended: Mended,
    allowance: MoveLimits,
    report: Upkept,
    budget: Budget,
) -> tuple[Result[Allocation], Upkept]:
    """Mend what the limits on moves allow; *mended* is what would keep all rules and takes more."""
    answer = fresh.answer
    assert answer is not None
    needed = present.moves(mended.copies), present.size(mended.copies)
    part = mend_in_part(present, nodes, limits, allowance, budget)
    moves, size = part.moves()
    copies = padded(part)
    report = replace(report, after=part.value, moves=moves, size=size, mended=moves, needed=needed)
    over = allowance.exceeded(*needed)
    proven = {"max-moves": mended.least_moves >= needed[0], "max-bytes": mended.least_size >= needed[1] * (1 - 1e-9)}
    least = "at least " if all(proven[name] for name in over) else ""
    given = {"max-moves": allowance.max_moves, "max-bytes": allowance.max_bytes}
    names = " and ".join(f"--{name} {given[name]:.12g}" for name in over)
    done = f"moved {moves} copies" if moves != 1 else "moved 1 copy"
    reason = (
        f"{done if moves else 'no change'}: {names} {'allow' if len(over) > 1 else 'allows'} no more, and mending all "
        f"rules that the copies in place break takes {least}{needed[0]} moves of {needed[1]:.12g} bytes"
    )
    bound = None if fresh.bound is None else min(least_cost(present), part.value)
    kept = Allocation(answer.problem, copies, answer.rules)
    return replace(fresh, status="feasible", answer=kept, rules=(), bound=bound, reason=reason), report


def _reason(report: Upkept, allowance: MoveLimits, blocked: tuple[str, ...]) -> str:
    """Return in one sentence what was done and what ended it."""
    assert report.after is not None
    scale = report.random - report.fresh
    off = max(report.after - report.fresh, 0.0)
    far = f"{off / scale:.4g} of what a random plan loses against a fresh one" if scale > 0 else f"{off:.6g}"
    done = f"moved {report.moves} copies" if report.moves != 1 else "moved 1 copy"
    if report.mended:
        done += f" ({report.mended} to mend broken rules)"
    if not report.moves:
        done = "no change"
    if blocked:
        given = {"max-moves": allowance.max_moves, "max-bytes": allowance.max_bytes}
        names = " and ".join(f"--{name} {given[name]:.12g}" for name in blocked)
        return f"{done}: {names} {'allow' if len(blocked) > 1 else 'allows'} no more; a fresh plan is better by {far}"
    if report.bound_by == "best":
        return f"{done}: a fresh plan is no better than the copies in place"
    if off <= 0:
        return f"{done}: as good as a fresh plan"
    return f"{done}: {far} is left, within --threshold {allowance.threshold:g}"
