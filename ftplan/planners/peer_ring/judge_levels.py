"""Are the levels of a peer ring's objective, their bounds, and the status that speaks of all of them so?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.model.violation import Violation, over
from ftplan.planners.judging import same, shown
from ftplan.planners.peer_ring.problem import RingProblem, Step
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.summary import LEVELS, all_proven, level_values


def judge_levels(plan: Plan, problem: RingProblem, ring: Ring, steps: Sequence[Step]) -> Iterator[Violation]:
    """Hold bounds to what they bound, and the status to both. What a level is worth is judged with the summary."""
    listed = plan.summary.get("levels") if plan.summary else None
    stated = dict(listed) if isinstance(listed, Mapping) else {}
    bounds = {name: _bound(stated.get(name)) for name in LEVELS}
    values = level_values(problem, ring, steps)
    for name in LEVELS:
        bound, value = bounds[name], values[name]
        place = f"summary.levels.{name}.bound"
        if bound is not None and value is None:
            yield Violation("OBJECTIVE_DIFFERS", f"{place} states {shown(bound)}, and there is nothing to bound", place)
        elif bound is not None and value is not None and over(bound, value):
            text = f"{place} states {shown(bound)}, more than the {shown(value)} that the plan has"
            yield Violation("OBJECTIVE_DIFFERS", text, place)
    objective = plan.objective
    own = None if objective is None else objective.bound
    if stated and objective is not None and objective.value is not None and not same(bounds["largest_load"], own):
        text = f"objective.bound states {shown(own)}, summary.levels {shown(bounds['largest_load'])}"
        yield Violation("OBJECTIVE_DIFFERS", text, "objective.bound")
    if plan.status == "optimal" and not all_proven(problem, values, {**bounds, "largest_load": own}):
        text = "the status is optimal, but not every level has a bound that says so"
        yield Violation("STATUS_DIFFERS", text, "status")


def _bound(level: Any) -> float | None:
    """Return the bound that a level states, None for none."""
    bound = level.get("bound") if isinstance(level, Mapping) else None
    return float(bound) if isinstance(bound, (int, float)) and not isinstance(bound, bool) else None
