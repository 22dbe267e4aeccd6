"""What a scale-out says beside its plan, as tables: bottlenecks, forecasts, thresholds, policies, key groups, nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.scale_out.figure import records
from ftplan.planners.views import SHOWN, capped
from ftplan.reports.answer import Table

#: Numbers of tasks, or of key groups, that a warning lists.
LISTED = 6


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
    more = f" and {len(traps) - LISTED:,} more" if len(traps) > LISTED else ""
    return f"worse than fewer: {', '.join(map(str, traps[:LISTED]))}{more}" if traps else ""


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
