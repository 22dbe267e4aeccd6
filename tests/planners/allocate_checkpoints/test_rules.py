"""Every code of the rule checker, and hand-made plans that hold anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.allocate_checkpoints.violations import violations

FOUR = np.ones(4)
TOPOLOGY = Topology(
    (
        Operator("agg", 4, cpu=FOUR, state_bytes=2**20 * FOUR, priority=FOUR, key_groups=4),
        Operator("map", 4, cpu=FOUR, state_bytes=0 * FOUR, priority=FOUR),
        Operator("other", 4, cpu=FOUR, state_bytes=0 * FOUR, priority=FOUR, key_groups=2),
    ),
    (),
)
CLUSTER = Cluster(
    (
        Node("n1", 1.0, 3.0, "a"),
        Node("n2", 1.0, 3.0, "a"),
        Node("n3", 1.0, 3.0, "b"),
        Node("n4", 1.0, 3.0),
        Node("n5", 1.0, accepts=frozenset(("tasks",))),
    ),
    placement=Placement(tasks={"agg": ("n1", "n2", "n3", "n4")}),
)
SERIES = KeyGroupSeries(
    ("agg",),
    np.zeros(4, dtype=np.int64),
    np.arange(4),
    np.array([[1.0, 1.0, 1.0, 1.0]]),
    "records",
    60.0,
    np.full(4, np.nan),
    np.zeros(4, dtype=bool),
)


def plan(*nodes: Any) -> list[dict[str, Any]]:
    """Copies of the four groups of ``agg``."""
    homes = ("n1", "n2", "n3", "n4")
    return [
        {"operator": "agg", "key_group": g, "primary": homes[g], "checkpoints": [n] if isinstance(n, str) else n}
        for g, n in enumerate(nodes)
    ]


GOOD = plan("n3", "n4", "n1", "n2")


BALANCED = CheckpointRules(balance=0.05, memory=True)


def codes(assignments: Any, rules: CheckpointRules = BALANCED) -> list[str]:
    return [v.code for v in violations(assignments, TOPOLOGY, CLUSTER, SERIES, rules)]


def changed(group: int, **fields: Any) -> list[dict[str, Any]]:
    return [{**item, **(fields if i == group else {})} for i, item in enumerate(GOOD)]


def test_good_plan() -> None:
    assert codes(GOOD) == []
    assert codes(GOOD, CheckpointRules(anti_affinity="zone", balance="count")) == []


@pytest.mark.parametrize(
    ("assignments", "rules", "code"),
    [
        (changed(0, checkpoints=["n77"]), CheckpointRules(), "UNKNOWN_NODE"),
        (changed(0, primary="n77"), CheckpointRules(), "UNKNOWN_NODE"),
        (changed(0, operator="ag"), CheckpointRules(), "UNKNOWN_KEY_GROUP"),
        (changed(0, operator="map"), CheckpointRules(), "UNKNOWN_KEY_GROUP"),
        (changed(0, key_group=4), CheckpointRules(), "UNKNOWN_KEY_GROUP"),
        (changed(0, key_group=True), CheckpointRules(), "UNKNOWN_KEY_GROUP"),
        (GOOD[1:], CheckpointRules(), "MISSING_KEY_GROUP"),
        ([*GOOD, GOOD[0]], CheckpointRules(), "ASSIGNED_TWICE"),
        (changed(0, primary="n2"), CheckpointRules(), "WRONG_PRIMARY"),
        (changed(0, checkpoints=["n5"]), CheckpointRules(), "NODE_ACCEPTS_NO_CHECKPOINTS"),
        (changed(0, checkpoints=["n1"]), CheckpointRules(), "COPY_WITH_PRIMARY"),
        (changed(0, primary="n2", checkpoints=["n1"]), CheckpointRules(), "COPY_WITH_PRIMARY"),
        (plan(["n3", "n3"], ["n4", "n1"], ["n1", "n2"], ["n1", "n2"]), CheckpointRules(2), "COPIES_ON_ONE_NODE"),
        (changed(0, checkpoints=["n2"]), CheckpointRules(anti_affinity="zone"), "COPY_IN_SAME_ZONE"),
        (
            plan(["n3", "n4"], ["n3", "n4"], ["n1", "n2"], ["n1", "n3"]),
            CheckpointRules(2, "zone"),
            "COPY_IN_SAME_ZONE",
        ),
        (plan("n3", "n3", "n1", "n2"), CheckpointRules(balance=0.5), "OVER_BALANCE"),
        (plan("n3", "n3", "n1", "n2"), CheckpointRules(balance="count"), "OVER_BALANCE"),
        (plan("n3", "n3", "n1", "n2"), CheckpointRules(balance="even-count"), "OVER_BALANCE"),
        (plan("n3", "n3", "n2", "n3"), CheckpointRules(memory=True), "OVER_CAPACITY"),
        (changed(0, checkpoints=[]), CheckpointRules(), "WRONG_COPIES"),
        (changed(0, checkpoints="n3"), CheckpointRules(), "WRONG_COPIES"),
    ],
)
def test_each_code(assignments: Any, rules: CheckpointRules, code: str) -> None:
    assert code in codes(assignments, rules)


def test_without_statistics_only_named_operators_are_complete_and_loads_are_not_judged() -> None:
    rules = CheckpointRules(balance=0.05)
    assert violations(plan("n3", "n3", "n1", "n2"), TOPOLOGY, CLUSTER, None, rules) == ()
    assert violations([], TOPOLOGY, CLUSTER, None, rules) == ()
    assert [v.code for v in violations(GOOD[:3], TOPOLOGY, CLUSTER, None, rules)] == ["MISSING_KEY_GROUP"]


def test_without_a_placement_the_plans_own_primaries_count() -> None:
    cluster = replace(CLUSTER, placement=None)
    found = violations(changed(0, primary="n3"), TOPOLOGY, cluster, SERIES, CheckpointRules())
    assert [v.code for v in found] == ["COPY_WITH_PRIMARY"]


def test_measured_state_wins_over_the_topology() -> None:
    heavy = replace(SERIES, state_bytes=np.array([np.nan, np.nan, np.nan, 3 * 2.0**20]))
    found = violations(GOOD, TOPOLOGY, CLUSTER, heavy, CheckpointRules(memory=True))
    assert [(v.code, v.where) for v in found] == [("OVER_CAPACITY", "node:n2"), ("OVER_CAPACITY", "node:n4")]


def test_names() -> None:
    always = ("copy-not-with-primary", "copies-on-distinct-nodes")
    assert CheckpointRules().names() == always
    assert CheckpointRules(1, "zone", 0.1, True).names() == (*always, "copies-in-distinct-zones", "balance", "memory")
    assert CheckpointRules(balance="count").names() == (*always, "count")
    assert CheckpointRules(balance="even-count").names() == (*always, "even-count")


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 6) | st.floats() | st.sampled_from(["agg", "n1", "n3", "map", "", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["operator", "key_group", "primary", "checkpoints"]), inner)
        | st.sets(st.integers(), max_size=2)
    ),
    max_leaves=12,
)
item = st.fixed_dictionaries(
    {},
    optional={
        "operator": st.just("agg") | anything,
        "key_group": st.integers(0, 4) | anything,
        "primary": st.sampled_from(["n1", "n2"]) | anything,
        "checkpoints": st.lists(st.sampled_from(["n1", "n2", "n9"]) | anything, max_size=3) | anything,
    },
)


@settings(max_examples=300, deadline=None)
@given(st.lists(item | anything, max_size=5) | anything, st.sampled_from([0.1, "count", "none"]), st.booleans())
def test_hand_made_plans_are_judged_not_crashed_on(assignments: Any, balance: Any, known: bool) -> None:
    rules = CheckpointRules(1, "zone", balance, True)
    found = violations(assignments, TOPOLOGY, CLUSTER, SERIES if known else None, rules)
    assert all(v.code and v.message for v in found)
