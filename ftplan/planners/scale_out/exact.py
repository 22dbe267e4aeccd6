"""The scale-out that sustains most load under all limits, with the fewest cores, and a proof."""

from __future__ import annotations

from ftplan.metrics.scaling_effects import sustained_load
from ftplan.metrics.scaling_problem import Scaling, ScalingProblem
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result
from ftplan.planners.scale_out.choices import Choices, Sizes
from ftplan.planners.scale_out.options import ScalingSearch
from ftplan.planners.scale_out.outcome import above_quota, outcome, scaling
from ftplan.planners.scale_out.room import Room


def exact(problem: ScalingProblem, search: ScalingSearch) -> Result[Scaling]:
    """Give operators the fewest tasks with which their jobs sustain as much of their demand as can be."""
    budget = Budget.of(search)
    room, choices = Room(problem), Choices(problem)
    why = above_quota(problem, room.total)
    if why is not None:
        return why
    wanted: Sizes = {i: tasks for level in choices.best for i, tasks in level.sizes.items()} | choices.roomier
    best = float(sum(w * level.share for w, level in zip(problem.weight, choices.best, strict=True)))
    placed = room.placed(choices.smaller, wanted)
    if placed is None:
        placed = room.placed({}, {})
        assert placed is not None
        answer = scaling(problem, choices.sizings, {}, placed)
    else:
        answer = scaling(problem, choices.sizings, choices.smaller | wanted, placed)
    return outcome(problem, choices.sizings, answer, max(best, sustained_load(problem, answer)), budget)
