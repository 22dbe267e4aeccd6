"""A recovery schedule: what comes back when, over time and by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.planners.recovery_schedule.figure_times import back_over_time, has_nodes, outages, recoveries, restores
from ftplan.reports.charts import Axis, Mark, Series, Span, gantt, lines
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import count, duration, figures_in, number, share
from ftplan.reports.plan_figures import DrawnState, Highlight, States, in_step

BEFORE = "waiting until all fits"
STEP_BY_STEP = "if each step brought back the most that it can"
_STYLES = {
    "restore": "value",
    "prefetch": "waiting-hatched",
    "catch-up": "chosen",
    "down": "down-hatched",
    "back": "live",
}
_WORDS = {
    "restore": "restore",
    "prefetch": "restore, begun early",
    "catch-up": "catching up",
    "down": "down",
    "back": "back",
}
#: Lines of what is back over time, the last on top: what, style, name.
_LINES = (
    ("most_back", "bound-line", "proven: no more can be back by then"),
    ("before", "other-line", BEFORE),
    ("step_by_step", "peer-line", "at each step alone"),
    ("after", "value-line", "this plan"),
)


def lead(plan: Plan) -> Sequence[str]:
    """Return what comes back and when, against waiting until everything fits."""
    body, after = plan.plan or {}, figures_in(plan.summary.get("after"))
    tasks = {(item["operator"], item["index"]) for _, item in recoveries(body)}
    steps = body["steps"]
    acting = sum(bool(step["recover"]) for step in steps)
    how = f"in {acting:,} steps" if acting > 1 else "in one step" if acting else "in no step"
    said = [f"{count(len(tasks), 'failed task')} {_come(tasks)} back {how}."]
    queries = _last_outages(body)
    back = [q["back_s"] for q in queries if q.get("back_s") is not None]
    down = len(queries) - len(back)
    if back:
        which = f"All {len(back):,} failed queries are" if not down else f"{len(back):,} of {len(queries):,} are"
        which = "The failed query is" if len(queries) == 1 else which
        said.append(f"{which} whole again for good after {duration(max(back))}.")
    if down:
        said.append(f"{count(down, 'query')} {'stays' if down == 1 else 'stay'} down until the end of the schedule.")
    gone = sum(len(step.get("pause") or ()) for step in steps)
    if gone:
        said.append(
            f"{count(gone, 'running task')} {'gives' if gone == 1 else 'give'} way to failed ones that matter more."
        )
    less = _saved(plan, after.get("priority_time"))
    if less:
        said.append(f"Priority × time down is {', and '.join(less)}.")
    left = body.get("unrecovered") or []
    if left:
        said.append(f"{count(len(left), 'task')} {'is' if len(left) == 1 else 'are'} not recovered at all.")
    return said


def _saved(plan: Plan, lost: float | None) -> list[str]:
    """Return how much less priority × time is lost than by what the plan is held against, of which it says so."""
    less = []
    for name, than in (("before", "if every task waited until all of them fit"), ("step_by_step", STEP_BY_STEP)):
        other = figures_in(plan.summary.get(name)).get("priority_time")
        if other and lost is not None and lost < other:
            less.append(f"{share(1.0 - lost / other)} less than {than}")
    return less


def _last_outages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the last outage of each query: one that fails twice is listed twice."""
    last = {(query["operator"], query["index"]): query for query in body.get("queries") or []}
    return list(last.values())


def _come(tasks: set[Any]) -> str:
    return "comes" if len(tasks) == 1 else "come"


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return queries back, when the last one is, and what the outage costs, against waiting for everything."""
    after, before = figures_in(plan.summary.get("after")), figures_in(plan.summary.get("before"))
    alone, random = figures_in(plan.summary.get("step_by_step")), figures_in(plan.summary.get("random"))
    listed = []
    if after.get("last_back_s") is not None:
        beside = f"waiting for all: {duration(before['last_back_s'])}" if before.get("last_back_s") is not None else ""
        listed.append(Highlight("Last query back after", duration(after["last_back_s"]), beside))
    if after.get("first_back_s") is not None:
        beside = (
            f"waiting for all: {duration(before['first_back_s'])}" if before.get("first_back_s") is not None else ""
        )
        listed.append(Highlight("First query back after", duration(after["first_back_s"]), beside))
    if after.get("priority_time") is not None:
        others = [
            f"{name}: {number(figures['priority_time'])}"
            for name, figures in (("waiting for all", before), ("step by step", alone), ("random order", random))
            if figures.get("priority_time") is not None
        ]
        listed.append(Highlight("Priority × seconds down", number(after["priority_time"]), ", ".join(others)))
    return listed


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return the step in which each task comes back last, and which stay down."""
    known: dict[tuple[str, int], DrawnState] = {}
    for k, (step, item) in ((s.get("step", i), (s, r)) for i, s in enumerate(_steps(plan)) for r in s["recover"]):
        at = duration(step["at_s"])
        known[item["operator"], item["index"]] = in_step(k, f"down, comes back in step {k} ({at})", f"in step {k}")
    for item in (plan.plan or {}).get("unrecovered") or []:
        known[item["operator"], item["index"]] = DrawnState("stays down", "down-hatched", "×", 999_999)
    return known


