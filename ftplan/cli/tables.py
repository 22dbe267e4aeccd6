"""Plans as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.cli.render import Answer, Table, cell
from ftplan.model.plan import Plan

#: Figures of the summary that have a table or a row of their own, or only matter beside a bounded probability.
NOT_IN_TABLE = frozenset(("by_operator", "failover_loss", "failover_survivor", "loss_probability_low"))


def plan_answer(plan: Plan) -> Answer:
    """Return a checkpoint allocation as JSON and as tables: how good it is, then where the copies lie."""
    objective = plan.objective
    rows: list[tuple[str, Any]] = [("algorithm", plan.algorithm), ("status", plan.status)]
    if plan.reason and plan.infeasible is None:
        rows.append(("reason", plan.reason))
    if objective is not None and objective.value is not None:
        rows.append((f"{objective.name} ({objective.sense})", objective.value))
        rows.append(("proven bound", objective.bound))
        rows.append(("gap", None if objective.gap is None else f"{objective.gap:.4%}"))
    random = plan.summary.get("random") or {}
    name = objective.name if objective is not None else "correlation"
    rows.append(("expected of a random plan", random.get(name.replace("-", "_"))))
    if random.get("usable_share") is not None:
        rows.append(("usable share at random", random["usable_share"]))
    if plan.infeasible is not None:
        rows += [(name.replace("_", " "), value) for name, value in plan.infeasible.to_dict().items()]
    rows.append(("rules", ", ".join(plan.rules or ())))
    balance = plan.options.get("balance")
    if balance != plan.options.get("balance_requested"):
        rows.append(("balance", f"{cell(balance)} (the smallest feasible)"))
    if plan.options.get("minimise") == "failover" and plan.plan is not None:
        rows.append(("failover limit", f"{cell(plan.options.get('failover_limit'))} (the smallest feasible)"))
    elif plan.options.get("failover_limit") is not None:
        rows.append(("failover limit", plan.options["failover_limit"]))
    before, after = plan.summary.get("before"), plan.summary.get("after")
    if after and after.get("failover_load_ratio") is not None:
        share = f"{cell(after['failover_load_ratio'])} times its fair share"
        rows.append(("worst loss", f"{after['failover_loss']}: {after['failover_survivor']} carries {share}"))
    tables = [Table(("checkpoint allocation", ""), rows)]
    kept = plan.summary.get("upkeep")
    if kept:
        tables.append(Table(("upkeep", ""), [(name.replace("_", " "), value) for name, value in kept.items()]))
    if after:
        columns = ("", "before", "after") if before else ("", "after")
        figures = [
            (name.replace("_", " "), before.get(name), value) if before else (name.replace("_", " "), value)
            for name, value in after.items()
            if name not in NOT_IN_TABLE
        ]
        tables.append(Table(columns, figures))
        expected = random.get("by_operator", {})
        tables.append(
            Table(
                ("operator", name, "random plan"),
                [(name, value, expected.get(name)) for name, value in after["by_operator"].items()],
            )
        )
    if plan.summary.get("holdout"):
        tables.append(_unseen(plan.summary["holdout"]))
    if plan.plan is not None:
        assignments = plan.plan["assignments"]
        tables.append(
            Table(
                ("key group", "primary", "checkpoints"),
                [(f"{a['operator']}/{a['key_group']}", a["primary"], a["checkpoints"]) for a in assignments],
            )
        )
        if plan.plan["moves"]:
            moves = [(f"{m['operator']}/{m['key_group']}", m["from"], m["to"], m["bytes"]) for m in plan.plan["moves"]]
            tables.append(Table(("move", "from", "to", "bytes"), moves))
    return Answer(plan.to_json(), tables)


def _unseen(holdout: Mapping[str, Any]) -> Table:
    """Return what the plan is worth on the windows that it has not seen, beside even and random plans."""
    plan, even, random = holdout["plan"], holdout["even"] or {}, holdout["random"]
    rows = []
    for key, value in plan.items():
        interval = even.get(f"{key}_interval")
        shown = None if interval is None else f"{cell(interval[0])} to {cell(interval[1])}"
        rows.append((key.replace("_", " "), value, even.get(key), shown, random.get(key)))
    windows = holdout["windows"]["unseen"]
    columns = (f"on {windows} unseen windows", "plan", "even", "even, 95 % interval", "random plan")
    return Table(columns, rows)
