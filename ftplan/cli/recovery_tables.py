"""Recovery schedules as tables: how good, step by step, query by query, and over time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.cli.gantt import chart
from ftplan.cli.render import Answer, Table, cell
from ftplan.model.plan import Plan

#: Rows of a table; the JSON has all.
SHOWN = 40

_FIGURES = (
    ("priority", "priority restored by all steps"),
    ("priority_step_0", "priority restored by step 0"),
    ("priority_time", "priority x seconds down"),
    ("queries_back", "queries back"),
    ("priority_back", "priority back"),
    ("first_back_s", "first query back, s"),
    ("last_back_s", "last query back, s"),
    ("fidelity_time", "output fidelity x seconds"),
)


def recovery_answer(plan: Plan) -> Answer:
    """Return a recovery schedule as JSON and as tables."""
    tables = [_headline(plan)]
    if plan.summary.get("random"):
        tables.append(_beside(plan))
    if plan.summary.get("sampled"):
        tables.append(_sampled(plan.summary["sampled"]))
    if plan.plan is not None:
        tables += [_steps(plan), _tasks(plan), _queries(plan)]
        drawn = chart(plan.plan, shutil.get_terminal_size((120, 40)).columns)
        tables += [drawn] if drawn is not None else []
        if plan.plan["unrecovered"]:
            left = [(_name(item), item["reason"]) for item in plan.plan["unrecovered"]]
            tables.append(_capped(("not recovered", "reason"), left))
    return Answer(plan.to_json(), tables)


def _headline(plan: Plan) -> Table:
    objective, summary = plan.objective, plan.summary
    rows: list[tuple[str, Any]] = [("algorithm", plan.algorithm), ("status", plan.status)]
    if objective is not None and objective.value is not None:
        rows.append((f"{objective.name} ({objective.sense})", objective.value))
        rows.append(("proven bound", objective.bound))
        rows.append(("gap", None if objective.gap is None else f"{objective.gap:.4%}"))
    if plan.infeasible is not None:
        rows += [(name.replace("_", " "), value) for name, value in plan.infeasible.to_dict().items()]
    elif plan.reason:
        rows.append(("reason", plan.reason))
    rows.append(("failed tasks", f"{cell(summary.get('failed_tasks'))} ({cell(summary.get('failed_cpu'))} cores)"))
    priority = cell(summary.get("failed_priority"))
    rows.append(("failed queries", f"{cell(summary.get('failed_queries'))} (priority {priority})"))
    shared = summary.get("shared_fraction")
    rows.append(("failed cost shared by all", None if shared is None else f"{shared:.1%}"))
    rows.append(("cost from", plan.options.get("cost")))
    rows.append(("rules", ", ".join(plan.rules or ())))
    return Table(("recovery schedule", ""), rows)


def _beside(plan: Plan) -> Table:
    """Return the plan's figures beside those of blocking recovery and of random orders."""
    before, after, random = (plan.summary.get(name) or {} for name in ("before", "after", "random"))
    rows = [(text, before.get(name), after.get(name), random.get(name)) for name, text in _FIGURES if name in random]
    return Table(("", "blocking", "this plan", f"random order (mean of {random.get('orders')})"), rows)


def _sampled(figures: Mapping[str, Any]) -> Table:
    """Return what the plan is worth when nodes arrive at other times within their ranges."""
    text = dict(_FIGURES)
    rows = []
    for name in ("priority_time", "last_back_s", "queries_back"):
        values = figures[name] or {}
        bad = next((value for key, value in values.items() if key != "mean"), None)
        rows.append((text[name], values.get("mean"), bad))
    return Table((f"on {figures['samples']} sampled arrivals", "mean", "worse in 5 %"), rows)


def _steps(plan: Plan) -> Table:
    assert plan.plan is not None
    rows = []
    for step in plan.plan["steps"]:
        objective = step["objective"]
        prefetched = sum(item["prefetch"] for item in step["recover"])
        rows.append(
            (
                step["step"],
                step["at_s"],
                step["trigger"],
                round(step["capacity"], 9),
                round(step["used"], 9),
                len(step["recover"]) - prefetched,
                prefetched,
                len(step["restored"]),
                objective["value"],
                objective["bound"],
            )
        )
    columns = ("step", "at, s", "trigger", "cores free", "used", "tasks", "prefetched", "queries", "priority", "bound")
    return Table(columns, rows)


def _tasks(plan: Plan) -> Table:
    assert plan.plan is not None
    rows = [
        (
            step["step"],
            _name(item) + _range(item.get("key_groups")),
            item["node"],
            item["cpu"],
            item["ready_s"],
            "prefetch" if item["prefetch"] else "",
        )
        for step in plan.plan["steps"]
        for item in step["recover"]
    ]
    return _capped(("step", "task", "node", "cores", "ready, s", ""), rows)


def _queries(plan: Plan) -> Table:
    assert plan.plan is not None
    never = float("inf")
    order = sorted(plan.plan["queries"], key=lambda q: never if q["back_s"] is None else q["back_s"])
    rows = [(_name(query), query["priority"], query["back_s"], query["reason"]) for query in order]
    return _capped(("query", "priority", "back, s", "reason"), rows)


def _capped(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table with at most :data:`SHOWN` rows and a word on the others."""
    if len(rows) <= SHOWN:
        return Table(columns, rows)
    title = f"first {SHOWN} … and {len(rows) - SHOWN:,} more (the JSON has all)"
    return Table(columns, rows[:SHOWN], title=title)


def _name(item: Any) -> str:
    return f"{item['operator']}/{item['index']}"


def _range(key_groups: Sequence[int] | None) -> str:
    return "" if key_groups is None else f" [{key_groups[0]}–{key_groups[1]}]"
