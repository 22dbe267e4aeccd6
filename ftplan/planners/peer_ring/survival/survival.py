"""How likely it is that a peer ring loses nothing within one repair window, and what it loses on average."""

from __future__ import annotations

from typing import Any

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import Copysets, copysets, expected_lost_bytes
from ftplan.planners.peer_ring.survival.loss import Loss
from ftplan.planners.peer_ring.survival.run_loss import run_loss
from ftplan.planners.peer_ring.survival.set_loss import set_loss, with_samples


def loss(problem: RingProblem, ring: Ring, sets: Copysets | None = None, seed: int = 0) -> Loss:
    """Return the probability that all holders of some key group are down within one repair window.

    Nodes and zones fail independently; a node is down if it or its zone fails. One token a node: dynamic programming
    around the circle ([Kumbhare2015], VII) for each state of the zones that may fail and of the nodes that hold tiered
    copies, exact up to about 20 of these, else between proven bounds or by samples. Virtual nodes: see
    :func:`ftplan.planners.peer_ring.survival.set_loss.set_loss`.
    """
    sets = sets or copysets(problem, ring)
    found = run_loss(problem, ring) if ring.simple else None
    proven = Loss.between(*found) if found is not None else None
    if proven is None or (ring.tier is not None and not proven.close):
        return set_loss(problem, sets, seed)
    return with_samples(problem, sets, proven, seed)


def survival(problem: RingProblem, ring: Ring, seed: int = 0) -> dict[str, Any] | None:
    """Return how likely it is that a ring loses nothing in one repair window; None where no probability is known.

    ``survival``
        1 less ``loss_probability``.
    ``loss_probability``
        Probability that some key group is lost, with ``loss_low`` and ``loss_high``. By ``method``: ``exact`` (all
        three are equal), ``bounded`` (proven bounds, the value is the upper one), or ``sampled`` (an estimate, and
        bounds that hold with 99 %).
    ``expected_lost_bytes``
        Bytes lost on average, exact; null where no state is known.
    """
    if not problem.probabilities_known:
        return None
    sets = copysets(problem, ring)
    found = loss(problem, ring, sets, seed)
    return {
        "survival": 1.0 - found.value,
        "loss_probability": found.value,
        "loss_low": found.low,
        "loss_high": found.high,
        "method": found.method,
        "expected_lost_bytes": expected_lost_bytes(problem, sets) if problem.state_known else None,
    }
