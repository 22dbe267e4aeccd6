"""From the ring that a planner found to its result, and why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.plan import Infeasible, Warn
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.metrics import utilisations
from ftplan.planners.peer_ring.moves import with_all_copies, worth_moved
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.rules import CAPACITY, MOST_BYTES, broken, requested_rules, rules
from ftplan.planners.result import Result


def too_few_positions(problem: RingProblem) -> Infeasible | None:
    """Return why not each member can own a position, None if each can."""
    nodes, positions = len(problem.member), len(problem.position)
    if nodes <= positions:
        return None
    places = "1 place" if positions == 1 else f"{positions} places"
    reason = f"{nodes} nodes on the ring, but key groups at {places} only: each node needs one of its own"
    if positions <= problem.replication:
        return Infeasible(reason, "key-groups", positions, nodes, f"operators with at least {nodes} key groups")
    surplus = nodes - positions
    if int(problem.added.sum()) >= surplus:
        nodes_out = np.flatnonzero(problem.added)[-surplus:]
        fix = "without " + " ".join(f"--add {problem.nodes[node]}" for node in nodes_out)
    else:
        by_size = problem.member[np.argsort(problem.cpu[problem.member], kind="stable")]
        fix = " ".join(f"--remove {problem.nodes[node]}" for node in np.sort(by_size[:surplus]))
    return Infeasible(reason, "key-groups", positions, nodes, fix)


def ring_result(
    problem: RingProblem,
    answer: RingAnswer,
    bound: float | None,
    budget: Budget,
    warnings: Iterable[Warn] = (),
) -> Result[RingAnswer]:
    """Return the result of a planner that finds one ring, good or not: infeasible where it breaks what was asked for.

    Where tokens stay and another number of copies is in place, making or dropping copies is a step. Cost O(M) a step.
    """
    if problem.copies_in_place is not None and not answer.steps:
        ring = Ring(answer.ring.token, answer.ring.node, answer.ring.tier)
        step = RingStep("balance" if problem.rebalance else "re-plan", ring)
        answer = replace(answer, steps=(step,), ring=ring)
    answer = with_all_copies(problem, answer)
    moved = worth_moved(problem, answer.steps)
    said = (*warnings, *budget.warnings())
    why = _broken(problem, answer, moved)
    if why is not None:
        return Result("infeasible", None, requested_rules(problem), bound, why.reason, why, said)
    return Result("feasible", answer, rules(problem, answer.ring, moved), bound, warnings=said)


def _broken(problem: RingProblem, answer: RingAnswer, moved: float) -> Infeasible | None:
    asked = requested_rules(problem)
    breaches = [breach for breach in broken(problem, answer.ring, moved, asked) if breach.rule in asked]
    full = [str(breach.where).removeprefix("node:") for breach in breaches if breach.rule == CAPACITY]
    beyond = too_many_bytes(problem, moved) if any(breach.rule == MOST_BYTES for breach in breaches) else None
    if full:
        return _over_capacity(problem, answer, full, "" if beyond is None else beyond.smallest_fix)
    return beyond


def too_many_bytes(problem: RingProblem, moved: float) -> Infeasible:
    """Return that more has to travel than is allowed."""
    needed = float(math.ceil(moved))
    what = "bytes" if problem.state_known else "key groups and copies of them"
    text = f"{needed:.0f} {what} travel, at most {problem.max_bytes:.12g} may"
    return Infeasible(text, MOST_BYTES, problem.max_bytes, needed, f"--max-bytes {needed:.0f}")


def _over_capacity(problem: RingProblem, answer: RingAnswer, names: Sequence[str], more: str) -> Infeasible:
    """Return that nodes cannot take what others leave: the fullest, and how full any of them may have to be.

    *more* is another option that has to change too, empty without one.
    """
    nodes = [problem.nodes.index(name) for name in names]
    share = utilisations(problem, answer.ring)
    used = {k: float(share[k]) for k in nodes}
    worst = min(nodes, key=lambda k: (-used[k], problem.nodes[k]))
    many = f" ({len(nodes)} nodes are above it)" if len(nodes) > 1 else ""
    text = f"{problem.nodes[worst]} would be used to {used[worst]:.4g} of its capacity, at most {problem.overload:g}"
    needed = math.ceil(used[worst] * 1e4) / 1e4 if math.isfinite(used[worst]) else math.inf
    fix = "keep the nodes that leave, or --add others"
    if math.isfinite(needed):
        fix = f"--overload {needed:.12g}{f' and {more}' if more else ''}, or {fix}"
    return Infeasible(f"{text}{many}", CAPACITY, problem.overload, needed if math.isfinite(needed) else None, fix)
