"""What a kind of plan is, and which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.model.kinds import KindRow

if TYPE_CHECKING:
    from ftplan.io.options.fields import PlanOptions
    from ftplan.model.names import Selector
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem
    from ftplan.planners.assessments import Asked, Difference, Explanation, Scores
    from ftplan.planners.judging import Judges
    from ftplan.planners.registry import Row

#: The kinds that can be planned, each with the object that stands for it.
KINDS: Mapping[str, str] = {
    "allocate-checkpoints": "ftplan.planners.allocate_checkpoints.kind:KIND",
    "drain-schedule": "ftplan.planners.drain_schedule.kind:KIND",
    "peer-ring": "ftplan.planners.peer_ring.kind:KIND",
    "rebalance": "ftplan.planners.rebalance.kind:KIND",
    "recovery-schedule": "ftplan.planners.recovery_schedule.kind:KIND",
    "replicate-tasks": "ftplan.planners.replicate_tasks.kind:KIND",
    "scale-out": "ftplan.planners.scale_out.kind:KIND",
}


@dataclass(frozen=True)
class PlanKind:
    """A kind of plan: its row, its options, and the folder whose files make, judge, score, explain and compare it.

    A file is imported when it is asked for: who verifies a small plan loads no solver.

    Attributes
    ----------
    folder
        A package with ``make.py`` (``make``), ``judge.py`` (``JUDGES``), ``score.py`` (``score``), ``explain.py``
        (``explain``) and ``diff.py`` (``diff``), of the signatures below.
    changes
        Whether carrying out a plan changes anything.
    summary_of_question
        Parts of a plan's summary that depend on the question and the seed alone, not on the plan.
    """

    row: KindRow
    options: type[PlanOptions]
    folder: str
    changes: Callable[[Plan], bool]
    summary_of_question: tuple[str, ...] = ()

    def make(self, problem: Problem, planner: Row, options: PlanOptions) -> Plan:
        """Plan with one planner; *options* are of :attr:`options`."""
        made: Plan = self._part("make", "make")(problem, planner, options)
        return made

    @property
    def judges(self) -> Judges:
        """Who holds a plan to its rules, to its inputs and to what it states."""
        judges: Judges = self._part("judge", "JUDGES")
        return judges

    def score(self, plan: Plan, problem: Problem, asked: Asked) -> Scores:
        """Return the values of all metrics of the kind."""
        scores: Scores = self._part("score", "score")(plan, problem, asked)
        return scores

    def explain(self, plan: Plan, problem: Problem, what: Selector) -> Explanation:
        """Say why a plan decided as it did about one thing."""
        explanation: Explanation = self._part("explain", "explain")(plan, problem, what)
        return explanation

    def diff(self, before: Plan, after: Plan, problem: Problem | None) -> Difference:
        """Compare two plans of the kind."""
        difference: Difference = self._part("diff", "diff")(before, after, problem)
        return difference

    def _part(self, module: str, name: str) -> Any:
        return resolve_name(f"{self.folder}.{module}:{name}")


def kind_of(name: str, verb: str = "ftplan") -> PlanKind:
    """Import and return a kind of plan, by its name.

    Raises
    ------
    FtplanError
        If *verb* cannot deal with it, because there is none of this name or it is only read yet.
    """
    if name not in KINDS:
        raise FtplanError(f"{verb} knows plans of kind {' and '.join(KINDS)}, not yet {name}")
    kind: PlanKind = resolve_name(KINDS[name])
    return kind
