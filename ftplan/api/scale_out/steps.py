"""What is done to replace the tasks of an operator, in order and in words."""

from __future__ import annotations

from ftplan.metrics.scaling_costs import TechniqueCost
from ftplan.metrics.scaling_problem import OperatorScaling, ScalingProblem


def steps(problem: ScalingProblem, scaling: OperatorScaling, cost: TechniqueCost) -> list[str]:
    """Return the steps by which an operator gets its new tasks, with the time that each takes."""
    return []
