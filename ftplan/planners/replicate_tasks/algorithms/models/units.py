"""What replicas cost in whole units, so that tables by cost can be kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, lcm

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Denominators of costs that are tried, and how far a cost may be from such a fraction.
MOST_DENOMINATOR, NEAR = 10_000, 1e-12
#: Units of all tasks above which costs are rounded down to coarser ones.
MOST_UNITS = 60_000


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Costs and budget as whole numbers; where not ``whole``, costs were rounded down: what fits here may cost more."""

    cost: IntArray  # (T,)
    limit: int
    whole: bool


def units(problem: ReplicationProblem) -> Units:
    """Return the costs of a problem in the largest unit that divides all of them, or in a coarse one."""
    weight = problem.weight
    paid = weight[problem.fails & (weight > 0.0)]
    if len(paid) == 0:
        return Units(np.zeros(len(weight), dtype=np.int64), 0, True)
    distinct = np.unique(paid).tolist()
    fractions = [Fraction(w).limit_denominator(MOST_DENOMINATOR) for w in distinct]
    near = all(abs(float(f) - w) <= NEAR * w for f, w in zip(fractions, distinct, strict=True))
    whole, unit = False, 0.0
    if near:
        denominator = lcm(*(f.denominator for f in fractions))
        step = gcd(*(int(f * denominator) for f in fractions))
        unit = step / denominator
        whole = float(paid.sum()) / unit <= max(MOST_UNITS, 2 * len(paid))
    if not whole:
        unit = float(paid.sum()) / MOST_UNITS
    count = np.where(problem.fails, weight / unit, 0.0)
    cost = np.minimum(np.round(count) if whole else np.floor(count), 2.0**40).astype(np.int64)
    limit = min(max(0, floor(problem.limit / unit * (1.0 + 1e-12))), int(cost.sum()))
    return Units(cost, limit, whole)
