"""What a ring is worth on other inputs and under failures."""

from __future__ import annotations

from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.repair_window import tolerance_in_window
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.steps import steps_of
from ftplan.planners.peer_ring.summary import failure_figures, failure_of
from ftplan.planners.peer_ring.takeover.estimates import estimates
from ftplan.planners.scenarios import with_scenario_fails


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Return the metrics of a ring, with the capacity that it was made for unless another is asked for.

    What fails besides the plan's own failure strikes with it, all at once.

    Raises FtplanError if an input is missing, or the plan names what the problem does not have.
    """
    own = PeerRingOptions.of_plan(plan)
    instead: dict[str, Any] = {"fail": tuple(dict.fromkeys((*own.fail, *asked.fail)))}
    if asked.load is not None and asked.load != own.load:
        instead |= {"load": asked.load, "capacity_per_core": None}  # the plan's capacity is in another unit
    given = (("capacity_per_core", asked.capacity_per_core), ("overload", asked.overload))
    instead |= {name: value for name, value in given if value is not None}
    problem = with_scenario_fails(problem)
    prepared = question_of(plan, problem, **instead)
    question = prepared.problem
    ring = ring_of(plan, question)
    if ring.most_copies < question.replication:
        raise FtplanError("plan: the ring has too few nodes for its copies: verify names everything that is wrong")
    moved = worth_moved(question, steps_of((plan.plan or {}).get("steps"), question, ring))
    under = failure_figures(question, ring, failure_of(question, ring))
    listed = [] if problem.failure is None else [str(entry.select) for entry in problem.failure.fail]
    values = {
        **_as_it_is(question, ring),
        **{name.replace("_", "-"): value for name, value in under.items()},
        "moved-bytes": moved if question.current is not None and question.state_known else None,
    }
    return Scores(values, tuple(dict.fromkeys((*listed, *instead["fail"]))), question.warnings)


def _as_it_is(problem: RingProblem, ring: Ring) -> dict[str, float | None]:
    """Return the metrics of a ring on which nothing fails."""
    known, worst = tolerance_in_window(problem, ring), estimates(problem, ring)["worst"]
    chance = known["survival"] or {}
    high = chance.get("loss_high")
    memory = worst["memory_bytes"]
    return {
        "largest-load": problem.largest_load(ring),
        "zone-violations": float(problem.violations(ring)) if problem.zoned else None,
        "survival": None if high is None else 1.0 - high,
        "loss-probability": high,
        "expected-lost-bytes": chance.get("expected_lost_bytes"),
        "best-case": float(known["best_case"]["low"]),
        "fatal-zones": float(known["fatal_zones"]["size"]) if problem.zoned else None,
        "copysets": float(known["copysets"]),
        "memory-bytes": None if memory is None else memory["value"],
    }
