"""Scale-outs as tables: how good, which operators change and when, by which steps, and what else there is to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.api.scale_out.diff import ScaleOutDifference
from ftplan.cli.render import Answer, Table, cell
from ftplan.cli.simulate.sparkline import levels, sparkline
from ftplan.cli.views import SHOWN, capped, changed_objective, changed_options, headline, refusal
from ftplan.model.plan import Plan
from ftplan.reports.figures.scale_out import changed, due, operators, records

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
        tables += [_operators(plan), *_steps(plan)]
    tables += [*_bottlenecks(plan), *_forecasts(plan), *_alarming(plan), *_churn(plan), *_key_log(plan)]
    tables += _contention(plan)
    return Answer(plan.to_json(), tables, _notes(plan))


def _headline(plan: Plan) -> Table:
    rows = headline(plan) + refusal(plan)
    least = plan.summary.get("least_extra_cpu")
    if least is not None:
        rows.append(("cores that this needs", f"{cell(least)} more than now, proven to be the fewest"))
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
        (text, *(figures.get(name) for figures in known.values()))
        for name, text in _FIGURES
        if any(figures.get(name) is not None for figures in known.values())
    ]
    return [Table(("", *known), rows)] if rows else []


def _operators(plan: Plan) -> Table:
    """Return the operators, those that change first: scores over time, states, tasks, and what the change takes."""
    over_time = {item.get("operator"): item for item in records(plan, "scores")}
    foretold = {item.get("operator"): item for item in records(plan, "forecast")}
    low, high = (plan.summary.get("thresholds") or {}).get("reachable") or (0.0, 100.0)
    moving = {item["operator"] for item in changed(plan)}
    rows = []
    for item in operators(plan):
        name, tasks = item["operator"], f"{item['parallelism_from']:,}"
        if name in moving:
            tasks += f" -> {item['parallelism_to']:,}"
        line = _line((over_time.get(name) or {}).get("scores") or (), low, high)
        rows.append((
            name, item.get("score"), line, item.get("state"), tasks, _pair(item, name in moving),
            item.get("technique") or "", item.get("pause_s"), item.get("extra_core_s"), due(item, foretold.get(name)),
        ))  # fmt: skip
    columns = (
        "operator", "score", "over time", "state", "tasks", "utilisation", "technique", "pause, s", "extra core-s",
        "bottleneck",
    )  # fmt: skip
    return capped(columns, rows)


def _line(scores: Sequence[float | None], low: float, high: float) -> str:
    """Return scores as a line, the highest of what falls together, from the lowest that rules reach to the highest."""
    wide = min(WIDTH, len(scores))
    parts = [scores[len(scores) * k // wide : len(scores) * (k + 1) // wide] for k in range(wide)]
    highest = [max((value for value in part if value is not None), default=None) for part in parts]
    return sparkline([None if v is None else max(v - low, 0.0) for v in highest], WIDTH, high - low, levels())


def _pair(item: Mapping[str, Any], moves: bool) -> str:
    """Return the utilisation of the busiest task: now, and afterwards where that changes."""
    now, then = (item.get(name) for name in ("utilisation_from", "utilisation_to"))
    if now is None and then is None:
        return ""
    return f"{_percent(now)} -> {_percent(then)}" if moves else _percent(now)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}" if value < 0.1 else f"{value:.0%}"


def _steps(plan: Plan) -> list[Table]:
    """Return why operators get so many tasks, and what is done, as a list to tick off."""
    why = [(item["operator"], item["reason"]) for item in operators(plan) if item.get("reason")]
    tables = [capped(("operator", "why"), why)] if why else []
    rows = [
        ("[ ]", f"{item['operator']}, {number}", step)
        for item in changed(plan)
        for number, step in enumerate(item.get("steps") or (), 1)
    ]
    return [*tables, *([capped(("done", "step", "what"), rows, tick=True)] if rows else [])]


def _bottlenecks(plan: Plan) -> list[Table]:
    """Return what bottlenecks hold up, how many tasks they need, and which numbers of tasks would be traps."""
    rows = []
    for item in records(plan, "bottlenecks"):
        group = item.get("key_group")
        alone = "" if group is None else f"key group {group} alone: {_percent(item.get('key_group_use'))} of a task"
        rows.append((
            item.get("operator"), item.get("throughput_percentage"), item.get("use"), item.get("required"),
            _traps(item.get("traps")) or alone,
        ))  # fmt: skip
    columns = ("bottleneck", "share of all output", "tasks kept busy", "needs, if even", "beware")
    return [capped(columns, rows)] if rows else []


def _traps(traps: Any) -> str:
    """Return numbers of tasks that leave the busiest one no less busy than a smaller number does."""
    listed = [trap.get("parallelism") if isinstance(trap, Mapping) else trap for trap in traps or ()]
    if not listed:
        return ""
    more = f" … ({len(listed)} in all)" if len(listed) > 6 else ""
    return f"no better than fewer: {', '.join(map(str, listed[:6]))}{more}"


def _forecasts(plan: Plan) -> list[Table]:
    """Return how well demand was foretold on time that the forecast had not seen."""
    rows = [
        (item.get("operator"), item.get("method"), item.get("error"), item.get("error_same_as_yesterday"))
        for item in records(plan, "forecast")
        if item.get("method")
    ]
    columns = ("operator", "foretold by", "error on unseen time", "same as yesterday")
    return [capped(columns, rows)] if rows else []


def _alarming(plan: Plan) -> list[Table]:
    """Return what other alarming thresholds would have meant in the statistics."""
    rows = [
        (point.get("alarming"), point.get("ready"), point.get("backup_share")) for point in records(plan, "alarming")
    ]
    columns = ("prepared from", "ready in time", "share of time with backups")
    return [capped(columns, rows)] if len(rows) > 1 else []


def _churn(plan: Plan) -> list[Table]:
    """Return what policies of rescaling would have cost over the statistics, beside the best that was possible."""
    return []


def _key_log(plan: Plan) -> list[Table]:
    """Return the best max parallelism by the keys of the log."""
    return []


def _contention(plan: Plan) -> list[Table]:
    """Return the nodes whose cores, state or network are contended most, before and after."""
    return []


def _notes(plan: Plan) -> list[str]:
    if plan.plan is None:
        return []
    listed = len(operators(plan))
    notes = [f"{len(changed(plan))} of {listed:,} operators change"]
    if any(item.get("key_ranges") for item in changed(plan)):
        notes[0] += "; key ranges, nodes and state of each task: in the JSON"
    return notes


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
