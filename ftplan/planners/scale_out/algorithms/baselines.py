"""What other planners would have done, for comparison."""

from __future__ import annotations

from ftplan.planners.scale_out.algorithms.doubling import doubled
from ftplan.planners.scale_out.algorithms.ds2 import ds2_scaling
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem


def baselines(problem: ScalingProblem) -> dict[str, Scaling]:
    """Return the scalings by ``doubling`` and by ``ds2``, without bounds. Neither sustains more than :func:`exact`."""
    return {"doubling": doubled(problem), "ds2": ds2_scaling(problem)}
