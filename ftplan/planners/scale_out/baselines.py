"""What other planners would have done, for comparison."""

from __future__ import annotations

from ftplan.metrics.scaling_problem import Scaling, ScalingProblem
from ftplan.planners.scale_out.doubling import doubled
from ftplan.planners.scale_out.ds2 import ds2_scaling


def baselines(problem: ScalingProblem) -> dict[str, Scaling]:
    """Return the scalings by ``doubling`` and by ``ds2``, without bounds. Neither sustains more than :func:`exact`."""
    return {"doubling": doubled(problem), "ds2": ds2_scaling(problem)}
