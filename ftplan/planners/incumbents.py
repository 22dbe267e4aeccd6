"""The one log of a search: its best answer, the value of that, the best bound on all answers, and who found them.

Every search keeps what it knows in :class:`Incumbents` and nowhere else. From there come the status, the gap, whether
to stop, and the lines of ``--trace``: whoever opens a :func:`traced` block hears each better value and bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, Literal, TypeVar

from ftplan.model.plan import Status, finite, sound_bound
from ftplan.model.tolerances import LEAST_SCALE, PROVEN
from ftplan.model.trace import TraceLine
from ftplan.planners.budget import now

Answer = TypeVar("Answer")


Hear = Callable[[TraceLine], None]
_TRACE: ContextVar[tuple[Hear, float] | None] = ContextVar("trace", default=None)
_GAP: ContextVar[float] = ContextVar("gap", default=0.0)

#: Pairs of what is decided and what it may be, such as tasks and nodes, up to which a proof takes little.
FEW_PAIRS = 3_000


@contextmanager
def ending_at(gap: float) -> Iterator[None]:
    """Let searches that begin in this block end at a gap, relative as that of the plan's objective."""
    token = _GAP.set(gap)
    try:
        yield
    finally:
        _GAP.reset(token)


def wanted_gap(pairs: int) -> float:
    """Return the gap at which a search over so many pairs may end: 0 where they are few, which are soon proven."""
    return _GAP.get() if pairs > FEW_PAIRS else 0.0


@contextmanager
def traced(hear: Hear) -> Iterator[None]:
    """Tell *hear* each better value and bound of the searches that begin in this block, as they come."""
    token = _TRACE.set((hear, now()))
    try:
        yield
    finally:
        _TRACE.reset(token)


@contextmanager
def untraced() -> Iterator[None]:
    """Leave searches out of the trace whose values are not those of the plan's objective."""
    token = _TRACE.set(None)
    try:
        yield
    finally:
        _TRACE.reset(token)


class Incumbents(Generic[Answer]):
    """The best answer so far and the best bound on all answers.

    Parameters
    ----------
    sense
        Whether values are to be large or small.
    search
        What is searched, as the trace names it: the objective for a whole plan.
    unit
        Values are multiples of it, and bounds are rounded to multiples; 0 where they are any numbers.
    size
        What rounding errors are relative to where that is more than value and bound: for sums that cancel out.
    scale
        What a gap is relative to, of value and bound; by default the value.
    gap
        At which the search may end, as :func:`wanted_gap` says for the search of a whole plan.
    """

    def __init__(
        self,
        sense: Literal["min", "max"],
        search: str,
        *,
        unit: float = 0.0,
        size: float = 0.0,
        scale: Callable[[float, float], float] | None = None,
        gap: float = 0.0,
    ) -> None:
        self.sense, self.search, self.unit, self.size, self.wanted = sense, search, unit, size, gap
        self.answer: Answer | None = None
        self.value = math.inf if sense == "min" else -math.inf
        self.bound = -self.value
        self.found_by = self.proven_by = "nothing"
        self._scale = scale or (lambda value, _: abs(value))
        self._heard = _TRACE.get()

    @property
    def traced(self) -> bool:
        """Whether anybody hears of this search."""
        return self._heard is not None

    def better(self, value: float) -> bool:
        """Return whether a value is better than the best."""
        return value < self.value if self.sense == "min" else value > self.value

    def offer(self, answer: Answer, value: float, by: str) -> bool:
        """Take an answer that is better than the best; return whether it was taken.

        Raises
        ------
        RuntimeError
            If it beats the bound by more than rounding: then that was none.
        """
        if self.answer is not None and not self.better(value):
            return False
        self.answer, self.value, self.found_by = answer, value, by
        self._agree()
        self.note(value=value, by=by)
        return True

    def prove(self, bound: float, by: str) -> bool:
        """Take a bound on all answers where it is better than the best; return whether it was taken.

        Raises
        ------
        RuntimeError
            If the best answer beats it by more than rounding: then it is none.
        """
        bound = self._whole(bound)
        if not (bound > self.bound if self.sense == "min" else bound < self.bound):
            return False
        self.bound, self.proven_by = bound, by
        self._agree()
        self.note(bound=self.bound, by=by)
        return True

    def prove_better_than(self, floor: float, bound: float, by: str) -> bool:
        """Take a bound on those answers alone that are better than *floor*: all others are no better than that.

        For searches that leave out what does not beat a known value. Where *floor* is the best value itself and nothing
        beats it, the bound is this value: whoever proves that must not have left out better ones.
        """
        return self.prove(max(floor, bound) if self.sense == "max" else min(floor, bound), by)

    def note(self, *, value: float | None = None, bound: float | None = None, by: str) -> None:
        """Trace a value or a bound that a search tells of itself while it runs; it is not taken for known."""
        if self._heard is None:
            return
        hear, began = self._heard
        best, proven = self.value if value is None else value, self.bound if bound is None else bound
        hear(TraceLine(round(now() - began, 3), finite(best), finite(proven), by, self.search))

    @property
    def gap(self) -> float:
        """Distance of value and bound relative to the scale; infinite while one is missing."""
        if not (math.isfinite(self.value) and math.isfinite(self.bound)):
            return math.inf
        return abs(self.bound - self.value) / max(self._scale(self.value, self.bound), LEAST_SCALE)

    @property
    def closed(self) -> bool:
        """Whether the search may end: the best answer is proven, or the gap is no larger than wanted."""
        return self.proven or self.gap <= self.wanted

    @property
    def proven(self) -> bool:
        """Whether no answer is better: value and bound are one multiple of the unit, or one but for rounding."""
        if self.unit > 0.0 and math.isfinite(self.gap):
            return abs(self.bound - self.value) < 0.5 * self.unit
        return self.gap <= PROVEN

    @property
    def status(self) -> Status:
        """The status of a plan with the best answer."""
        if self.answer is None:
            return "no-plan-in-time"
        return "optimal" if self.proven else "feasible"

    @property
    def proven_bound(self) -> float | None:
        """The best bound, None while there is none."""
        return finite(self.bound)

    def _whole(self, bound: float) -> float:
        """Return a bound rounded to a multiple of the unit: no value lies between."""
        if self.unit <= 0.0 or not math.isfinite(bound):
            return bound
        steps = bound / self.unit
        doubt = 1e-6 + 1e-9 * abs(steps)
        return self.unit * (math.ceil(steps - doubt) if self.sense == "min" else math.floor(steps + doubt))

    def _agree(self) -> None:
        """Raise where value and bound contradict each other; a bound that is beaten by rounding alone is the value."""
        if math.isfinite(self.value) and math.isfinite(self.bound):
            self.bound = sound_bound(self.sense, self.value, self.bound, self.size)
