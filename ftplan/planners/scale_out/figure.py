"""A scale-out: scores of operators over time, their states, and how busy their tasks are before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.reports.charts import ROWS, Axis, Bar, Series, Span, bars, gantt, lines
from ftplan.reports.drawing import Drawing, Figure, figure
from ftplan.reports.numbers import count, duration, figures_in, is_number, number, share
from ftplan.reports.plan_figures import DrawnState, Highlight, States

BEFORE = "as it runs now"
#: Lines of operators, those of the highest scores.
STYLES = ("value-line", "arrival-line", "other-line")
#: Style and meaning of each state, in the order in which operators are listed.
STATES: Mapping[str, tuple[str, str]] = {
    "promoted": ("down-hatched", "bottleneck"),
    "prepared": ("s4", "soon a bottleneck"),
    "scale-in": ("s1", "too many tasks"),
    "normal": ("live", "normal"),
}
_RANK = {state: rank for rank, state in enumerate(STATES)}


def operators(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return the operators that a plan lists."""
    listed = (plan.plan or {}).get("operators")
    return listed if isinstance(listed, list) else []


def changed(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return the operators that get other tasks: those of another number, and those that are split anew."""
    return [item for item in operators(plan) if item["parallelism_to"] != item["parallelism_from"] or item.get("steps")]


def records(plan: Plan, name: str) -> Sequence[Mapping[str, Any]]:
    """Return what the summary lists under a name; nothing where it is no list of records: a file may hold anything."""
    listed = plan.summary.get(name)
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, Sequence) else []


def due(item: Mapping[str, Any], foretold: Mapping[str, Any] | None) -> str:
    """Return when an operator is a bottleneck: now, after a time with its range, or not foreseen."""
    if item.get("state") == "promoted":
        return "now"
    told = foretold or {}
    at = told.get("promote_in_s")
    if not isinstance(at, Sequence) or len(at) != 3 or not is_number(at[0]):
        return "not foreseen" if item.get("state") == "prepared" else ""
    early, median, late = (duration(value) if is_number(value) else None for value in at)
    when = f"perhaps, from {early} on" if median is None else f"in {median} ({early} to {late or 'never'})"
    begin = told.get("prepare_in_s")
    if item.get("state") == "prepared" or not is_number(begin):
        return when
    return f"{when}; prepare {f'in {duration(begin)}' if begin > 0.0 else 'now'}"


def lead(plan: Plan) -> Sequence[str]:
    """Return which operators are bottlenecks, which change, and what the jobs sustain then."""
    said = []
    for state, one, several in (
        ("promoted", "is a bottleneck", "are bottlenecks"),
        ("prepared", "may soon be a bottleneck", "may soon be bottlenecks"),
    ):
        names = [item["operator"] for item in operators(plan) if item.get("state") == state]
        if names:
            said.append(f"{_listed(names)} {one if len(names) == 1 else several}.")
    moving = changed(plan)
    before, after = (sum(item[name] for item in operators(plan)) for name in ("parallelism_from", "parallelism_to"))
    if not moving:
        return [*said, "No operator gets other tasks."]
    tasks = f", from {before:,} tasks in all to {after:,}" if before != after else ""
    said.append(f"{count(len(moving), 'operator')} {'changes' if len(moving) == 1 else 'change'}{tasks}.")
    was, becomes = (figures_in(plan.summary.get(name)) for name in ("before", "after"))
    if "sustained_load" in was and "sustained_load" in becomes:
        now, then = share(was["sustained_load"]), share(becomes["sustained_load"])
        said.append(f"The jobs sustain {then} of their demand with no task above the target, as they run now {now}.")
    pauses = [item["pause_s"] for item in moving if is_number(item.get("pause_s"))]
    if pauses:
        said.append(f"No pause is longer than {duration(max(pauses))}.")
    return said


def _listed(names: Sequence[str], most: int = 4) -> str:
    """Return names in a sentence, many of them by their number."""
    if len(names) > most:
        return count(len(names), "operator")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return what the jobs sustain, the busiest task, cores, pause and what the change costs."""
    was, becomes = (figures_in(plan.summary.get(name)) for name in ("before", "after"))
    listed = []
    for name, text, form in (
        ("sustained_load", "Sustained share of the demand", share),
        ("highest_utilisation", "Busiest task", share),
        ("cpu", "Cores of all tasks", number),
        ("pause_s", "Longest pause", duration),
        ("extra_core_s", "Extra core-seconds", number),
    ):
        if name in becomes:
            beside = f"before: {form(was[name])}" if name in was else ""
            listed.append(Highlight(text, form(becomes[name]), beside))
    return listed


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return the state of each task's operator, but for normal ones that stay as they are."""
    tasks = {operator.id: operator.parallelism for operator in topology.operators}
    moving = {item["operator"] for item in changed(plan)}
    known: dict[tuple[str, int], DrawnState] = {}
    for item in operators(plan):
        name, state = item["operator"], str(item.get("state"))
        if state not in STATES or (state == "normal" and name not in moving):
            continue
        style, text = STATES[state] if state != "normal" else ("s3", "next bottleneck")
        mark = {"promoted": "!", "scale-in": "-"}.get(state, "+")
        made = DrawnState(text, style, mark, _RANK[state], text)
        known |= {(name, i): made for i in range(tasks.get(name, 0))}
    return known


def figures(plan: Plan) -> Sequence[Figure]:
    """Return scores and states over time, and how busy the busiest task of each operator is before and after."""
    return [item for item in (_scores(plan), _states(plan), _utilisation(plan)) if item is not None]


def _series(plan: Plan) -> list[Mapping[str, Any]]:
    """Return the operators with scores over time, those that matter most first."""
    known = [item for item in records(plan, "scores") if _values(item)]

    def rank(item: Mapping[str, Any]) -> tuple[int, float, str]:
        last = (item.get("states") or ["normal"])[-1]
        highest = max((value for value in _values(item) if is_number(value)), default=0.0)
        return min(_RANK.get(last, 2), 2), -highest, str(item.get("operator"))

    return sorted(known, key=rank)


def _values(item: Mapping[str, Any]) -> Sequence[float | None]:
    values = item.get("scores")
    return values if isinstance(values, Sequence) and any(is_number(value) for value in values) else ()


def _span_s(plan: Plan) -> float | None:
    """Return how long the statistics are that scores follow from."""
    span = plan.summary.get("span_s")
    return span if is_number(span) and span > 0.0 else None


def _axis(plan: Plan) -> tuple[str, float]:
    """Return the name of the axis of time, and how much of it all scores take."""
    span = _span_s(plan)
    return ("time since the statistics begin", span) if span is not None else ("part of the statistics", 1.0)


def _scores(plan: Plan) -> Figure | None:
    listed = _series(plan)
    if not listed:
        return None
    name, span = _axis(plan)
    thresholds = figures_in(plan.summary.get("thresholds"))
    shown = list(zip(listed, STYLES, strict=False))
    series = [line for item, style in shown for line in _lines(_values(item), span, style)]
    known = [
        (style, text, thresholds[key])
        for key, style, text in (
            ("promote", "limit-line", "a bottleneck above"),
            ("alarming", "bound-line", "prepared from"),
            ("scale_in", "event-line", "too many tasks below"),
        )
        if key in thresholds
    ]
    series += [Series(((0.0, value), (span, value)), style) for style, _, value in known]

    def draw(width: float) -> Drawing:
        x = Axis(name, duration, times=True) if _span_s(plan) is not None else Axis(name, share)
        return lines(series, width, x, Axis("score of the worst task", number, (0.0, 100.0)))

    key = [(f"line:{style}", "", str(item.get("operator"))) for item, style in shown]
    key += [(f"line:{style}", "", f"{text} {number(value)}") for style, text, value in known]
    more = len(listed) - len(shown)
    said = f"The highest of what falls together; {count(more, 'more operator')} not drawn." if more else ""
    return figure("Scores over time", said or "The highest of what falls together.", draw, key=tuple(key))


def _lines(values: Sequence[float | None], span: float, style: str) -> Iterator[Series]:
    """Yield a line for each stretch in which scores are known."""
    at = [(span * (k + 0.5) / len(values), value) for k, value in enumerate(values)]
    for known, stretch in groupby(at, lambda point: is_number(point[1])):
        if known:
            yield Series(tuple((x, value) for x, value in stretch if value is not None), style)


def _states(plan: Plan) -> Figure | None:
    """Return the state of each operator over time: of those that ever left the normal one."""
    span = _span_s(plan)
    listed = [item for item in _series(plan) if set(item.get("states") or ()) & (set(STATES) - {"normal"})]
    if span is None or not listed:
        return None
    rows = []
    for item in listed[:ROWS]:
        spans, at, each = [], 0.0, span / len(item["states"])
        for state, stretch in groupby(item["states"]):
            end = at + each * len(list(stretch))
            style, text = STATES.get(state, STATES["normal"])
            spans += [Span(at, end, style, f"{text}: {duration(end - at)}")]
            at = end
        rows.append((str(item.get("operator")), spans))
    key = tuple((style, "", text) for style, text in STATES.values())
    said = f"Of {count(len(listed), 'operator')} that left the normal state; the highest state of what falls together."
    return figure("States over time", said, lambda width: gantt(rows, width, axis=_axis(plan)[0]), key=key)


def _utilisation(plan: Plan) -> Figure | None:
    """Return how busy the busiest task of each operator is, before and after."""
    known = [item for item in operators(plan) if is_number(item.get("utilisation_from"))]
    known.sort(key=lambda item: -max(item[n] for n in _USES if is_number(item.get(n))))
    if not known:
        return None
    rows = []
    for item in known[: ROWS // 2]:
        was, becomes = (item.get(name) for name in _USES)
        rows.append(Bar(item["operator"], was or 0.0, share(was) if is_number(was) else "–", "other"))
        tasks = f", {item['parallelism_from']:,} → {item['parallelism_to']:,} tasks"
        moved = tasks if item["parallelism_from"] != item["parallelism_to"] else ""
        rows.append(Bar("", becomes or 0.0, (share(becomes) if is_number(becomes) else "–") + moved))
    target = plan.options.get("target_utilisation")
    limit = (target, f"target {share(target)}") if is_number(target) else None
    said = "Of its busiest task, at the demand that operators are sized for."
    said += f" The {ROWS // 2} busiest operators." if len(known) > ROWS // 2 else ""
    key = (("other", "", "before"), ("value", "", "after"))
    return figure("Utilisation by operator", said, lambda width: bars(rows, width, limit), key=key)


_USES = ("utilisation_from", "utilisation_to")
