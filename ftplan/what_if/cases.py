"""The cases of a what-if file: what each changes, its answer, and its row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from ftplan.api.plans import evaluate
from ftplan.errors import FtplanError
from ftplan.io.what_if_file import BASE
from ftplan.model.plan import Plan, Warn, canonical_number
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Evaluation
from ftplan.planners.making import PARTS, without_comparisons
from ftplan.what_if.axes import AxisPoint, CaseAxis, RowColumn
from ftplan.what_if.delta import Delta
from ftplan.what_if.edits import edited
from ftplan.what_if.inputs import Inputs, Problems
from ftplan.what_if.measures import Measure, metrics_in
from ftplan.what_if.question import CaseQuestion

#: Status of a case that could not be answered, and of one whose plan was evaluated.
ERROR, EVALUATED = "error", "evaluated"


@dataclass(frozen=True)
class Case:
    """A case: its id, its values on the axes (a column it has none of is missing), and what differs from the base."""

    id: str
    values: Mapping[str, Any]
    deltas: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class WhatIfCases:
    """A question and its cases; all files are read. It can be pickled.

    Attributes
    ----------
    measured
        What is measured; each is a column, and its difference from the base is ``delta_`` and its name.
    columns
        What a row holds, in order: ``case``, the axes, ``status``, ``algorithm``, ``sense``, the measures, ``gap``, the
        differences, ``reason``. Of these ``algorithm``, ``sense`` (of the objective) and ``gap`` are of plans only.
    swept
        The columns that tell the cases of the grid apart.
    fingerprint
        SHA-256 of the what-if document, all inputs and the tool's version: equal fingerprints, equal rows.
    warnings
        What deserves a second look in the what-if file.
    inputs
        The inputs of the base, by the hash of the plan that is evaluated; "" where none is.
    listed
        Id and change of each listed case.
    problems
        Inputs of earlier cases, for those that share them.
    """

    name: str
    question: CaseQuestion
    measured: tuple[Measure, ...]
    columns: tuple[RowColumn, ...]
    swept: tuple[str, ...]
    fingerprint: str
    inputs: Mapping[str, Inputs]
    listed: tuple[tuple[str, Delta], ...] = ()
    axes: tuple[CaseAxis, ...] = ()
    warnings: tuple[Warn, ...] = ()
    problems: Problems = field(default_factory=Problems)

    @property
    def command(self) -> str:
        """The command of a kind of plan, or ``evaluate``."""
        return self.question.command

    @property
    def kind(self) -> str:
        """The kind of plan that is made or evaluated."""
        return self.question.kind

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of what is measured."""
        return tuple(measure.name for measure in self.measured)

    def __len__(self) -> int:
        """Return the number of cases: the base, which is case 0, those listed, those of the grid."""
        return 1 + len(self.listed) + points_of(self.axes)

    def case(self, number: int) -> Case:
        """Return a case, without answering it."""
        name, point = self._point(number)
        return Case(name, dict(point.values), point.delta.described())

    def _point(self, number: int) -> tuple[str, AxisPoint]:
        """Return the id of a case, and its point."""
        if not 0 <= number < len(self):
            raise IndexError(f"case {number} of {len(self)}")
        if number == 0:
            return BASE, AxisPoint()
        if number <= len(self.listed):
            name, delta = self.listed[number - 1]
            return name, AxisPoint({}, delta)
        rest, labels, point = number - 1 - len(self.listed), [], AxisPoint()
        numbers = []
        for axis in reversed(self.axes):
            rest, k = divmod(rest, axis.count)
            numbers.append(k)
        for axis, k in zip(self.axes, reversed(numbers), strict=True):
            labels.append(axis.label(k))
            point = point.then(axis.point(k))
        return " ".join(labels), point

    def row(self, number: int) -> dict[str, Any]:
        """Answer a case and return its row, with the ``delta_`` columns empty; equal numbers give equal rows.

        A case that fails, for whatever reason, is a row with status ``error`` and what is wrong as ``reason``.
        """
        return self.row_and_answer(number)[0]

    def row_and_answer(self, number: int, *, whole: bool = False) -> tuple[dict[str, Any], Plan | Evaluation | None]:
        """Answer a case once and return its row, as :meth:`row` does, and the answer, None where it fails.

        Parameters
        ----------
        whole
            Whether the plan has to have its comparisons, as that of a single command does, where no measure reads them.
        """
        name, point = self._point(number)
        row: dict[str, Any] = {column.name: None for column in self.columns}
        row |= {**point.values, "case": name}
        try:
            with nullcontext() if whole or self._compares else without_comparisons():
                answered, problem = self._answered(point.delta)
            if isinstance(answered, Evaluation):
                return {**row, "status": EVALUATED, **self._measured(None, metrics_in(answered))}, answered
            metrics = self._metrics(answered, problem, point.delta)
            stated = answered.objective
            row |= {"status": answered.status, "algorithm": answered.algorithm, "reason": answered.reason}
            row |= {"gap": stated.gap, "sense": stated.sense} if stated is not None else {}
            return {**row, **self._measured(answered, metrics)}, answered
        except FtplanError as error:
            reason = str(error)
        except Exception as error:  # one case of many: the others are answered all the same
            reason = f"a fault of ftplan, not yours: {type(error).__name__}: {error}"
        return {**row, "status": ERROR, "reason": reason}, None

    def answer(self, number: int) -> Plan | Evaluation:
        """Return the plan or evaluation of a case, the very one that a single command gives.

        Raises FtplanError if what the case changes cannot be, or the command refuses it.
        """
        return self._answered(self._point(number)[1].delta)[0]

    def _answered(self, delta: Delta) -> tuple[Plan | Evaluation, Problem]:
        question = self.question
        document = delta.plan or question.plan
        given = None if document is None else self.problems.plan(document)
        inputs = self.inputs["" if document is None else document.sha256]
        problem = self.problems.of(edited(inputs, delta))
        fail = self._fail(delta) if given is not None or question.answers_failure or not self._scored else ()
        options = {**question.options, **delta.options}
        algorithm = delta.algorithm or question.algorithm
        answered = question.ask(problem, plan_given=given, algorithm=algorithm, fail=fail, options=options)
        return answered, problem

    @property
    def _compares(self) -> bool:
        """Whether a measure may read what a plan is held against."""
        places = [measure.name.split(".") for measure in self.measured if measure.source == "place"]
        return any(place[0] == "warnings" or (place[0] == "summary" and place[1] in PARTS) for place in places)

    def _fail(self, delta: Delta) -> tuple[str, ...]:
        if delta.fail is None:
            return self.question.fail if delta.failures is None else ()
        return delta.fail

    @property
    def _scored(self) -> bool:
        return any(measure.source == "metric" for measure in self.measured)

    def _metrics(self, plan: Plan, problem: Problem, delta: Delta) -> dict[str, float | None]:
        """Return the metrics of a plan that was made, none where none is measured or there is no answer."""
        if not self._scored or plan.plan is None:
            return {}
        return metrics_in(evaluate(plan, problem, fail=() if self.question.answers_failure else self._fail(delta)))

    def _measured(self, plan: Plan | None, metrics: Mapping[str, float | None]) -> dict[str, float | None]:
        return {measure.name: measure.of(plan, metrics) for measure in self.measured}

    def differences(self, row: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the difference of each measure from the base's row; None where either has none."""
        changed = dict(row)
        for name in self.measures:
            before, after = base.get(name), row.get(name)
            if isinstance(before, (int, float)) and isinstance(after, (int, float)):
                changed[f"delta_{name}"] = canonical_number(after - before)
        return changed


def points_of(axes: tuple[CaseAxis, ...]) -> int:
    """Return the number of points of a grid; of no axes there are none."""
    count = 1 if axes else 0
    for axis in axes:
        count *= axis.count
    return count
