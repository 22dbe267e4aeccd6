"""One question asked under changed inputs: what a row of a sweep holds, its cases, and the row of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import ftplan
from ftplan.api.answers import Evaluation
from ftplan.api.loading import Source
from ftplan.api.loading import load as load_inputs
from ftplan.errors import FtplanError
from ftplan.io.documents import read_document
from ftplan.io.fingerprint import sha256_of_data
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem


@dataclass(frozen=True)
class Column:
    """A column of the rows: its type, which way is better (None: neither), and its unit."""

    name: str
    type: Literal["text", "number", "whole", "flag"]
    sense: Literal["min", "max"] | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Case:
    """A case: its id, the value on each axis (None where it is not on the axis), and what differs from the base."""

    id: str
    values: Mapping[str, Any]
    deltas: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Sweep:
    """A question and its cases; inputs are read and prepared. It can be pickled.

    Attributes
    ----------
    command
        The command of a kind of plan, or ``evaluate``.
    kind
        The kind of plan that is made or evaluated.
    measures
        What is measured, by name; each is a column, and its difference from the base is ``delta_`` and that name.
    columns
        What a row holds, in order: ``case``, the axes, ``status``, ``algorithm``, the measures, ``gap``, the
        differences, ``reason``.
    swept
        The columns of the axes.
    fingerprint
        SHA-256 of the what-if document, all inputs and the tool's version: equal sweeps have equal rows.
    """

    name: str
    command: str
    kind: str
    measures: tuple[str, ...]
    columns: tuple[Column, ...]
    swept: tuple[str, ...]
    fingerprint: str
    cases: tuple[Case, ...]
    problem: Problem
    algorithm: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of cases, with the base, which is case 0."""
        return len(self.cases)

    def case(self, number: int) -> Case:
        """Return a case, without any work."""
        return self.cases[number]

    def row(self, number: int) -> dict[str, Any]:
        """Answer a case and return its row, with the ``delta_`` columns empty.

        A case that fails is a row with status ``error`` and its message as ``reason``.
        """
        case = self.case(number)
        row: dict[str, Any] = {column.name: None for column in self.columns}
        row |= {"case": case.id, **case.values}
        try:
            answered = self.answer(number)
        except FtplanError as error:
            return {**row, "status": "error", "reason": str(error)}
        assert isinstance(answered, Plan)
        stated = answered.objective
        row |= {"status": answered.status, "algorithm": answered.algorithm, "reason": answered.reason}
        for name in ("gap", *self.measures):
            row[name] = getattr(stated, {"objective": "value"}.get(name, name)) if stated else None
        return row

    def answer(self, number: int) -> Plan | Evaluation:
        """Return the plan or evaluation of a case, the very one that a single command gives.

        Raises
        ------
        FtplanError
            If what the case changes cannot be, or the command refuses it.
        """
        deltas = self.case(number).deltas
        options = {**self.options, **deltas.get("options", {})}
        fail = deltas.get("fail", ())
        return ftplan.plan(self.command, self.problem, algorithm=self.algorithm, fail=fail, **options)

    def differences(self, row: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the difference of each measure from the base's row; None where either has none."""
        changed = dict(row)
        for name in self.measures:
            before, after = base.get(name), row.get(name)
            if isinstance(before, (int, float)) and isinstance(after, (int, float)):
                changed[f"delta_{name}"] = after - before
        return changed


def load_sweep(source: Source, **overrides: Any) -> Sweep:
    """Read a what-if file with all that it names, and prepare it.

    Raises
    ------
    FtplanError
        If the file or an input is wrong: before any case is answered.
    """
    document = read_document(source, "what-if")
    value = document.value
    problem = load_inputs(**value.get("inputs", {}))
    run = value["run"]
    cases = [Case("base", {}, {})]
    cases += [
        Case(item.get("id", f"case-{i}"), {}, {k: v for k, v in item.items() if k != "id"})
        for i, item in enumerate(value.get("cases", []), 1)
    ]
    measures = tuple(value.get("measures", ("objective", "bound")))
    columns = (
        Column("case", "text"),
        Column("status", "text"),
        Column("algorithm", "text"),
        *(Column(name, "number") for name in measures),
        Column("gap", "number", "min", "share"),
        *(Column(f"delta_{name}", "number") for name in measures),
        Column("reason", "text"),
    )
    digest = sha256_of_data([document.sha256, [item.sha256 for item in problem.inputs], ftplan.__version__])
    return Sweep(
        name=value.get("name") or "what-if",
        command=run["command"],
        kind=run["command"],
        measures=measures,
        columns=columns,
        swept=(),
        fingerprint=digest,
        cases=tuple(cases),
        problem=problem,
        algorithm=run.get("algorithm"),
        options=run.get("options", {}),
    )
