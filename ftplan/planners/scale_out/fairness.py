"""How fair operators were, and would have been with their new tasks, since they crossed the alarming threshold."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling

#: States of a bottleneck, or of what will soon be one.
BOTTLENECK = ("prepared", "promoted")


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


def fairness_of(prepared: PreparedScaling, number: int, item: OperatorScaling | None = None) -> float | None:
    """Return the fairness degree of an operator ([Mudassar2019], equation 5) from its last crossing to the end.

    As it ran, or as if it had had the tasks of *item*; None for what is no bottleneck.
    """
    operator = prepared.problem.operators[number]
    if operator.state not in BOTTLENECK:
        return None
    needed = needed_cores(prepared.histories[number].needed, prepared.problem.limits.target, operator.cpu)
    since = needed[_crossed(prepared, number) :]
    tasks = operator.parallelism if item is None else item.parallelism
    return fairness_degree(tasks * operator.cpu, since)


def mean_of(prepared: PreparedScaling, scaling: Scaling) -> float | None:
    """Return the mean over all bottlenecks as if they had had the tasks of a scaling (equation 6)."""
    count = len(prepared.problem.operators)
    return mean_fairness(fairness_of(prepared, number, scaling.by_operator.get(number)) for number in range(count))


def _crossed(prepared: PreparedScaling, number: int) -> int:
    """Return the window in which an operator crossed the alarming threshold last, 0 where it always was above."""
    events = prepared.timelines[number].events
    crossings = [e.window for e in events if e.after in BOTTLENECK and e.before not in BOTTLENECK]
    return crossings[-1] if crossings else 0
