"""Plans and their differences as tables: ``view.py`` of each question, and what the tables of several share."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from ftplan.model.kinds import row
from ftplan.model.plan import Plan
from ftplan.planners.assessments import Difference
from ftplan.reports.answer import Answer, Table
from ftplan.reports.numbers import is_number, under_assumptions

#: Rows of a table that are shown unless more are asked for; the JSON has all.
SHOWN = 40


class View(Protocol):
    """What ``view.py`` of a question has."""

    def answer(self, plan: Plan) -> Answer:
        """Return a plan as JSON and as tables: how good it is first."""

    def difference(self, difference: Any) -> tuple[list[Table], list[str]]:
        """Return the tables of a difference, and the notes below them."""


def view(kind: str) -> View:
    """Import and return the view of a kind of plan."""
    return cast(View, importlib.import_module(f"{row(kind).folder}.view"))


def capped(columns: Sequence[str], rows: Sequence[Sequence[Any]], tick: bool = False) -> Table:
    """Return a table that shows :data:`SHOWN` rows where nobody asks for more; *tick* as in :class:`Table`."""
    return Table(columns, rows, tick=tick, most=SHOWN)


def task_name(item: Any) -> str:
    """Return the name of the task that an entry of a plan is about."""
    return f"{item['operator']}/{item['index']}"


def headline(plan: Plan, largest_gap: float | None = None) -> list[tuple[str, Any]]:
    """Return the first rows of every plan: how it was made, and how good it is.

    A gap above *largest_gap* is not given exactly: the value is next to nothing.
    """
    objective = plan.objective
    rows: list[tuple[str, Any]] = [("algorithm", plan.algorithm), ("status", verdict(plan))]
    if objective is not None and objective.value is not None:
        gap = None if objective.gap is None else f"{objective.gap:.4%}"
        if objective.gap is not None and largest_gap is not None and objective.gap > largest_gap:
            gap = f"more than {largest_gap:g} times the value"
        rows.append((f"{objective.name} ({objective.sense})", objective.value))
        rows += [("proven bound", objective.bound), ("gap", gap)]
    return rows + [("assumed", f"{item.message} [{item.code}]") for item in plan.assumptions or ()]


def verdict(plan: Plan) -> str | None:
    """Return the status, and how many assumptions it holds for."""
    if not plan.assumptions:
        return plan.status
    return under_assumptions(str(plan.status), len(plan.assumptions))


def refusal(plan: Plan) -> list[tuple[str, Any]]:
    """Return the rows that say why there is no plan, or whatever reason a plan gives."""
    if plan.infeasible is not None:
        return [(name.replace("_", " "), value) for name, value in plan.infeasible.to_dict().items()]
    return [("reason", plan.reason)] if plan.reason else []


def whole(value: Any) -> Any:
    """Return bytes as a whole number."""
    return round(value) if is_number(value) else value


def figure(record: Mapping[str, Any], name: str) -> Any:
    """Return a figure of a record, bytes as a whole number."""
    value = record.get(name)
    return whole(value) if name.endswith("bytes") else value


def changed_figures(figures: Mapping[str, tuple[Any, Any]], names: Mapping[str, str]) -> list[Table]:
    """Return a table of the figures that differ, under the text that *names* has for them, if any do."""
    rows = [
        (names.get(name, name.replace("_", " ")), *(figure({name: value}, name) for value in values))
        for name, values in figures.items()
        if values[0] != values[1]
    ]
    return [Table(("", "before", "after"), rows)] if rows else []


def changed_options(difference: Difference) -> list[Table]:
    """Return a table of the options that differ, if any do."""
    rows = [(o["name"], o["from"], o["to"]) for o in difference.options]
    return [Table(("option", "from", "to"), rows)] if rows else []


def changed_objective(difference: Difference) -> str:
    """Return the two values of the objective, as a note."""
    return (
        f"{difference.objective['name'] or 'objective'}: {difference.objective['from']} -> {difference.objective['to']}"
    )
