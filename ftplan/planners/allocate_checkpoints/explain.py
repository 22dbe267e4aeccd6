"""Why a checkpoint allocation decided as it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from ftplan.model.violation import Violation
from ftplan.planners.allocate_checkpoints.body import require_known_nodes, stated_assignments
from ftplan.planners.allocate_checkpoints.copy_measures import checkpoint_balance
from ftplan.planners.allocate_checkpoints.judge import rules_of
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, objective_costs
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.allocate_checkpoints.prepare import objective_of, planned_on, require
from ftplan.planners.allocate_checkpoints.rules import (
    RULE_CODES,
    CheckpointRules,
    NodeRule,
    Record,
    RuleInputs,
    node_rules,
)
from ftplan.planners.allocate_checkpoints.violations import judge_assignment, judge_copies, violations
from ftplan.planners.assessments import Explanation, explained

#: Rules that one move is judged by on its own; a plan with any other is judged as a whole.
KNOWN = frozenset(RULE_CODES) - {"failover"}


@dataclass(frozen=True, eq=False)
class CopyMoves:
    """An allocation in which single copies are tried elsewhere. Made in one pass; a trial costs O(copies of a group).

    ``assignments`` must name known nodes only, as in
    :func:`ftplan.planners.allocate_checkpoints.violations.violations`.
    """

    assignments: Sequence[Mapping[str, Any]]
    inputs: RuleInputs
    node_rules: list[NodeRule]

    @staticmethod
    def of(
        assignments: Sequence[Mapping[str, Any]],
        topology: Topology,
        cluster: Cluster,
        series: KeyGroupSeries | None,
        rules: CheckpointRules,
    ) -> CopyMoves:
        """Add up what every node holds. Cost O(copies + key groups)."""
        inputs, record = RuleInputs.of(topology, cluster, series, rules), Record()
        for item in assignments:
            for _ in judge_assignment("", item, inputs, record):
                pass  # what is broken now is not asked for
        return CopyMoves(assignments, inputs, node_rules(inputs, record))

    def broken(self, place: int, copy: int, node: str) -> tuple[Violation, ...]:
        """Return what assignment number *place* breaks with copy number *copy* on *node* and does not break now.

        On a plan that keeps its rules these are exactly its violations after the change, in the same order. A node
        that breaks a limit already is not held against a move that leaves it better.
        """
        item, position = self.assignments[place], self.inputs.cluster.position
        nodes = list(item["checkpoints"])
        changed = [*nodes[:copy], node, *nodes[copy + 1 :]]
        if not set(self.inputs.rules.names()) <= KNOWN:
            return self._as_a_whole(place, changed)
        now = set(self._group(item, nodes))
        broken = [v for v in self._group(item, changed) if v not in now]
        ends = {position[node]: 1.0}
        if copy < len(nodes):
            origin = position[nodes[copy]]
            ends[origin] = ends.get(origin, 0.0) - 1.0
        for rule in self.node_rules:
            added = rule.adds(item["operator"], int(item["key_group"]))
            for i in sorted(ends):
                before = float(rule.held[i])
                after = before + ends[i] * added
                farther = abs(after - rule.middle[i]) > abs(before - rule.middle[i])
                violation = rule.judge(i, after)
                if violation is not None and (farther or rule.judge(i, before) is None):
                    broken.append(violation)
        return tuple(broken)

    def _group(self, item: Mapping[str, Any], nodes: list[str]) -> list[Violation]:
        """Judge the copies of one key group alone."""
        operator, group = str(item["operator"]), int(item["key_group"])
        primary = self.inputs.home(operator, group, item.get("primary"))
        return list(judge_copies(operator, group, primary, nodes, self.inputs, Record()))

    def _as_a_whole(self, place: int, nodes: list[str]) -> tuple[Violation, ...]:
        """Judge the whole plan, for rules that are not known here."""
        i, plan = self.inputs, [*self.assignments]
        now = set(violations(plan, i.topology, i.cluster, i.series, i.rules))
        plan[place] = {**plan[place], "checkpoints": nodes}
        return tuple(v for v in violations(plan, i.topology, i.cluster, i.series, i.rules) if v not in now)


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

    Raises :class:`FtplanError` if the selector is of another kind or names what the plan does not have.
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
