"""Recovery schedules as tables: how good, step by step, query by query, and over time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.recovery_schedule.diff import ScheduleDifference
from ftplan.planners.recovery_schedule.view_charts import chart, over_time
from ftplan.planners.views import capped, changed_objective, changed_options, headline, refusal, task_name
from ftplan.reports.answer import Answer, Table, cell

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
#: What the figures are of, in order.
_COLUMNS = (
    ("before", "blocking"),
    ("step_by_step", "step by step"),
    ("after", "this plan"),
    ("random", "random order (mean of {})"),
)


def answer(plan: Plan) -> Answer:
    """Return a recovery schedule as JSON and as tables."""
    tables = [_headline(plan)]
    if any(plan.summary.get(name) for name, _ in _COLUMNS):
        tables.append(_beside(plan))
    if plan.summary.get("sampled"):
        tables.append(_sampled(plan.summary["sampled"]))
    if plan.plan is not None:
        drawn = over_time(plan)
        tables += [drawn] if drawn is not None else []
        tables += [_steps(plan), _tasks(plan), *_paused(plan), _queries(plan)]
        drawn = chart(plan.plan, shutil.get_terminal_size((120, 40)).columns)
        tables += [drawn] if drawn is not None else []
        if plan.plan["unrecovered"]:
            left = [(task_name(item), item["reason"]) for item in plan.plan["unrecovered"]]
            tables.append(capped(("not recovered", "reason"), left))
    return Answer(plan.to_json(), tables)


def _headline(plan: Plan) -> Table:
    summary = plan.summary
    rows = headline(plan) + refusal(plan)
    rows.append(("failed tasks", f"{cell(summary.get('failed_tasks'))} ({cell(summary.get('failed_cpu'))} cores)"))
    priority = cell(summary.get("failed_priority"))
    rows.append(("failed queries", f"{cell(summary.get('failed_queries'))} (priority {priority})"))
    rows += _rollback(summary)
    shared = summary.get("shared_fraction")
    rows.append(("failed cost shared by all", None if shared is None else f"{shared:.1%}"))
    rows.append(("cost from", plan.options.get("cost")))
    rows.append(("rules", ", ".join(plan.rules or ())))
    return Table(("recovery schedule", ""), rows)


def _rollback(summary: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return what going back to the last checkpoint takes down, and what waiting for one rollback would lose."""
    rows: list[tuple[str, Any]] = []
    if summary.get("rolled_back_queries"):
        rows.append(("queries down by a rollback only", summary["rolled_back_queries"]))
    waiting = summary.get("waiting")
    if isinstance(waiting, Mapping):
        until_s, lost = waiting.get("until_s"), waiting.get("priority_time")
        rows.append(
            ("waiting instead", f"until the failure at {cell(until_s)} s: {cell(lost)} priority x seconds down")
        )
    return rows


def _beside(plan: Plan) -> Table:
    """Return the plan's figures beside those of blocking recovery, of each step alone, and of random orders."""
    columns = {name: plan.summary.get(name) or {} for name, _ in _COLUMNS}
    shown = [name for name, _ in _COLUMNS if columns[name] or name in ("before", "after")]
    rows = [
        (text, *(columns[column].get(name) for column in shown))
        for name, text in _FIGURES
        if any(name in columns[column] for column in shown)
    ]
    heads = {name: text.format(columns["random"].get("orders", 0)) for name, text in _COLUMNS}
    return Table(("", *(heads[name] for name in shown)), rows)


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
    started = [(step, item) for step in plan.plan["steps"] for item in step["recover"]]
    late = any(_late(item) for _, item in started)
    rows = [
        (
            step["step"],
            task_name(item) + _range(item.get("key_groups")),
            item["node"],
            item["cpu"],
            item["ready_s"],
            *([item.get("caught_up_s")] if late else []),
            "prefetch" if item["prefetch"] else "",
        )
        for step, item in started
    ]
    return capped(("step", "task", "node", "cores", "ready, s", *(["caught up, s"] if late else []), ""), rows)


def _late(item: Mapping[str, Any]) -> bool:
    """Return whether a task has something to process again once it runs."""
    caught_up_s = item.get("caught_up_s")
    return caught_up_s is not None and caught_up_s > item["ready_s"]


def _paused(plan: Plan) -> list[Table]:
    """Return what gives way to failed queries, and when it has caught up again, if anything does."""
    assert plan.plan is not None
    rows = []
    for number, step in enumerate(plan.plan["steps"]):
        for item in step.get("pause") or ():
            name, replica = task_name(item), bool(item.get("replica"))
            later = [r for s in plan.plan["steps"][number:] for r in s["recover"] if task_name(r) == name]
            back_s = None if replica or not later else later[0].get("caught_up_s", later[0]["ready_s"])
            what = f"{name} (replica)" if replica else name
            rows.append((step["step"], what, item["node"], item["cpu"], back_s))
    return [capped(("step", "gives way", "node", "cores", "back, s"), rows)] if rows else []


def _queries(plan: Plan) -> Table:
    assert plan.plan is not None
    never = float("inf")
    order = sorted(plan.plan["queries"], key=lambda q: never if q["back_s"] is None else q["back_s"])
    rows = [(task_name(query), query["priority"], query["back_s"], query["reason"]) for query in order]
    return capped(("query", "priority", "back, s", "reason"), rows)


def _range(key_groups: Sequence[int] | None) -> str:
    return "" if key_groups is None else f" [{key_groups[0]}–{key_groups[1]}]"


def difference(changed: ScheduleDifference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rows = [(f"task:{c['operator']}/{c['index']}", c["what"], c["from"], c["to"]) for c in changed.changes]
    tables = [Table(("task", "what", "from", "to"), rows)] if rows else []
    back = [(f"query:{q['operator']}/{q['index']}", q["from"], q["to"]) for q in changed.queries]
    tables += [Table(("query", "back before, s", "after"), back)] if back else []
    tables += changed_options(changed)
    tasks = len({row[0] for row in rows})
    return tables, [f"{tasks} of {changed.tasks} tasks change, {len(back)} queries; {changed_objective(changed)}"]
