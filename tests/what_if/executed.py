"""A sweep of arithmetic, for what is about carrying sweeps out: nothing is planned, and cases can wait or end badly."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftplan.errors import FtplanError
from ftplan.what_if.axes import RowColumn
from ftplan.what_if.cases import Case

COLUMNS = (
    RowColumn("case", "text"),
    RowColumn("x", "number"),
    RowColumn("y", "whole"),
    RowColumn("status", "text"),
    RowColumn("cost", "number", "min", "s"),
    RowColumn("value", "number", "max"),
    RowColumn("gap", "number", "min", "share"),
    RowColumn("delta_cost", "number", None, "s"),
    RowColumn("delta_value", "number"),
    RowColumn("reason", "text"),
)


@dataclass(frozen=True)
class Answered:
    """Stands for a plan."""

    number: int

    warnings: tuple[()] = ()

    def to_json(self) -> str:
        return f'{{"number": {self.number}}}\n'


@dataclass(frozen=True)
class Arithmetic:
    """Cases over x and y; every *failing*-th fails.

    ``gate`` is a file without which no case from *gated* on is answered; case *fatal* ends its process.
    """

    cases: int
    failing: int = 1_000_000
    fatal: int = -1
    faulty: int = -1
    gate: Path | None = None
    gated: int = 0
    fingerprint: str = "arithmetic"
    name: str = "arithmetic"
    command: str = "recovery-schedule"
    kind: str = "recovery-schedule"
    measures: tuple[str, ...] = ("cost", "value")
    columns: tuple[RowColumn, ...] = COLUMNS
    swept: tuple[str, ...] = ("x", "y")
    warnings: tuple[()] = ()

    def __len__(self) -> int:
        return self.cases

    def case(self, number: int) -> Case:
        if number == 0:
            return Case("base", {"x": None, "y": None}, {})
        return Case(f"x={number / 7:.3f}, y={number % 3}", {"x": number / 7, "y": number % 3}, {"set": []})

    def row(self, number: int) -> dict[str, Any]:
        return self.row_and_answer(number)[0]

    def row_and_answer(self, number: int, *, whole: bool = False) -> tuple[dict[str, Any], Answered | None]:
        while self.gate is not None and number >= self.gated and not self.gate.exists():
            time.sleep(0.01)
        if number == self.fatal:
            os._exit(7)
        if number == self.faulty:
            raise RuntimeError("a fault of the case")
        case = self.case(number)
        row: dict[str, Any] = dict.fromkeys(column.name for column in self.columns)
        row |= {"case": case.id, **case.values}
        try:
            answer = self.answer(number)
        except FtplanError as error:
            return {**row, "status": "error", "reason": str(error)}, None
        figures = {"cost": (number * 37 % 101) / 3, "value": float(number % 13), "gap": 0.0}
        return {**row, "status": "optimal", **figures}, answer

    def answer(self, number: int) -> Answered:
        if number and number % self.failing == 0:
            raise FtplanError(f"case {number} cannot be")
        return Answered(number)

    def differences(self, row: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
        changed = dict(row)
        for name in self.measures:
            if row[name] is not None and base[name] is not None:
                changed[f"delta_{name}"] = row[name] - base[name]
        return changed
