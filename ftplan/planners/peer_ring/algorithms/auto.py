"""One token a node, planned as even as can be, or many tokens: whichever suits the ring in place."""

from __future__ import annotations

from dataclasses import replace

from ftplan.model.plan import Warn
from ftplan.model.violation import over
from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms.baselines import virtual_nodes
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.metrics import overloaded
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem
from ftplan.planners.result import Result


def auto(problem: RingProblem, search: SearchOptions) -> Result[RingAnswer]:
    """Plan as ``exact``; where the nodes of a ring of several tokens a node change, maybe as ``virtual-nodes``.

    Many tokens stay where they are as nodes join or leave, while one token a node plans the whole ring anew. They are
    kept where fewer bytes travel, one zone destroys no more arcs, and no more nodes are overloaded by a capacity that
    is known. Guarantee: that of the one that is taken. Cost: that of both.
    """
    found = exact(problem, search)
    changes = problem.added.any() or problem.removed.any()
    if problem.current is None or problem.current.simple or problem.keep or not changes or problem.rebalance:
        return found
    other = virtual_nodes(problem, search)
    if other.answer is None or (found.answer is not None and not _suits(problem, other.answer, found.answer)):
        return found
    many = f"{len(other.answer.ring.token):,} tokens"
    instead = "no ring of one token a node keeps what is asked for"
    if found.answer is not None:
        fewer, more = (worth_moved(problem, answer.steps) for answer in (other.answer, found.answer))
        loads = (problem.largest_load(answer.ring) for answer in (other.answer, found.answer))
        instead = "{:,.0f} bytes travel for a largest load of {:.4g}, and {:,.0f} would for one token a node and {:.4g}"
        instead = instead.format(fewer, next(loads), more, next(loads))
    text = f"auto compared: the ring keeps its {many}, since {instead}; --algorithm exact gives each node one"
    return replace(other, warnings=(*other.warnings, Warn("VIRTUAL_NODES_KEPT", text)))


def _suits(problem: RingProblem, many: RingAnswer, one: RingAnswer) -> bool:
    """Return whether many tokens move fewer bytes than one each, and are no riskier, and no fuller as far as known."""
    if over(problem.largest_load(many.ring), problem.target_load or float("inf")):
        return False
    return (
        worth_moved(problem, many.steps) < worth_moved(problem, one.steps)
        and problem.zone_cost(many.ring).losses <= problem.zone_cost(one.ring).losses
        and (not problem.capacity_known or len(overloaded(problem, many.ring)) <= len(overloaded(problem, one.ring)))
    )
