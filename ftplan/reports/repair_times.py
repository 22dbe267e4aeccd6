"""When tasks are restored on each node, and when queries are down and back, read from a recovery schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stretch:
    """What goes on in a row of a chart during a stretch of time, in seconds."""

    begin_s: float
    end_s: float
    what: Literal["restore", "prefetch", "down", "back"]


def recoveries(body: Body) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield each task that is recovered, with its step."""
    for step in body["steps"]:
        for item in step["recover"]:
            yield step, item


def has_nodes(body: Body) -> bool:
    """Return whether the schedule says on which node any task is restored."""
    return any(item.get("node") is not None for _, item in recoveries(body))


def restores(body: Body) -> dict[str, list[Stretch]]:
    """Return the restores of each node, one after another, nodes in the order of their first."""
    rows: dict[str, list[Stretch]] = {}
    free: dict[str, float] = {}
    for step, item in recoveries(body):
        node = str(item.get("node"))
        ready_s = step["at_s"] if item.get("ready_s") is None else item["ready_s"]
        begin = min(max(step["at_s"], free.get(node, 0.0)), ready_s)
        free[node] = max(free.get(node, 0.0), ready_s)
        rows.setdefault(node, []).append(Stretch(begin, ready_s, "prefetch" if item.get("prefetch") else "restore"))
    return rows


def outages(body: Body) -> dict[str, list[Stretch]]:
    """Return when each query is down and back, the first to return first."""
    queries = body.get("queries") or []
    end = max([step["at_s"] for step in body["steps"]] + [q.get("back_s") or 0.0 for q in queries], default=0.0)
    end = end * 1.1 or 1.0
    rows: dict[str, list[Stretch]] = {}
    order = sorted(queries, key=lambda q: end if q.get("back_s") is None else q["back_s"])
    for query in order:
        back = end if query.get("back_s") is None else query["back_s"]
        row = rows.setdefault(f"{query['operator']}/{query['index']}", [])
        row += [Stretch(back, end, "back")] if query.get("back_s") is not None else []
        row.append(Stretch(0.0, back, "down"))
    return rows
