"""What a kind of plan is: the card of a question, which stands in its folder as ``KIND`` of ``kind.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.model import kinds
from ftplan.model.kinds import Metric
from ftplan.planners.registry import Row

if TYPE_CHECKING:
    from ftplan.io.options.fields import PlanOptions
    from ftplan.model.names import Selector
    from ftplan.model.plan import Plan
    from ftplan.model.problem import Problem
    from ftplan.planners.assessments import Asked, Difference, Explanation, Scores
    from ftplan.planners.judging import Judges


@dataclass(frozen=True, slots=True)
class Printed:
    """A flag that prints a text which comes with ftplan, and does nothing else.

    ``path`` is where the path of the text's file is to be found, as ``module:NAME``.
    """

    flag: str
    help: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """What the command line says of a question, beside its options.

    Attributes
    ----------
    text
        The text of ``--help``.
    default
        What ``--help`` says of the default algorithm.
    changes
        What a plan changes, for ``--detailed-exitcode``.
    algorithm_after
        The option after which ``--algorithm`` stands; None puts it first.
    picture
        What ``--plot`` draws, for ``--help``.
    for_picture
        Flags that ``--plot`` sets, because its picture shows what they ask for.
    printed
        Flags that print a text instead of planning.
    """

    text: str
    default: str
    changes: str
    algorithm_after: str | None = None
    picture: str = "the plan"
    for_picture: tuple[str, ...] = ()
    printed: tuple[Printed, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PlanKind:
    """A kind of plan: what is known of its question, and the folder whose files make, judge, score, explain, compare.

    A file is imported when it is asked for: who verifies a small plan loads no solver.

    Attributes
    ----------
    name
        That of its row in :mod:`ftplan.model.kinds`. Its folder is a package with ``make.py`` (``make``), ``judge.py``
        (``JUDGES``), ``score.py`` (``score``), ``explain.py`` (``explain``) and ``diff.py`` (``diff``), of the
        signatures below; ``body.py`` (``BODY``, a model) and ``view.py`` (``answer``, ``difference``); and what pages
        show of it, if anything, in ``figure.py``.
    options
        What can be asked, as fields.
    table
        The list of records in a plan's body that ``to_frame`` shows.
    changes
        Whether carrying out a plan changes anything.
    command
        What the command line says of it.
    planners
        The planners, in the order in which they are listed; one of them is the default.
    metrics
        What ``evaluate`` reports, in this order.
    renamed_metrics
        Names of before that ``--fail-under`` still takes, each with the name of now.
    needs
        Roles of the inputs without which there is no plan.
    plans
        Options that take another plan, each with the kind of it; they are roles of inputs too.
    files
        Options that take a file of another format; likewise.
    tables
        Options that take a table, in Parquet or CSV; likewise.
    answers_failure
        Whether ``fail`` and a failure file are part of the question. Other plans are only scored under failures.
    fail_replaces_scenarios
        Whether a plan for what ``fail`` names is scored under that, not in the scenarios of its failure file.
    summary_of_question
        Parts of a plan's summary that depend on the question and the seed alone, not on the plan.
    """

    name: str
    options: type[PlanOptions]
    table: str
    changes: Callable[[Plan], bool]
    command: Command
    planners: tuple[Row, ...]
    metrics: tuple[Metric, ...]
    renamed_metrics: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ("topology",)
    plans: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    answers_failure: bool = False
    fail_replaces_scenarios: bool = False
    summary_of_question: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Fill in the kind of planners and metrics."""
        for name in ("planners", "metrics"):
            object.__setattr__(self, name, tuple(replace(item, kind=self.name) for item in getattr(self, name)))

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
        return resolve_name(f"{kinds.row(self.name).folder}.{module}:{name}")


def kind_of(name: str, verb: str = "ftplan") -> PlanKind:
    """Import and return a kind of plan, by its name.

    Raises FtplanError if *verb* cannot deal with it, because there is none of this name.
    """
    if name not in kinds.names():
        raise FtplanError(f"{verb} knows plans of kind {' and '.join(kinds.names())}, not yet {name}")
    kind: PlanKind = kinds.question(name)
    return kind
