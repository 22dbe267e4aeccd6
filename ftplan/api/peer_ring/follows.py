"""What follows from a ring: which failures it survives, what one does to it, and what it costs to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ftplan.api.peer_ring.body import body
from ftplan.metrics.ring import Ring
from ftplan.metrics.ring_estimates import estimates
from ftplan.metrics.ring_problem import RingProblem, Step
from ftplan.metrics.ring_tolerance import tolerance


def whole_body(problem: RingProblem, ring: Ring, steps: Sequence[Step]) -> dict[str, Any]:
    """Return the whole body of a plan: the ring, how it becomes so, and what follows from it."""
    return {
        **body(problem, ring, steps),
        "tolerance": tolerance(problem, ring),
        "estimates": estimates(problem, ring),
    }
