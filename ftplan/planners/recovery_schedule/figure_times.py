"""When tasks are restored on each node, when queries are down and back, and how much is back over time.

Read from a recovery schedule as it lies in a file, which may be anybody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ftplan.reports.numbers import is_number

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TaskSpan:
    """What goes on in a row of a chart during a stretch of time, in seconds."""

    begin_s: float
    end_s: float
    what: Literal["restore", "prefetch", "catch-up", "down", "back"]


def recoveries(body: Body) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each task that is recovered, with its step."""
    for step in body["steps"]:
        for item in step["recover"]:
            yield step, item


def has_nodes(body: Body) -> bool:
    """Return whether the schedule says on which node any task is restored."""
    return any(item.get("node") is not None for _, item in recoveries(body))


def restores(body: Body) -> dict[str, list[TaskSpan]]:
    """Return the restores of each node, one after another, nodes in the order of their first.

    Tasks that process again what they missed catch up afterwards; these stretches stand first in a row.
    """
    rows: dict[str, list[TaskSpan]] = {}
    behind: dict[str, list[TaskSpan]] = {}
    free: dict[str, float] = {}
    for step, item in recoveries(body):
        node = str(item.get("node"))
        ready_s = step["at_s"] if item.get("ready_s") is None else item["ready_s"]
        begin = min(max(step["at_s"], free.get(node, 0.0)), ready_s)
        free[node] = max(free.get(node, 0.0), ready_s)
        rows.setdefault(node, []).append(TaskSpan(begin, ready_s, "prefetch" if item.get("prefetch") else "restore"))
        caught_up_s = item.get("caught_up_s")
        if is_number(caught_up_s) and caught_up_s > ready_s:
            behind.setdefault(node, []).append(TaskSpan(ready_s, caught_up_s, "catch-up"))
    return {node: behind.get(node, []) + stretches for node, stretches in rows.items()}


def outages(body: Body) -> dict[str, list[TaskSpan]]:
    """Return when each query is down and back, the first to return first."""
    queries = body.get("queries") or []
    end = max([step["at_s"] for step in body["steps"]] + [q.get("back_s") or 0.0 for q in queries], default=0.0)
    end = end * 1.1 or 1.0
    rows: dict[str, list[TaskSpan]] = {}
    order = sorted(queries, key=lambda q: end if q.get("back_s") is None else q["back_s"])
    for query in order:
        back = end if query.get("back_s") is None else query["back_s"]
        row = rows.setdefault(f"{query['operator']}/{query['index']}", [])
        row += [TaskSpan(back, end, "back")] if query.get("back_s") is not None else []
        row.append(TaskSpan(0.0, back, "down"))
    return rows


def back_over_time(body: Body, summary: Mapping[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Return the priority that is back by each time at which it changes, in seconds.

    Of the plan (``after``), of deciding step by step (``step_by_step``), of waiting until everything fits (``before``)
    and what can be back at most (``most_back``); without those that the plan does not say.
    """
    known: dict[str, Any] = {"after": [[p.get("at_s"), p.get("priority")] for p in body.get("timeline") or []]}
    for name in ("step_by_step", "before"):
        figures = summary.get(name)
        known[name] = figures.get("timeline") if isinstance(figures, Mapping) else None
    known["most_back"] = summary.get("most_back")
    curves = {name: _curve(rows) for name, rows in known.items()}
    return {name: curve for name, curve in curves.items() if curve is not None}


def _curve(rows: Any) -> list[tuple[float, float]] | None:
    """Return points in order of time, None for what is no list of them."""
    if not isinstance(rows, list):
        return None
    pairs = [row for row in rows if isinstance(row, (list, tuple)) and len(row) == 2 and all(map(is_number, row))]
    return sorted((float(at), float(value)) for at, value in pairs) if len(pairs) == len(rows) else None
