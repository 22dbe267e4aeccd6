"""How probably nodes and zones fail within one repair window of a ring, from how probably they do within a period."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.tolerance import tolerance
from ftplan.planners.peer_ring.takeover.recovery import losses


def repair_window_s(problem: RingProblem, ring: Ring) -> float:
    """Return the seconds in which a second failure counts as simultaneous, after that of the worst node.

    Until its failure is noticed and all copies are there again; where too few nodes are left for them, the period of
    the probabilities, in which somebody sees to it.
    """
    window = float(losses(problem, ring).window_s.max(initial=0.0))
    return window if np.isfinite(window) else problem.failure_period_s or np.inf


def within_repair_window(problem: RingProblem, ring: Ring) -> RingProblem:
    """Return the question with probabilities of failure within one repair window of a ring.

    ``1 - (1 - p)^(window / period)``: failures come at a constant rate.
    """
    if problem.failure_period_s is None:
        return problem
    window = repair_window_s(problem, ring)
    share = window / problem.failure_period_s
    with np.errstate(divide="ignore"):
        down, zone_down = (-np.expm1(share * np.log1p(-chance)) for chance in (problem.down, problem.zone_down))
    return replace(problem, down=down, zone_down=zone_down, failure_period_s=None, repair_window_s=window)


def tolerance_in_window(problem: RingProblem, ring: Ring) -> dict[str, Any]:
    """Return which failures a ring survives, each ring with its own window: see :func:`tolerance`."""
    plain = None if ring.tier is None else within_repair_window(problem, Ring(ring.token, ring.node))
    return tolerance(within_repair_window(problem, ring), ring, plain)
