"""How the time of a schedule is shared out among its steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.schedule.packing import Deadline
from ftplan.planners.recovery_schedule.problem import RecoveryOptions

#: Share of the time that step 0 may take; the later ones divide what is left.
FIRST_STEP = 0.7
#: Seconds that solvers may take to place a step, and that all of its placing may take, even when the time is over.
LEAST_PACKING_S, PLACING_S = 0.2, 0.5
#: Seconds after the end of the time that a step which has begun may still take; later steps recover nothing then.
LATE_S = 0.3


class StepClock:
    """The budget of a schedule of some steps.

    With *until_s*, a time of ``budget.now``, the schedule is a yardstick: it is placed without solvers, so that the
    clock decides nothing of it. No solver places either where the work is bounded to none (``iterations`` 0).
    """

    def __init__(self, options: RecoveryOptions, steps: int, until_s: float | None) -> None:
        self.budget = Budget.of(options)
        self.yardstick = until_s is not None
        self._steps = steps
        self._latest_s = self.budget.started + self.budget.time_limit_s + LATE_S if until_s is None else until_s
        self._late = False

    def late(self) -> bool:
        """Return whether no further step may begin."""
        self._late = self._late or now() > self._latest_s
        return self._late

    @contextmanager
    def choosing(self, step: int) -> Iterator[Budget]:
        """Give the policy its share of the time that is left."""
        part = self.budget.part(FIRST_STEP if step == 0 and self._steps > 1 else 1.0 / (self._steps - step))
        yield part
        self.budget.cut |= part.cut

    @contextmanager
    def placing(self, step: int) -> Iterator[Deadline]:
        """Give the placement of a step its share; solvers that take all of it count as cut by the clock."""
        if self.yardstick:
            yield Deadline(0.0, self._latest_s)
            return
        if self.budget.iterations == 0:
            yield Deadline(0.0, max(self._latest_s, now() + PLACING_S))
            self.budget.cut |= now() > self._latest_s
            return
        solver_s, started = max(LEAST_PACKING_S, self.budget.left_s / (self._steps - step)), now()
        yield Deadline(solver_s, max(self._latest_s, started + PLACING_S))
        self.budget.cut |= now() - started >= solver_s or now() > self._latest_s
