"""A replication plan: which tasks have a replica, and what every budget buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.model.units import MB
from ftplan.reports.charts import Axis, Bar, Series, bars, lines
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import Unit, count, figures_in, is_number, label, number, quantity, share, size, unit_of
from ftplan.reports.plan_figures import DrawnState, Highlight, States
from ftplan.reports.tables import records_in

BEFORE = "replicas in place"
_UNITS = {"tasks": "replicas", "cores": "cores of replicas", "mb": "state of replicas"}
_SPENT = {"tasks": "replicas", "cores": "cpu", "mb": "memory_mb"}


def _metric(plan: Plan) -> str:
    return str(plan.options.get("metric") or "output-fidelity")


def lead(plan: Plan) -> Sequence[str]:
    """Return how many replicas there are, and what they are worth."""
    replicas, after = (plan.plan or {})["replicas"], figures_in(plan.summary.get("after"))
    operators = len({item["operator"] for item in replicas})
    cores = f", {number(after['cpu'])} cores in all" if after.get("cpu") is not None else ""
    said = [
        f"{count(len(replicas), 'task')} of {count(operators, 'operator')} "
        f"{'gets' if len(replicas) == 1 else 'get'} an active replica{cores}."
    ]
    key = _metric(plan).replace("-", "_")
    values = {name: figures_in(plan.summary.get(name)).get(key) for name in ("before", "after", "random")}
    if values["after"] is not None:
        was = f" instead of {share(values['before'])}" if values["before"] is not None else ""
        chance = f"; the same budget spent at random keeps {share(values['random'])}" if values["random"] else ""
        said.append(f"With them {label(key)} is {share(values['after'])}{was}{chance}.")
    changes = [(name, len((plan.plan or {}).get(name) or [])) for name in ("activate", "deactivate")]
    if any(number_of for _, number_of in changes):
        said.append(f"Against those in place, {changes[0][1]:,} start and {changes[1][1]:,} stop.")
    return said


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return the metric, the number of replicas and what they take."""
    after, before = figures_in(plan.summary.get("after")), figures_in(plan.summary.get("before"))
    listed = []
    names = (["priority_time"] if plan.options.get("then_recover") else []) + [_metric(plan).replace("-", "_")]
    for name in names:
        if after.get(name) is not None:
            was = f"before: {quantity(before[name], unit_of(name))}" if before.get(name) is not None else ""
            listed.append(Highlight(label(name).capitalize(), quantity(after[name], unit_of(name)), was))
    failing = figures_in(plan.summary).get("failing_tasks")
    of_tasks = f"of {number(failing)} tasks that may fail" if failing is not None else ""
    listed.append(Highlight("Replicas", number(len((plan.plan or {})["replicas"])), of_tasks))
    if after.get("cpu") is not None:
        state = f"and {quantity(after['memory_mb'], 'mb')} of state" if after.get("memory_mb") is not None else ""
        listed.append(Highlight("Cores of replicas", number(after["cpu"]), state))
    return listed


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return which tasks have a replica: a new one, one that stays, one that stops."""
    body = plan.plan or {}
    new = {(item["operator"], item["index"]) for item in body.get("activate") or []}
    adapted = body.get("activate") is not None
    known: dict[tuple[str, int], DrawnState] = {}
    for item in body.get("deactivate") or []:
        known[item["operator"], item["index"]] = DrawnState("its replica stops", "waiting-hatched", "−", 3, "stop")
    for item in body["replicas"]:
        task = item["operator"], item["index"]
        if adapted and task in new:
            known[task] = DrawnState("its replica starts", "s1", "+", 1, "start")
        else:
            known[task] = DrawnState(
                "has a replica" if not adapted else "its replica stays", "chosen", "R", 2, "replicated"
            )
    return known


def figures(plan: Plan) -> Sequence[Figure]:
    """Return what every budget buys, what each scenario costs, and replicas by node."""
    body = plan.plan or {}
    made = [_curve(plan, body["curve"])] if body.get("curve") else []
    after = plan.summary.get("after")
    cases = records_in(after.get("by_case")) if isinstance(after, Mapping) else []
    cases = [case for case in cases if is_number(case.get("value"))]
    if 1 < len(cases) <= 40:
        made.append(_cases(plan, cases))
    nodes: dict[str, int] = {}
    for item in body["replicas"]:
        if item.get("node") is not None:
            nodes[item["node"]] = nodes.get(item["node"], 0) + 1
    if nodes:
        most = sorted(nodes.items(), key=lambda item: (-item[1], item[0]))[:40]
        said = f"{count(len(body['replicas']), 'replica')} on {count(len(nodes), 'node')}; those with most."
        rows = [Bar(name, float(n), number(n)) for name, n in most]
        made.append(figure("Replicas by node", said, lambda width: bars(rows, width)))
    return made


def _curve(plan: Plan, points: Sequence[Mapping[str, Any]]) -> Figure:
    """Return value and bound over budgets, beside the plan itself and random choices."""
    unit = str(plan.options.get("budget_unit") or "tasks")
    form: Unit = "mb" if unit == "mb" else "plain"
    metric = _metric(plan)
    drawn = [Series(tuple((p["budget"], p["value"]) for p in points), "value-line")]
    key = [("line:value-line", "", "what the planner reaches")]
    bounded = tuple((p["budget"], p["bound"]) for p in points if p.get("bound") is not None)
    if bounded:
        drawn.insert(0, Series(bounded, "bound-line"))
        key.append(("line:bound-line", "", "proven bound: no choice is better"))
    after, random = figures_in(plan.summary.get("after")), figures_in(plan.summary.get("random"))
    spent = after.get(_SPENT.get(unit, "replicas"))
    dots = []
    for figures_of, style, text in ((after, "value", "this plan"), (random, "other", "random choice (mean)")):
        value = figures_of.get(metric.replace("-", "_"))
        if spent is not None and value is not None:
            dots.append(((float(spent), value), style))
            key.append((style, "", text))

    highest = max(value for _, value in [*drawn[0].points, *drawn[-1].points, *(point for point, _ in dots)])
    top = 1.0 if highest > 0.5 else max(1.15 * highest, 0.01)

    def draw(width: float) -> Any:
        return lines(
            drawn,
            width,
            Axis(f"budget: {_UNITS.get(unit, unit)}", (lambda value: size(value * MB)) if form == "mb" else number),
            Axis(label(metric), share, (0.0, top)),
            dots=dots,
        )

    last = points[-1]
    most = size(last["budget"] * MB) if form == "mb" else number(last["budget"])
    said = (
        f"What the planner reaches with {count(len(points), 'budget')} up to {most} {_UNITS.get(unit, unit)}: with the "
        f"largest, {label(metric)} is {share(last['value'])}."
    )
    return figure("What every budget buys", said, draw, key=tuple(key))


def _cases(plan: Plan, cases: Sequence[Mapping[str, Any]]) -> Figure:
    """Return what is left in each scenario."""
    rows = [Bar(str(case.get("id")), case["value"], share(case["value"])) for case in cases]
    name = label(_metric(plan))
    said = f"{name.capitalize()} in each of {count(len(rows), 'scenario')}, with the replicas of this plan."
    return figure("Scenario by scenario", said, lambda width: bars(rows, width))