def _steps(plan: Plan) -> Sequence[Mapping[str, Any]]:
    steps: Sequence[Mapping[str, Any]] = (plan.plan or {})["steps"]
    return steps


def figures(plan: Plan) -> Sequence[Figure]:
    """Return the queries that are back over time, and what is restored where and when."""
    body = plan.plan or {}
    made = [_rows(body)]
    points = body.get("timeline") or []
    if points:
        made.insert(0, _back(plan, points))
    return [item for item in made if item is not None]


def _back(plan: Plan, points: Sequence[Mapping[str, Any]]) -> Figure:
    """Return how much of the failed priority is back over time, beside what the plan is held against."""
    body, known = plan.plan or {}, back_over_time(plan.plan or {}, plan.summary)
    total = sum(q.get("priority") or 1.0 for q in _last_outages(body))
    ends = [at for name, rows in known.items() if name != "most_back" for at, _ in rows]
    end = 1.04 * max([*ends, *(step["at_s"] for step in body["steps"])]) or 1.0
    drawn = [Series(_stairs(known[name], end), style, stepped=True) for name, style, _ in _LINES if name in known]
    top = max(total, *(value for one in drawn for _, value in one.points)) * 1.02 or 1.0
    key = [(f"line:{style}", "", text) for name, style, text in reversed(_LINES) if name in known]
    marks = _events(body)
    key += [(f"line:{style}", "", text) for style, text in _EVENTS if any(mark.style == style for mark in marks)]

    def draw(width: float) -> Any:
        return lines(
            drawn,
            width,
            Axis("time since the failure", duration, times=True),
            Axis("priority of the failed queries that are back", reach=(0.0, top)),
            marks=marks,
        )

    last = points[-1]["priority"]
    said = f"Of failed queries of priority {number(total)} in all, {number(last)} are back at the end."
    return figure("Queries back over time", said, draw, key=tuple(key))


def _stairs(rows: Sequence[tuple[float, float]], end_s: float) -> tuple[tuple[float, float], ...]:
    """Return stairs from nothing at 0 s to the end of the drawing."""
    kept = [(at, value) for at, value in rows if at <= end_s]
    return ((0.0, 0.0), *kept, (end_s, kept[-1][1] if kept else 0.0))


_EVENTS = (("event-line", "something else fails"), ("arrival-line", "a new node arrives"))


def _events(body: Mapping[str, Any]) -> list[Mark]:
    """Return what happens while the repair is under way."""
    marks = []
    for step in body["steps"]:
        trigger = step.get("trigger") or ""
        kind, _, what = trigger.partition(":")
        if what:
            marks.append(Mark(step["at_s"], "arrival-line" if kind == "arrival" else "event-line", what))
    return marks


def _rows(body: Mapping[str, Any]) -> Figure | None:
    """Return what each node restores when, or when each query is down where tasks have no nodes."""
    nodes = has_nodes(body)
    rows = restores(body) if nodes else outages(body)
    if not rows:
        return None
    drawn = [
        (name, [Span(s.begin_s, s.end_s, _STYLES[s.what], f"{name}: {_WORDS[s.what]}, {_range(s)}") for s in stretches])
        for name, stretches in rows.items()
    ]
    occur = dict.fromkeys(stretch.what for stretches in rows.values() for stretch in stretches)
    key = tuple((_STYLES[what], "", _WORDS[what]) for what in occur)
    marks = [Mark(mark.at, mark.style) for mark in _events(body)]
    title = "Restores by node" if nodes else "Queries down and back"
    said = (
        f"{count(len(rows), 'node')} restore tasks; one whose state is there at once is as wide as a line."
        if nodes
        else f"{count(len(rows), 'query')}, the first to return first."
    )
    return figure(title, said, lambda width: gantt(drawn, width, marks=marks), key=key)


def _range(stretch: Any) -> str:
    if stretch.end_s <= stretch.begin_s:
        return f"at {duration(stretch.begin_s)}"
    return f"{duration(stretch.begin_s)} to {duration(stretch.end_s)}"
