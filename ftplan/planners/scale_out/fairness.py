"""The fairness degree of a scale-out: the resources that operators had over those that they needed.

[Mudassar2019], equations 3 to 6. It leaves open from when on, and in which unit: here in cores, from the window in
which the operator crossed the alarming threshold.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray


def needed_cores(use: FloatArray, target: float, cpu: float) -> FloatArray:
    """Return the cores that an operator needs in each window, (W,): those of the fewest tasks at the target.

    *use* (W,) is how many tasks its demand keeps busy, *cpu* the cores of one task; it needs one task at least. A
    window of unknown demand (NaN) needs NaN cores.
    """
    return np.asarray(np.maximum(np.ceil(use / target * (1.0 - ROUNDING)), 1.0) * cpu)


def fairness_degree(had: FloatArray | float, needed: FloatArray) -> float | None:
    """Return the cores that an operator had over those that it needed, summed over windows (equation 5), at most 1.

    *needed* (W,) are the windows since it crossed the alarming threshold, *had* (W,) or one number. Windows of unknown
    demand are left out; None where none is left. [Mudassar2019] has a degree of at most 1 since a bottleneck needs
    more than it has; what an operator has too much is left out here too.
    """
    known = ~np.isnan(needed)
    if not known.any():
        return None
    total = float(needed[known].sum())
    return min(1.0, float(np.broadcast_to(had, needed.shape)[known].sum()) / total) if total > 0.0 else 1.0


def mean_fairness(degrees: Iterable[float | None]) -> float | None:
    """Return the mean over the operators that are bottlenecks (equation 6), None without any; None is left out."""
    known = [degree for degree in degrees if degree is not None]
    return sum(known) / len(known) if known else None
