"""A restore that is under way while other tasks of its query fail, one after another, still holds the query back."""

from __future__ import annotations

import pytest

import ftplan
from ftplan.api import verify


@pytest.mark.parametrize("algorithm", ["operator-centric", "best-density", "exact"])
def test_a_query_waits_for_a_restore_from_before_two_failures(algorithm: str) -> None:
    """The state of a takes 1000 s; b fails at 96 s and c at 193 s, and both are back at once, without state."""
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": "a", "state_bytes": 1024}, {"id": "b"}, {"id": "c"}],
        "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}],
    }
    cluster = {
        "format": "ftplan/cluster",
        "format_version": "1.0",
        "nodes": [{"id": f"n{i}", "cpu": 8} for i in range(4)],
        "network": {"bandwidth_mb_s": 1, "delay_s": 1000},
        "placement": {"tasks": {"a": ["n1"], "b": ["n2"], "c": ["n3"]}},
    }
    failure = {
        "format": "ftplan/failure",
        "format_version": "1.0",
        "fail": ["node:n1", {"at_s": 96, "select": "node:n2"}, {"at_s": 193, "select": "node:n3"}],
    }
    problem = ftplan.load(topology=topology, cluster=cluster, failure=failure)
    plan = ftplan.plan("recovery-schedule", problem, algorithm=algorithm, arrivals=False, horizon=5000)
    assert plan.plan is not None
    assert [query["back_s"] for query in plan.plan["queries"]] == [pytest.approx(1000, abs=1)]
    assert verify(plan, problem).violations == ()
