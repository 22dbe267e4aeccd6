"""Scale-outs as tables: how good, which operators change and when, by which steps, and what else there is to know.

:func:`findings` is what a plan says beside that: bottlenecks, forecasts, thresholds, policies, key groups, nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.scale_out.diff import ScaleOutDifference
from ftplan.planners.scale_out.figure import changed, due, lead, operators, records
from ftplan.planners.views import SHOWN, capped, changed_objective, changed_options, figure, headline, refusal
from ftplan.reports.answer import Answer, Table, cell
from ftplan.reports.numbers import SPACE, duration
from ftplan.reports.sparkline import levels, sparkline

#: Numbers of tasks, or of key groups, that a warning lists.
MAX_LISTED = 6

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


def findings(plan: Plan) -> list[Table]:
    """Return a table of each thing that the summary says and that there is anything to say of."""
    tables = [*_bottlenecks(plan), *_forecasts(plan), *_alarming(plan)]
    return [*tables, *_churn(plan), *_key_log(plan), *_contention(plan)]


def percent(value: float | None) -> str:
    """Return a share in per cent, a dash where it is unknown."""
    return "–" if value is None else f"{value:.1%}" if value < 0.1 else f"{value:.0%}"


def _bottlenecks(plan: Plan) -> list[Table]:
    """Return what bottlenecks hold up, how many tasks they need, and which numbers of tasks would be traps."""
    rows = []
    for item in records(plan, "bottlenecks"):
        group, required = item.get("key_group"), item.get("required")
        alone = "" if group is None else f"key group {group} alone: {percent(item.get('key_group_use'))} of a task"
        traps = _traps([tasks for tasks in item.get("traps") or () if required is None or tasks > required])
        use, share = item.get("use"), item.get("throughput_percentage")
        rows.append((item.get("operator"), percent(share), use, required, alone or traps))
    columns = ("bottleneck", "share of all output", "tasks kept busy", "needs, if even", "beware")
    return [capped(columns, rows)] if rows else []


def _traps(traps: Sequence[int]) -> str:
    """Return numbers of tasks, or of key groups, that are worse than a smaller one."""
    more = f" and {len(traps) - MAX_LISTED:,} more" if len(traps) > MAX_LISTED else ""
    return f"worse than fewer: {', '.join(map(str, traps[:MAX_LISTED]))}{more}" if traps else ""


def _forecasts(plan: Plan) -> list[Table]:
    """Return how well demand was foretold at the horizon, on time that the forecast had not seen."""
    known = [item for item in records(plan, "forecast") if item.get("method")]
    names = ("operator", "method", "error", "error_same_as_yesterday")
    rows = [tuple(item.get(name) for name in names) for item in known]
    ahead = {float(item["horizon_s"]) for item in known if item.get("horizon_s") is not None}
    at = f"error {duration(ahead.pop())} ahead" if len(ahead) == 1 else "error on unseen time"
    columns = ("operator", "foretold by", at.replace(SPACE, " "), "same as yesterday")
    return [capped(columns, rows)] if rows else []


def _alarming(plan: Plan) -> list[Table]:
    """Return what other alarming thresholds would have meant in the statistics."""
    rows = [
        (point.get("alarming"), point.get("ready"), point.get("backup_share")) for point in records(plan, "alarming")
    ]
    columns = ("prepared from", "ready in time", "share of time with backups")
    return [capped(columns, rows)] if len(rows) > 1 else []


def _churn(plan: Plan) -> list[Table]:
    """Return what rescaling costs by the best policy of each method, beside the optimum that knows all demand."""
    known = plan.summary.get("churn")
    if not isinstance(known, Mapping):
        return []
    rows: list[Sequence[Any]] = []
    for item in known.get("operators") or ():
        part = "unseen" if item.get("unseen") else "history"
        name = item.get("operator")
        methods = (item, *(item.get("others") or ()))
        rows += [
            (name, method.get("method"), *_account(method.get(part)), _policy(method.get("policy") or {}))
            for method in methods
        ]
        best = (item.get(part) or {}).get("optimum")
        rows.append((name, "at best, all demand known", *_account(best), "overloaded windows count, not late ones"))
        if best and best.get("timely_core_hours") is not None:
            rows.append((name, "the same, late windows count", best["timely_core_hours"], None, None, None, ""))
        rows.append((name, "as it is", *_account((item.get("as_it_is") or {}).get(part)), ""))
    columns = ("operator", "rescaled by", "core-hours", "windows late", "rescales", "above the bound", "how")
    most, overloaded = known.get("max_rescales_per_day"), percent(known.get("max_overloaded"))
    title = f"judged on unseen time: at most {most} rescales a day, and {overloaded} of it overloaded"
    return [Table(columns, rows[:SHOWN], title=title)] if rows else []


def _policy(policy: Mapping[str, Any]) -> str:
    """Say when a policy rescales, by utilisation."""
    if "target" not in policy:
        return f"plans the day for {policy.get('margin')} x what is foretold"
    ahead = f", foretold {policy['horizon_s']:g} s" if policy.get("horizon_s") else ""
    return (
        f"out above {policy['scale_out_above']:g}, to {policy['target']:g}, "
        f"in below {policy['scale_in_below']:g} for {policy['hold_s']:g} s{ahead}"
    )


def _account(figures: Mapping[str, Any] | None) -> tuple[Any, ...]:
    known = figures or {}
    late = known.get("late", known.get("overloaded"))
    return known.get("core_hours"), late, known.get("rescales"), known.get("distance")


def _key_log(plan: Plan) -> list[Table]:
    """Return into how many key groups the keys of the log are hashed best, and which numbers are traps."""
    rows = []
    for item in records(plan, "max_parallelism"):
        heaviest, traps = item.get("heaviest_key_use"), item.get("traps") or ()
        alone = "" if heaviest is None else f"one key alone: {percent(heaviest)} of a task"
        beware = alone or _traps([trap["max_parallelism"] for trap in traps])
        rows.append((item.get("operator"), item.get("keys"), _groups(item["now"]), _groups(item["best"]), beware))
    columns = ("by the log of keys", "keys", "max parallelism now", "best", "beware")
    return [capped(columns, rows)] if rows else []


def _groups(item: Mapping[str, Any]) -> str:
    tasks = f"{item['parallelism']:,} task{'s' if item['parallelism'] != 1 else ''}"
    return f"{item['max_parallelism']:,} ({tasks}, the busiest {percent(item['highest'])})"


def _contention(plan: Plan) -> list[Table]:
    """Return what tasks use of the nodes' cores, memory and network, before and after: of those that change."""
    known = plan.summary.get("contention") or {}
    after = {item["node"]: item for item in known.get("after") or ()}
    columns = {"compute": "cores in use", "state": "memory for state", "network": "network"}
    pairs = [(item, after[item["node"]]) for item in known.get("before") or () if item["node"] in after]
    names = [name for name in columns if any(item.get(name) is not None for pair in pairs for item in pair)]
    rows = [
        (was["node"], *(f"{percent(was.get(name))} -> {percent(then.get(name))}" for name in names))
        for was, then in pairs
        if any(was.get(name) != then.get(name) for name in names)
    ]
    return [capped(("node", *(columns[name] for name in names)), rows)] if rows else []


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
        tasks, bound = f"{item['parallelism_from']:,} -> {item['parallelism_to']:,}", item.get("bound_by")
        tasks += f" ({bound})" if bound not in (None, "demand") else ""
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
