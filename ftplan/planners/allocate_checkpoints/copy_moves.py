"""What an allocation would break with one copy on another node, without judging the whole plan again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology
from ftplan.model.violation import Violation
from ftplan.planners.allocate_checkpoints.rules import (
    RULE_CODES,
    CheckpointRules,
    NodeRule,
    Record,
    RuleInputs,
    node_rules,
)
from ftplan.planners.allocate_checkpoints.violations import judge_assignment, judge_copies, violations

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
