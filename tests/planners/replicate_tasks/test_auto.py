"""What the default finds and proves, and what it is compared with."""

from __future__ import annotations

import pytest

import ftplan
from tests.places import ROOT

STORM = ROOT / "examples" / "storm-recovery"


def test_the_default_proves_what_structure_aware_leaves_open() -> None:
    files = (STORM / name for name in ("topology.yaml", "cluster.yaml", "failure.yaml"))
    problem = ftplan.load(**dict(zip(("topology", "cluster", "failure"), files, strict=True)))
    plan, again = (ftplan.plan("replicate-tasks", problem, budget="20%") for _ in range(2))
    first = ftplan.plan("replicate-tasks", problem, budget="20%", algorithm="structure-aware")
    assert (plan.algorithm, plan.status, first.status) == ("auto", "optimal", "feasible")
    assert plan.objective.value >= first.objective.value
    assert "TIME_LIMIT" not in {warning.code for warning in plan.warnings}
    assert plan.to_json() == again.to_json()


def test_random_choices_keep_the_rules_of_the_plan() -> None:
    """Zone b has no room: only the task there, of a 31st of the output, can have a replica, by chance too."""
    operator = {"id": "o", "parallelism": 4, "output": True, "rate_out": [10, 10, 10, 1]}
    nodes = [{"id": "a1", "cpu": 3, "zone": "a"}, {"id": "a2", "cpu": 4, "zone": "a"}]
    nodes += [{"id": "b1", "cpu": 1, "zone": "b"}]
    problem = ftplan.load(
        topology={"format": "ftplan/topology", "format_version": "1.0", "operators": [operator], "edges": []},
        cluster={
            "format": "ftplan/cluster",
            "format_version": "1.0",
            "nodes": nodes,
            "placement": {"tasks": {"o": ["a1", "a1", "a1", "b1"]}},
        },
    )
    plan = ftplan.plan("replicate-tasks", problem, budget=2, max_cpu=1.0)
    for figures in (plan.summary["after"], plan.summary["random"]):
        assert figures["output_fidelity"] == pytest.approx(1 / 31)
