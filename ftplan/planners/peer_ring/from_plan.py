"""A peer ring as a question and an answer again, so that others can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.peer_ring.inputs.members import ring_of_entries
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.prepare import PreparedRing, prepare
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


def question_of(plan: Plan, problem: Problem, **instead: Any) -> PreparedRing:
    """Return the question that a plan answers on some inputs; *instead* are options that replace its own.

    The ring of a plan made by hand, without options, is of the nodes that it lists, with as many backups as it states.
    Too few nodes are no error here: whoever judges the plan says so.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    options, entries = PeerRingOptions.of_plan(plan), entries_of(plan)
    options = replace(options, replication=stated_replication(plan))
    by_hand = not plan.options and bool(entries)
    listed = tuple(str(item["node"]) for item in entries) if by_hand else None
    assumed = plan.options.get("capacity_per_core_requested", plan.options.get("capacity_per_core")) is None
    assumed &= instead.get("capacity_per_core") is None
    return prepare(problem, replace(options, **instead), listed, judging=True, assumed_capacity=assumed)


def stated_replication(plan: Plan) -> int:
    """Return how many backups a plan is for: as its options say, else as many as its tokens state, else the default."""
    options = PeerRingOptions.of_plan(plan)
    if plan.options.get("replication") is not None:
        return options.replication
    stated = {len(item["backups"]) for item in entries_of(plan) if item.get("backups") is not None}
    return stated.pop() if len(stated) == 1 else options.replication


def entries_of(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return the tokens that a plan lists."""
    return list((plan.plan or {}).get("ring") or ())


def ring_of(plan: Plan, problem: RingProblem) -> Ring:
    """Return the ring of a plan, nodes by number, tokens within rounding of a position at that position.

    Raises FtplanError if the plan names a node that is not there, or two tokens are one.
    """
    return ring_of_entries(entries_of(plan), problem.nodes, problem.position, "plan: plan.ring")
