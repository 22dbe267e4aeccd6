"""From the ring that a planner found to its result, and why there is none; and the ring in place as they go on from it.

Where only a failure is asked for, nothing is chosen (:func:`unchanged_ring`): the bounds say what others could be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ftplan.model.plan import Infeasible, Warn
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.bounds import any_bound, least_violations, load_bound
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.metrics import utilisations
from ftplan.planners.peer_ring.moves import with_all_copies, worth_moved
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring, in_order, positions_of_arcs
from ftplan.planners.peer_ring.rules import CAPACITY, MOST_BYTES, broken, requested_rules, rules
from ftplan.planners.result import Result


def unchanged_ring(problem: RingProblem) -> Result[RingAnswer]:
    """Return the ring in place, with the bounds of rings of its nodes, so that it is seen how far it is from these.

    Those of rings with one token a node where it is such a ring, else of any assignment. Cost as that of the bounds.
    """
    ring = problem.current
    assert ring is not None
    bound = any_bound(problem)
    if ring.simple and positions_of_arcs(ring, problem.position).all():  # where a node owns nothing, less load is owned
        bound = load_bound(problem)
    violations = least_violations(problem) if ring.simple else None
    return Result("feasible", RingAnswer((), ring, violations, 0.0), (), bound)


def has_requested_last_copies(problem: RingProblem, ring: Ring) -> bool:
    """Return whether last copies are on nodes of the tier where there is one, and on neighbours where there is none."""
    if ring.tier is None or not problem.tier.any():
        return ring.tier is None and not problem.tier.any()
    return bool(problem.tier[ring.tier].all())


def with_requested_last_copies(problem: RingProblem, ring: Ring) -> tuple[Ring, list[RingStep]]:
    """Return a ring whose last copies are where they are asked for, and the step to it if any.

    They stay as they are where all are on nodes of the tier.
    """
    if has_requested_last_copies(problem, ring):
        return ring, []
    ring = tiered(problem, Ring(ring.token, ring.node))
    return ring, [RingStep("re-plan", ring)]


def at_positions(problem: RingProblem, ring: Ring) -> tuple[Ring, list[RingStep]]:
    """Return a ring of one token a node with each token at a position of its own, and the step to it if any.

    A token and one at the first position at or above it own the same. Where nodes own nothing, so that this would put
    two tokens at one position, those before go down to the next position that is free. There are enough for all.
    """
    total = len(problem.position)
    place = np.searchsorted(problem.position, ring.token, side="left").tolist()
    nodes, moved = len(place), True
    while moved:
        moved = False
        for k in range(nodes - 1, -1, -1):
            most = place[k + 1] - 1 if k + 1 < nodes else place[0] + total - 1
            if place[k] > most:
                place[k], moved = most, True
    token = problem.position[np.array(place) % total]
    if np.array_equal(token, ring.token):
        return ring, []
    ring = in_order(token, ring.node, ring.tier)
    return ring, [RingStep("re-plan", ring)]


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
