"""Judging one copy on another node agrees with judging the whole plan again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.allocate_checkpoints.explain import KNOWN, CopyMoves
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.allocate_checkpoints.violations import violations
from tests.planners.allocate_checkpoints.algorithms.cases import Case, cases

RULES = [
    CheckpointRules(copies, zone, balance, memory)
    for copies in (1, 2)
    for zone in ("node", "zone")
    for balance in ("none", "count", "even-count", 0.2, 1.0)
    for memory in (False, True)
]


@st.composite
def plans(draw: Any) -> tuple[Case, CheckpointRules, list[dict[str, Any]]]:
    """A plan that need not keep its rules; whole loads, so that no sum is rounded."""
    case = draw(cases(max_groups=6, whole=True))
    rules = draw(st.sampled_from(RULES))
    nodes = sorted(node.id for node in case.nodes)
    return (
        case,
        rules,
        [
            {
                "operator": operator,
                "key_group": group,
                "primary": home,
                "checkpoints": draw(
                    st.lists(st.sampled_from(nodes), min_size=min(rules.copies, len(nodes)), max_size=2, unique=True)
                ),
            }
            for (operator, group), home in zip(case.groups, case.homes, strict=True)
        ],
    )


@settings(max_examples=200)
@given(plans(), st.booleans())
def test_agrees_with_the_checker(what: tuple[Case, CheckpointRules, list[dict[str, Any]]], placed: bool) -> None:
    """On a plan that keeps its rules exactly; on another, nothing is found that the checker does not find."""
    case, rules, plan = what
    cluster = case.cluster() if placed else replace(case.cluster(), placement=None)
    topology, series = case.topology(), case.series()
    now = violations(plan, topology, cluster, series, rules)
    moves = CopyMoves.of(plan, topology, cluster, series, rules)
    for place, item in enumerate(plan):
        for copy, host in enumerate(item["checkpoints"]):
            assert moves.broken(place, copy, host) == ()
            for node in cluster.nodes:
                nodes = [*item["checkpoints"]]
                nodes[copy] = node.id
                changed = [*plan]
                changed[place] = {**item, "checkpoints": nodes}
                found = violations(changed, topology, cluster, series, rules)
                broken = moves.broken(place, copy, node.id)
                if not now:
                    assert broken == found
                assert set(broken) <= set(found)
                # What is left out was broken before, at the same place.
                left_out = [v for v in found if v not in broken]
                assert {(v.code, v.where) for v in left_out} <= {(v.code, v.where) for v in now}


def test_every_rule_is_known() -> None:
    """A rule that is not known here is judged on the whole plan: right, and slow at size."""
    assert {name for rules in RULES for name in rules.names()} == KNOWN
