"""What follows from a ring: which failures it survives, what the one asked for does, and what it costs to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.plan import finite
from ftplan.planners.peer_ring.body_writer import body, copies_of, moves_of, tokens_of
from ftplan.planners.peer_ring.metrics import overloaded, utilisations
from ftplan.planners.peer_ring.problem import RingProblem, Step
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.steps import Moved
from ftplan.planners.peer_ring.survival.tolerance import tolerance
from ftplan.planners.peer_ring.takeover.estimates import estimates
from ftplan.planners.peer_ring.takeover.takeover import TakeOver, take_over


def whole_body(problem: RingProblem, ring: Ring, steps: Sequence[Step], failure: TakeOver | None) -> dict[str, Any]:
    """Return the whole body of a plan: the ring, how it becomes so, and what follows from it."""
    known = {
        **body(problem, ring, steps),
        "tolerance": tolerance(problem, ring),
        "estimates": estimates(problem, ring),
    }
    if failure is None:
        return known
    last = [Moved(len(steps), failure.moves, failure.copies)]
    return {
        **known,
        "moves": known["moves"] + moves_of(problem, last),
        "copies": known["copies"] + copies_of(problem, last),
        "takeovers": failure.takeovers,
        "after_failure": [] if failure.after is None else tokens_of(problem, failure.after),
        "lost": failure.lost,
    }


def failure_of(problem: RingProblem, ring: Ring) -> TakeOver | None:
    """Return what the failure that is asked for does to a ring, None where nothing fails."""
    return take_over(problem, ring) if problem.fails.any() else None


def failing(problem: RingProblem, ring: Ring) -> list[str]:
    """Return the nodes that fail and own or hold something, in natural order: of the ring, and of its tier."""
    here = problem.tier.copy()
    here[ring.nodes] = True
    if ring.tier is not None:
        here[ring.tier] = True
    return [problem.nodes[node] for node in np.flatnonzero(problem.fails & here).tolist()]


def failure_figures(problem: RingProblem, ring: Ring, failure: TakeOver | None) -> dict[str, Any]:
    """Return what a failure costs in all; times are None where that is never, bytes where they are unknown.

    The longest of the times counts, since runs of dead nodes recover side by side. Where no node is left, no time
    tells when anything runs again.
    """
    after = ring if failure is None else failure.after
    rows = [] if failure is None else failure.takeovers
    lost = [] if failure is None else failure.lost
    nowhere = after is None
    taken = [row for row in rows if row["run"]]
    return {
        "lost_groups": len(lost),
        "lost_bytes": sum(row["state_bytes"] for row in lost) if problem.state_known else None,
        "rereplicate_bytes": _total(rows, "restore_bytes") if problem.state_known else None,
        "ready_s": None if nowhere else _longest(taken, "ready_s"),
        "caught_up_s": None if nowhere else _longest(taken, "caught_up_s"),
        "highest_utilisation": None
        if after is None
        else finite(float(utilisations(problem, after)[after.nodes].max())),
        "overloaded_nodes": 0 if after is None else len(overloaded(problem, after)),
    }


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(sum(row[name] for row in rows))


def _longest(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the longest time, 0 without any, None where one is never."""
    times = [row[name] for row in rows]
    return None if None in times else float(max(times, default=0.0))
