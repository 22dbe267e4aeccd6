"""Replication plans as tables: how good, which replicas, what changes, and what other budgets buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.replicate_tasks.diff import ReplicationDifference
from ftplan.planners.views import capped, changed_objective, changed_options, headline, refusal, task_name
from ftplan.reports.answer import Answer, Table, cell

#: A gap above this many times the value is not given exactly: the value is next to nothing.
LARGE = 100
#: Points of the curve that a table shows.
POINTS = 20

_UNITS = {"tasks": "replicas", "cores": "cores", "mb": "MiB"}
_FIGURES = (
    ("key_aligned_fidelity", "key-aligned fidelity"),
    ("output_fidelity", "output fidelity"),
    ("internal_completeness", "internal completeness"),
    ("priority_time", "priority x seconds down"),
    ("replicas", "replicas"),
    ("cpu", "cores of replicas"),
    ("memory_mb", "state of replicas, MiB"),
)

#: Figures that only some plans have.
_SOMETIMES = ("key_aligned_fidelity", "priority_time")


def answer(plan: Plan) -> Answer:
    """Return a replication plan as JSON and as tables."""
    tables = [_headline(plan)] if plan.plan is None else [_headline(plan), _beside(plan)]
    after = plan.summary.get("after") or {}
    if after.get("by_case"):
        names, more = ["scenario", "probability", "failed tasks", "value"], []
        if plan.options.get("then_recover"):
            names, more = [*names[:3], "output fidelity", "priority x seconds down"], ["priority_time"]
        keys = ("id", "probability", "failed_tasks", "value", *more)
        tables.append(capped(tuple(names), [tuple(case.get(key) for key in keys) for case in after["by_case"]]))
    if plan.plan is not None:
        tables.append(_by_operator(plan.plan["replicas"]))
        for key, text in (("activate", "activate"), ("deactivate", "deactivate")):
            if plan.plan[key]:
                tables.append(capped((text, "node"), [(task_name(item), item["node"]) for item in plan.plan[key]]))
        if plan.plan["curve"]:
            tables.append(_curve(plan.plan["curve"], str(plan.options.get("budget_unit"))))
    return Answer(plan.to_json(), tables)


def _headline(plan: Plan) -> Table:
    options, summary = plan.options, plan.summary
    rows = headline(plan, LARGE) + refusal(plan)
    if options.get("target") is not None:
        rows.append(("target", options["target"]))
    else:
        unit = _UNITS.get(str(options.get("budget_unit")), "")
        rows.append(("budget", f"{cell(options.get('budget_limit'))} {unit}"))
    rows.append(("tasks that may fail", f"{cell(summary.get('failing_tasks'))} of {cell(summary.get('tasks'))}"))
    cases = [str(name) for name in options.get("cases", ())]
    rows.append(("failures", ", ".join(cases[:5]) + (f" and {len(cases) - 5} more" if len(cases) > 5 else "")))
    rows.append(("outputs weigh by", options.get("weight")))
    rows.append(("rules", ", ".join(plan.rules or ())))
    return Table(("task replication", ""), rows)


def _beside(plan: Plan) -> Table:
    """Return the plan's figures beside those of the replicas in place and of random choices."""
    columns = {
        "before": "before",
        "after": "this plan",
        "most_fidelity": "most fidelity",
        "random": f"random choice (mean of {(plan.summary.get('random') or {}).get('choices')})",
    }
    shown = {text: plan.summary.get(name) or {} for name, text in columns.items() if name in plan.summary}
    after = plan.summary.get("after") or {}
    known = [(name, text) for name, text in _FIGURES if name in after or name not in _SOMETIMES]
    rows = [(text, *(figures.get(name) for figures in shown.values())) for name, text in known]
    return Table(("", *shown), rows)


def _by_operator(replicas: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row for each operator, or one for each replica where these have nodes."""
    if any(item["node"] is not None for item in replicas):
        return capped(("replica of", "node"), [(task_name(item), item["node"]) for item in replicas])
    tasks: dict[str, list[int]] = {}
    for item in replicas:
        tasks.setdefault(item["operator"], []).append(item["index"])
    return capped(("operator", "replicas", "tasks"), [(name, len(i), _ranges(i)) for name, i in tasks.items()])


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, runs in short: 0-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def _curve(points: Sequence[Mapping[str, Any]], unit: str) -> Table:
    """Return the curve, or evenly spaced points of it."""
    shown = list(points)
    title = None
    if len(points) > POINTS:
        step = (len(points) - 1) / (POINTS - 1)
        shown = [points[round(k * step)] for k in range(POINTS)]
        title = f"{POINTS} of {len(points)} budgets (the JSON has all)"
    rows = [(point["budget"], point["value"], point["bound"]) for point in shown]
    return Table((f"budget, {_UNITS.get(unit, unit)}", "value", "bound"), rows, title=title)


def difference(changed: ReplicationDifference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rows = [(f"task:{c['operator']}/{c['index']}", c["what"], c["from"], c["to"]) for c in changed.changes]
    tables = [Table(("replica of", "what", "from", "to"), rows)] if rows else []
    started, stopped, moved = (changed.count(what) for what in ("activate", "deactivate", "move"))
    note = f"{started} replicas start, {stopped} stop, {moved} move; {changed_objective(changed)}"
    return [*tables, *changed_options(changed)], [note]
