"""What follows from a scale-out: what each operator gets, and what carrying its state over costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.planners.scale_out.rules import SplitPause
from ftplan.planners.scale_out.techniques.costs import TechniqueCost, technique_costs

AUTO = "auto"


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
