"""Why a checkpoint allocation decided as it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.measures.planned_copies import planned_copies
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import Topology
from ftplan.planners.allocate_checkpoints.body import require_known_nodes, stated_assignments
from ftplan.planners.allocate_checkpoints.copy_measures import checkpoint_balance
from ftplan.planners.allocate_checkpoints.copy_moves import CopyMoves
from ftplan.planners.allocate_checkpoints.judge import rules_of
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, objective_costs
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.allocate_checkpoints.prepare import objective_of, planned_on, require
from ftplan.planners.assessments import Explanation, explained

_TITLE: Mapping[str, str] = {
    "correlation": "what a copy would cost on each node (low is good)",
    "node-correlation": "what a copy would cost on each node (low is good)",
    "usable": "windows of overload in which a copy on each node would be usable (high is good)",
}


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain one key group's copies (``key-group:OP/N``) or what lies on a node (``node:ID``).

    For a key group: for each of its copies every node with what the copy would cost there, and if it is not chosen,
    the rule that the copy would break there, None where it only costs more. Cost O(key groups + nodes) beside that
    of the objective.

    Raises
    ------
    FtplanError
        If the selector is of another kind or names what the plan does not have.
    """
    topology, cluster, whole = require(problem, CheckpointAllocationOptions.of_plan(plan).load)
    series = planned_on(plan, whole)
    assignments: list[Mapping[str, Any]] = list(stated_assignments(plan, topology, cluster))
    require_known_nodes(assignments, cluster)
    parts = {
        "key-group": lambda: _key_group(what, plan, assignments, topology, cluster, series),
        "node": lambda: _node(what, plan, assignments, cluster, series),
    }
    return explained(what, "a checkpoint allocation", parts)


def _costs(
    plan: Plan, assignments: Sequence[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries
) -> dict[tuple[str, int], Any]:
    """Return what a copy of each group costs on each node, or in how many windows it is usable there.

    The values of the plan's objective, in its sense.
    """
    objective = objective_of(plan).resolved(series, cluster)
    copies = planned_copies(assignments, series, cluster)
    cost = objective_costs(objective, series.loads[:, copies.columns], series.window_s, copies.home, cluster)
    values = objective.sign * cost + 0.0
    return {series.names[column]: values[i] for i, column in enumerate(copies.columns.tolist())}


def _called(objective: CheckpointObjective) -> str:
    """Return the column that holds the values of an objective."""
    return "usable windows" if objective.name == "usable" else "cost"


def _key_group(
    what: Selector,
    plan: Plan,
    assignments: list[Mapping[str, Any]],
    topology: Topology,
    cluster: Cluster,
    series: KeyGroupSeries,
) -> Explanation:
    place = next(
        (i for i, a in enumerate(assignments) if (a["operator"], a["key_group"]) == (what.name, what.index)), None
    )
    if place is None:
        raise FtplanError(f"{what}: the plan does not assign this key group")
    item = assignments[place]
    moves = CopyMoves.of(assignments, topology, cluster, series, rules_of(plan))
    costs: Any = _costs(plan, assignments, cluster, series).get((what.name, int(what.index or 0)))
    chosen = list(item["checkpoints"])
    objective = objective_of(plan)
    rows = [
        row
        for copy in range(max(len(chosen), 1))
        for row in _rows(moves, place, copy, chosen, cluster, costs, objective)
    ]
    load = float(series.mean_load[series.position[what.name, int(what.index or 0)]]) if costs is not None else 0.0
    copies = f"copies on {', '.join(chosen)}" if chosen else "no copies"
    notes = [f"primary on {item['primary']}, {copies}; mean load {load:.6g} per window"]
    notes += [plan.reason] if plan.reason and len(chosen) < moves.inputs.rules.copies else []
    for copy in chosen if costs is not None else ():
        here = float(costs[cluster.position[copy]])
        open_to = [row for row in rows if row["copy"] == copy and not row["chosen"] and row["ruled out by"] is None]
        better = objective.sign * (here - open_to[0][_called(objective)]) if open_to else 0.0
        if better > NOISE:
            would = (
                f"be usable in {better:.6g} windows more" if objective.name == "usable" else f"cost {better:.6g} less"
            )
            notes.append(f"{open_to[0]['node']} breaks no rule of the plan and would {would} than {copy}")
    columns = ("node", "zone", _called(objective), "chosen", "ruled out by")
    return Explanation(
        str(what),
        f"{what}: {_TITLE[objective.name]}",
        ("copy", *columns) if len(chosen) > 1 else columns,
        tuple(rows),
        tuple(notes),
        (),
    )


def _rows(
    moves: CopyMoves,
    place: int,
    copy: int,
    chosen: list[str],
    cluster: Cluster,
    costs: Any,
    objective: CheckpointObjective,
) -> list[dict[str, Any]]:
    """Return every node for one copy, the best first: what it is worth there, and what rules it out."""
    name = _called(objective)
    rows: list[dict[str, Any]] = []
    for i, node in enumerate(cluster.nodes):
        taken = node.id in chosen
        broken = () if taken else moves.broken(place, copy, node.id)
        rows.append(
            {
                "copy": chosen[copy] if chosen else None,
                "node": node.id,
                "zone": node.zone,
                name: None if costs is None else float(costs[i]),
                "chosen": taken,
                "ruled out by": f"{broken[0].code}: {broken[0].message}" if broken else None,
            }
        )
    return sorted(rows, key=lambda row: 0.0 if row[name] is None else objective.sign * row[name])


def _node(
    what: Selector, plan: Plan, assignments: list[Mapping[str, Any]], cluster: Cluster, series: KeyGroupSeries
) -> Explanation:
    node = cluster.node(what.name)
    costs, called = _costs(plan, assignments, cluster, series), _called(objective_of(plan))
    position = cluster.position[node.id]
    balance = checkpoint_balance(assignments, cluster, series)
    rows = []
    for item in assignments:
        if node.id in item["checkpoints"]:
            name = (item["operator"], item["key_group"])
            cost = costs.get(name)
            rows.append(
                {
                    "key group": f"{name[0]}/{name[1]}",
                    "primary": item["primary"],
                    "load": float(series.mean_load[series.position[name]]) if name in series.position else 0.0,
                    called: None if cost is None else float(cost[position]),
                }
            )
    rows.sort(key=lambda r: -r["load"])
    fair = float(balance.fair_load[position])
    held = float(balance.load[position])
    share = f", {held / fair:.3f} of its fair share {fair:.6g}" if fair else ""
    return Explanation(
        str(what),
        f"{what}: the copies that lie here",
        ("key group", "primary", "load", called),
        tuple(rows),
        (f"{len(rows)} copies of load {held:.6g}{share}",),
        (),
    )
