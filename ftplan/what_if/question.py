"""The command that answers every case: what it takes, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ftplan.api.plans import evaluate, plan
from ftplan.errors import FtplanError, Mistakes, suggestion
from ftplan.io.documents import Document
from ftplan.io.options.fields import Check, checked
from ftplan.io.options.parameters import CALLS
from ftplan.io.plan_file import load_plan
from ftplan.io.what_if_file import RunModel
from ftplan.model.kinds import names, renamed
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.assessments import Evaluation
from ftplan.planners.kind import kind_of
from ftplan.planners.plan_inputs import a_plan
from ftplan.what_if.inputs import Reader

EVALUATE = "evaluate"


@dataclass(frozen=True, eq=False)
class CaseQuestion:
    """What is asked in every case, where a case does not ask otherwise.

    Attributes
    ----------
    kind
        The kind of plan that is made, or evaluated.
    answers_failure
        Whether what fails is part of the question; otherwise it counts in metrics only.
    plan
        The plan that is evaluated.
    """

    command: str
    kind: str
    answers_failure: bool
    algorithm: str | None = None
    plan: Document | None = None
    fail: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def evaluates(self) -> bool:
        """Whether a given plan is evaluated, instead of one made."""
        return self.command == EVALUATE

    def taken(self, given: Mapping[str, Any], reader: Reader) -> dict[str, Any]:
        """Return options of the command by their names, with the plans and other files among them read.

        Raises FtplanError if one is unknown or wrong, or a file cannot be read.
        """
        checks = _checks(self.command, self.kind)
        asked = None if self.evaluates else kind_of(self.kind)
        roles = (
            {}
            if asked is None
            else {**dict.fromkeys(dict(asked.plans), "plan"), **{name: name for name in asked.files}}
        )
        tables = () if asked is None else asked.tables
        options: dict[str, Any] = {}
        for spelled, value in given.items():
            name = spelled.replace("-", "_")
            name = f"{name}_s" if name not in checks and f"{name}_s" in checks else name
            if name in options:
                raise FtplanError(f"{spelled!r} is given twice (dashes and underscores are the same)")
            taken = reader.read(roles[name], value) if name in roles and value is not None else value
            options[name] = reader.path(taken) if name in tables and isinstance(taken, str) else taken
        checked(self.command, checks, options)
        return options

    def ask(
        self,
        problem: Problem,
        *,
        plan_given: Plan | None,
        algorithm: str | None,
        fail: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> Plan | Evaluation:
        """Return the answer of the command.

        Raises FtplanError as the command does.
        """
        if plan_given is not None:
            return evaluate(plan_given, problem, fail=fail, **options)
        return plan(self.command, problem, algorithm=algorithm, fail=fail, **options)


def question_of(run: RunModel, reader: Reader, mistakes: Mistakes, name: str) -> CaseQuestion | None:
    """Return what the what-if file *name* asks; None where its command, or the plan that it evaluates, is unknown.

    It is a mistake if there is no such command or algorithm, an option is wrong, or the plan to evaluate is missing.
    """
    question = None
    with mistakes.caught(name):
        question = _question(run, reader)
    if question is None:
        return None
    if not question.evaluates:
        with mistakes.caught(f"{name}: run.plan"):
            if run.plan is not None:
                raise FtplanError(f"{run.command} makes a plan: leave it out, or write 'command: evaluate'")
        with mistakes.caught(f"{name}: run.algorithm"):
            try:
                registry.row(question.kind, run.algorithm)
            except FtplanError as error:
                raise FtplanError(str(error).removeprefix("--algorithm: ")) from None
    elif run.algorithm is not None:
        with mistakes.caught(f"{name}: run.algorithm"):
            raise FtplanError("evaluate has none: leave it out")
    with mistakes.caught(f"{name}: run.options"):
        return replace(question, options=question.taken(run.options, reader))
    return question


def _question(run: RunModel, reader: Reader) -> CaseQuestion:
    """Return what is asked, without options.

    Raises FtplanError if there is no such command, or the plan to evaluate is missing or wrong.
    """
    fail = (run.fail,) if isinstance(run.fail, str) else tuple(run.fail)
    if run.command == EVALUATE:
        if run.plan is None:
            raise FtplanError("run.plan: is missing: which plan shall be evaluated?")
        document = reader.read("plan", run.plan)
        assert isinstance(document, Document)
        made = a_plan(load_plan(document).value)
        kind = kind_of(made.kind, EVALUATE)
        return CaseQuestion(EVALUATE, made.kind, kind.answers_failure, plan=document, fail=fail)
    kind = kind_of(_require_kind(run.command))
    return CaseQuestion(kind.name, kind.name, kind.answers_failure, algorithm=run.algorithm, fail=fail)


def _require_kind(command: str) -> str:
    """Return the name of a command that plans, if there is one of this name."""
    commands = [*names(), EVALUATE]
    if command not in names():
        if (new := renamed(command)) is not None:
            raise FtplanError(f"run.command: {new}")
        near = suggestion(command, commands)
        raise FtplanError(f"run.command: unknown command {command!r}{near}: one of {', '.join(commands)}")
    return command


def _checks(command: str, kind: str) -> dict[str, Check]:
    """Return how each option of the command is checked; what fails is said beside the options."""
    checks = (
        CALLS[EVALUATE]
        if command == EVALUATE
        else {name: item.check for name, item in kind_of(kind).options.options().items()}
    )
    return {name: check for name, check in checks.items() if name not in ("fail", "fail_under")}
