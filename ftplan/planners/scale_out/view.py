"""Scale-outs as tables: how good, which operators change and when, by which steps, and what else there is to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.scale_out.diff import ScaleOutDifference
from ftplan.planners.scale_out.figure import changed, due, lead, operators, records
from ftplan.planners.scale_out.view_findings import findings, percent
from ftplan.planners.views import SHOWN, capped, changed_objective, changed_options, figure, headline, refusal
from ftplan.reports.answer import Answer, Table, cell
from ftplan.reports.numbers import SPACE
from ftplan.reports.sparkline import levels, sparkline

#: Characters of a score over time.
WIDTH = 24
_FIGURES = (
    ("sustained_load", "sustained share of the demand"),
    ("cpu", "cores of all tasks"),
    ("extra_cpu", "more than now"),
    ("highest_utilisation", "utilisation of the busiest task"),
    ("fairness", "fairness: cores had of those needed"),
    ("pause_s", "longest pause, s"),
    ("extra_core_s", "core-seconds for the change"),
    ("state_bytes", "state that is sent, bytes"),
)
#: Figures of an operator by which two plans are compared.
_COMPARED = {
    "operators_changed": "operators that change",
    "tasks": "tasks",
    "cpu": "cores",
    "sustained_load": "sustained share of the demand",
    "highest_utilisation": "utilisation of the busiest task",
    "fairness": "fairness",
    "pause_s": "longest pause, s",
    "extra_core_s": "core-seconds for the change",
}


def answer(plan: Plan) -> Answer:
    """Return a scale-out as JSON and as tables."""
    tables = [_headline(plan), *_beside(plan)]
    if plan.plan is not None:
        tables += [_operators(plan), *_changes(plan), *_steps(plan)]
    return Answer(plan.to_json(), [*tables, *findings(plan)], _notes(plan))


def _headline(plan: Plan) -> Table:
    rows = headline(plan) + refusal(plan)
    least = plan.summary.get("least_extra_cpu")
    if least is not None:
        rows.append(("fewest cores for it", f"{cell(least)} more than now, proven"))
    at = plan.summary.get("thresholds") or {}
    if at:
        low, high = at.get("reachable") or (None, None)
        reach = "" if low is None else f"; scores lie between {low:.4g} and {high:.4g}"
        names = (("scale_in", "scale in below"), ("alarming", "prepare from"), ("promote", "promote above"))
        rows.append(("thresholds", ", ".join(f"{text} {cell(at.get(name))}" for name, text in names) + reach))
    rows.append(("rules", ", ".join(plan.rules or ()) or "none"))
    return Table(("scale-out", ""), rows)


def _beside(plan: Plan) -> list[Table]:
    """Return the figures now and afterwards, beside what DS2 and twice the tasks would give under the same limits."""
    columns = {"now": plan.summary.get("before"), "this plan": plan.summary.get("after")}
    for name, figures in (plan.summary.get("baselines") or {}).items():
        columns[{"ds2": "DS2", "doubling": "twice the tasks"}.get(name, name)] = figures
    known = {text: figures for text, figures in columns.items() if figures}
    rows = [
        (text, *(figure(figures, name) for figures in known.values()))
        for name, text in _FIGURES
        if any(figures.get(name) is not None for figures in known.values())
    ]
    return [Table(("", *known), rows)] if rows else []


def _operators(plan: Plan) -> Table:
    """Return the operators, those that change first: scores over time, states, how busy they are, and when too busy."""
    over_time = {item.get("operator"): item for item in records(plan, "scores")}
    foretold = {item.get("operator"): item for item in records(plan, "forecast")}
    low, high = (plan.summary.get("thresholds") or {}).get("reachable") or (0.0, 100.0)
    rows = []
    for item in operators(plan):
        name, use = item["operator"], item.get("utilisation_from")
        line = _line((over_time.get(name) or {}).get("scores") or (), low, high)
        when = due(item, foretold.get(name))
        rows.append((name, item.get("score"), line, item.get("state"), percent(use), when))
    return capped(("operator", "score", "over time", "state", "utilisation", "bottleneck"), rows)


def _changes(plan: Plan) -> list[Table]:
    """Return the tasks of operators that change, how busy they are then, by which technique, and what that takes."""
    rows = []
    for item in changed(plan):
        tasks = f"{item['parallelism_from']:,} -> {item['parallelism_to']:,}"
        use = f"{percent(item.get('utilisation_from'))} -> {percent(item.get('utilisation_to'))}"
        takes = (item.get("technique") or "–", item.get("pause_s"), item.get("extra_core_s"))
        rows.append((item["operator"], tasks, use, *takes))
    columns = ("changes", "tasks", "utilisation", "technique", "pause, s", "extra core-s")
    return [capped(columns, rows)] if rows else []


def _line(scores: Sequence[float | None], low: float, high: float) -> str:
    """Return scores as a line, the highest of what falls together, from the lowest that rules reach to the highest."""
    wide = min(WIDTH, len(scores))
    parts = [scores[len(scores) * k // wide : len(scores) * (k + 1) // wide] for k in range(wide)]
    highest = [max((value for value in part if value is not None), default=None) for part in parts]
    return sparkline([None if v is None else max(v - low, 0.0) for v in highest], WIDTH, high - low, levels())


def _steps(plan: Plan) -> list[Table]:
    """Return why operators get so many tasks, and what is done, as a list to tick off."""
    why = [(item["operator"], item["reason"]) for item in operators(plan) if item.get("reason")]
    tables = [capped(("operator", "why"), why)] if why else []
    rows = [
        ("[ ]", f"{number} of {item['operator']}", step)
        for item in changed(plan)
        for number, step in enumerate(item.get("steps") or (), 1)
    ]
    return [*tables, *([capped(("done", "step", ""), rows, tick=True)] if rows else [])]


def _notes(plan: Plan) -> list[str]:
    """Return the plan in a few sentences."""
    if plan.plan is None:
        return []
    said = " ".join(lead(plan)).replace(SPACE, " ")
    keyed = any(item.get("key_ranges") for item in changed(plan))
    return [f"{said} Key ranges, nodes and state of each task: in the JSON." if keyed else said]


def difference(given: ScaleOutDifference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rows = [(change["operator"], change["what"].replace("_", " "), _short(change["from"]), _short(change["to"]))
            for change in given.changes]  # fmt: skip
    tables = [capped(("operator", "what", "from", "to"), rows)] if rows else []
    figures = [(_COMPARED[name], *values) for name, values in given.figures.items() if values[0] != values[1]]
    tables += [Table(("", "before", "after"), figures)] if figures else []
    tables += changed_options(given)
    number = len({change["operator"] for change in given.changes})
    return tables, [f"{number} of {given.operators} operators change; {changed_objective(given)}"]


def _short(value: Any) -> Any:
    """Return a value in a table: of a long list its length, ranges with dashes."""
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) > SHOWN // 4:
        return f"{len(value)} entries (the JSON has them)"
    return ", ".join(f"{item[0]}–{item[1]}" if isinstance(item, (list, tuple)) else str(item) for item in value)
