"""What follows from a scale-out: what each operator gets, what carrying its state over costs, and how fair that is.

The fairness degree is the resources that operators had over those that they needed: [Mudassar2019], equations 3 to 6.
It leaves open from when on, and in which unit: here in cores, from the window in which the operator crossed the
alarming threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.planners.scale_out.rules import SplitPause
from ftplan.planners.scale_out.techniques.costs import TechniqueCost, technique_costs

#: States of a bottleneck, or of what will soon be one.
BOTTLENECK = ("prepared", "promoted")

AUTO = "auto"


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


@dataclass(frozen=True, eq=False)
class ScaledFigures:
    """A scale-out by numbers, and what follows from it.

    Attributes
    ----------
    stated
        The technique by which each operator that changes is split, by number; those that are not in it go by the
        cheapest one.
    allowed
        The technique that was asked for, or ``auto``.
    """

    prepared: PreparedScaling
    scaling: Scaling
    stated: Mapping[int, str | None]
    allowed: str = AUTO

    @property
    def problem(self) -> ScalingProblem:
        """The question."""
        return self.prepared.problem

    @cached_property
    def options(self) -> Mapping[int, tuple[TechniqueCost, ...]]:
        """What each technique costs for each operator that changes."""
        return {
            item.operator: technique_costs(self.problem, item, self.prepared.setting) for item in self.scaling.operators
        }

    @cached_property
    def costs(self) -> Mapping[int, TechniqueCost | None]:
        """What splitting each operator costs by its technique, None where that is none that there is."""
        return {item.operator: self._cost(item) for item in self.scaling.operators}

    def _cost(self, item: OperatorScaling) -> TechniqueCost | None:
        known = self.options[item.operator]
        if item.operator in self.stated:
            technique = self.stated[item.operator]
            return next((cost for cost in known if cost.technique == technique), None)
        able = [cost for cost in known if cost.technique in self._possible(item.operator)] or list(known)
        return min(able, key=lambda cost: (cost.extra_core_s, cost.pause_s))

    def _possible(self, operator: int) -> tuple[str | None, ...]:
        asked = (AUTO, None)
        return tuple(
            cost.technique
            for cost in self.options[operator]
            if cost.why_not is None and (self.allowed in asked or cost.technique in (None, self.allowed))
        )

    @cached_property
    def pauses(self) -> Mapping[int, SplitPause]:
        """By which technique each operator is split, how long that pauses it, and which ones are possible."""
        made = {}
        for number, cost in self.costs.items():
            technique = self.stated.get(number, None if cost is None else cost.technique)
            pause = math.inf if cost is None else cost.pause_s
            made[number] = SplitPause(technique, pause, tuple(t for t in self._possible(number) if t is not None))
        return made

    @property
    def longest_pause_s(self) -> float:
        """Longest pause of an operator that is split."""
        return max((cost.pause_s for cost in self.costs.values() if cost is not None), default=0.0)

    @property
    def extra_core_s(self) -> float:
        """Core-seconds of what runs beside the tasks that are needed, over all operators."""
        return math.fsum(cost.extra_core_s for cost in self.costs.values() if cost is not None)

    @property
    def moved_bytes(self) -> float:
        """State that is sent to new tasks, over all operators."""
        return math.fsum(cost.moved_bytes for cost in self.costs.values() if cost is not None)
