"""Checkpoint allocations as tables: how good, where the copies lie, and what moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.model.plan import Plan
from ftplan.planners.allocate_checkpoints.diff import AllocationDifference
from ftplan.planners.views import changed_objective, changed_options, headline
from ftplan.reports.answer import Answer, Table, cell
from ftplan.reports.proof import proof

#: Key groups that a table shows unless more are asked for.
SHOWN = 20
#: Figures of the summary that have a table or a row of their own, or only matter beside a bounded probability.
NOT_IN_TABLE = frozenset(("by_operator", "failover_loss", "failover_survivor", "loss_probability_low"))


def answer(plan: Plan) -> Answer:
    """Return a checkpoint allocation as JSON and as tables: how good it is, then where the copies lie."""
    tables = [_headline(plan)]
    before, after = plan.summary.get("before"), plan.summary.get("after")
    random, name = plan.summary.get("random") or {}, _objective_name(plan)
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
        rows = [(f"{a['operator']}/{a['key_group']}", a["primary"], a["checkpoints"]) for a in assignments]
        tables.append(Table(("key group", "primary", "checkpoints"), rows, most=SHOWN))
        if plan.plan["moves"]:
            moves = [(f"{m['operator']}/{m['key_group']}", m["from"], m["to"], m["bytes"]) for m in plan.plan["moves"]]
            tables.append(Table(("move", "from", "to", "bytes"), moves, most=SHOWN))
    return Answer(plan.to_json(), tables, proof(plan)[:1])


def _objective_name(plan: Plan) -> str:
    return plan.objective.name if plan.objective is not None else "correlation"


def _headline(plan: Plan) -> Table:
    rows = headline(plan)
    if plan.reason and plan.infeasible is None:
        rows.insert(2, ("reason", plan.reason))
    random = plan.summary.get("random") or {}
    name = _objective_name(plan)
    rows.append(("expected of a random plan", random.get(name.replace("-", "_"))))
    if random.get("usable_share") is not None:
        rows.append(("usable share at random", random["usable_share"]))
    if (plan.summary.get("even") or {}).get("usable_share") is not None:
        rows.append(("usable share of even", plan.summary["even"]["usable_share"]))
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
    after = plan.summary.get("after")
    if after and after.get("failover_load_ratio") is not None:
        share = f"{cell(after['failover_load_ratio'])} times its fair share"
        rows.append(("worst loss", f"{after['failover_loss']}: {after['failover_survivor']} carries {share}"))
    return Table(("checkpoint allocation", ""), rows)


def _unseen(holdout: Mapping[str, Any]) -> Table:
    """Return what the plan is worth on the windows that it has not seen, beside even and random plans."""
    plan, even, random, gain = holdout["plan"], holdout["even"] or {}, holdout["random"], holdout["gain_over_even"]
    rows: list[tuple[Any, ...]] = [
        (key.replace("_", " "), v, even.get(key), random.get(key)) for key, v in plan.items()
    ]
    if gain is not None:
        what = f"gain in {gain['in'].replace('_', ' ')}"
        rows.append((f"{what}, mean of {len(holdout['splits'])} splits", gain["value"], None, None))
        if gain["interval"] is not None:
            low, high = (cell(end) for end in gain["interval"])
            rows.append((f"{what}, 95 % interval", f"{low} to {high}", None, None))
    return Table((f"on {holdout['windows']['unseen']} unseen windows", "plan", "even", "random plan"), rows)


def difference(changed: AllocationDifference) -> tuple[list[Table], list[str]]:
    """Return the tables of a difference, and the notes below them."""
    rows = [(f"key-group:{c['operator']}/{c['key_group']}", c["what"], c["from"], c["to"]) for c in changed.changes]
    tables = [Table(("key group", "what", "from", "to"), rows)] if rows else []
    tables += changed_options(changed)
    if changed.moves:
        moves = [(f"key-group:{m['operator']}/{m['key_group']}", m["from"], m["to"], m["bytes"]) for m in changed.moves]
        tables.append(Table(("copy of", "from", "to", "bytes"), moves))
    size = "an unknown number of" if changed.bytes_moved is None else cell(int(changed.bytes_moved))
    groups = len({row[0] for row in rows})
    return tables, [
        f"{changed.copies_moved} copies move, {size} bytes",
        f"{groups} of {changed.key_groups} key groups change; {changed_objective(changed)}",
    ]
