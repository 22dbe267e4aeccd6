"""From what a planner answered to a plan: what plans of all kinds record in the same way.

And whether a plan is compared with others meanwhile: random ones, blocking recovery, sampled arrivals.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ftplan.costs.given_costs import recorded_costs
from ftplan.io.options.fields import PlanOptions
from ftplan.model.plan import InputFile, Objective, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners.assumptions import assumptions_of
from ftplan.planners.deployed import recorded
from ftplan.planners.kind import kind_of
from ftplan.planners.registry import Row
from ftplan.planners.result import Result
from ftplan.version import __version__

_log = logging.getLogger(__name__)

#: Parts of a summary that hold these comparisons.
PARTS = ("before", "step_by_step", "random", "sampled")

_COMPARED: ContextVar[bool] = ContextVar("compared", default=True)


def compared() -> bool:
    """Return whether plans are held against others now."""
    return _COMPARED.get()


@contextmanager
def without_comparisons() -> Iterator[None]:
    """Make plans without the figures of what they are held against: those are None in the summary.

    The plan, its objective and its bound are the same. For who asks thousands of questions and reads no comparison.
    """
    token = _COMPARED.set(False)
    try:
        yield
    finally:
        _COMPARED.reset(token)


@dataclass(frozen=True, kw_only=True)
class Made:
    """What ``make`` of a question puts into a plan.

    Attributes
    ----------
    result
        What the planner answered, with the status, reason, rules and unmet limit that the plan states.
    body
        What the kind prescribes; None without an answer.
    inputs
        Everything that the plan was made from.
    derived
        Options that were found, not asked for; they win over those that were asked for.
    """

    result: Result[Any]
    body: Mapping[str, Any] | None
    objective: Objective
    summary: Mapping[str, Any]
    warnings: tuple[Warn, ...]
    inputs: tuple[InputFile, ...]
    derived: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, problem: Problem, planner: Row, options: PlanOptions) -> Plan:
        """Return the plan that *planner* made."""
        recorded = {
            **options.recorded(),
            **self._files(planner.kind, options),
            "spread": any(warning.code == "SPREAD" for warning in problem.warnings),
            **self.derived,
        }
        return Plan(
            kind=planner.kind,
            algorithm=planner.name,
            options=recorded,
            seed=options.seed,
            inputs=self.inputs,
            status=self.result.status,
            reason=self.result.reason,
            objective=self.objective,
            rules=self.result.rules,
            summary=self.summary,
            warnings=self.warnings,
            infeasible=self.result.infeasible,
            assumptions=assumptions_of(problem, recorded, self.warnings, self.objective.name),
            plan=self.body,
            tool_version=__version__,
        )

    def _files(self, name: str, options: PlanOptions) -> dict[str, Any]:
        """Return the options that take a file, as the plan keeps them: by its path, else what it holds."""
        kind, paths = kind_of(name), {item.role: item.path for item in self.inputs}
        return {
            **{name: recorded(getattr(options, name), paths.get(name)) for name, _ in kind.plans},
            **{name: recorded_costs(getattr(options, name), paths.get(name)) for name in kind.files},
            **{name: paths.get(name) for name in kind.tables},
        }


def without_failure(problem: Problem) -> tuple[InputFile, ...]:
    """Return the inputs of a plan that answers no failure."""
    return tuple(item for item in problem.inputs if item.role != "failure")


def log_planned(what: str, planner: Row, status: str, started: float) -> None:
    """Say how long a planner took for *what*; *started* is a time of ``perf_counter``."""
    _log.info("%s: %s, planned by %s in %.2f s", what, status, planner.name, time.perf_counter() - started)
