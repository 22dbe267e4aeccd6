"""Probabilities of failure are of a period, and a ring loses what fails within one repair window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.errors import FtplanError
from ftplan.planners.peer_ring.repair_window import repair_window_s, within_repair_window
from ftplan.planners.peer_ring.survival.survival import loss, survival
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem
from tests.planners.peer_ring.cases import CLUSTER, job, planned


def cluster(**more: Any) -> dict[str, Any]:
    return {**CLUSTER, **more}


def test_the_window_scales_what_fails_in_a_period() -> None:
    problem = ring_problem([1.0] * 6, [1.0] * 3, "aab", 1, [2.0**20] * 6, setting={"bandwidth": 2.0**20})
    ring = even_ring(problem)
    window = repair_window_s(problem, ring)
    assert window == pytest.approx(0.7 + 2.0)  # detection, and two key groups of a MB to one node
    asked = replace(problem, zone_down=np.array([0.02, 0.3]), failure_period_s=27.0)
    scaled = within_repair_window(asked, ring)
    assert scaled.down == pytest.approx(1 - (1 - asked.down) ** 0.1)
    assert scaled.zone_down == pytest.approx(1 - (1 - asked.zone_down) ** 0.1)
    found = survival(scaled, ring)
    assert found is not None
    assert found["window_s"] == window
    assert (
        found["loss_probability"] == loss(scaled, ring).value < loss(replace(asked, failure_period_s=None), ring).value
    )
    assert within_repair_window(scaled, ring) is scaled


def test_too_few_nodes_for_a_repair_are_seen_to_within_the_period() -> None:
    problem = replace(ring_problem([1.0] * 4, [1.0] * 2, "ab", 1), failure_period_s=100.0)
    assert repair_window_s(problem, even_ring(problem)) == 100.0
    assert within_repair_window(problem, even_ring(problem)).down == pytest.approx(problem.down)


def test_a_cluster_states_its_period() -> None:
    """A day unless it says otherwise; the shorter it is, the likelier is a loss."""
    losses = []
    for period in ("2d", "24h", None, "1d", "600s"):
        given = {} if period is None else {"failure_period": period}
        plan = planned(job(cluster=cluster(**given)), "virtual-nodes", tokens=2)
        losses.append(plan.summary["after"]["loss_probability"])
    assert losses[0] < losses[1] == losses[2] == losses[3] < losses[4]


@pytest.mark.parametrize("period", ["1", "1 day", "0s", "-1d", "99999999w"])
def test_a_period_has_a_unit(period: str) -> None:
    with pytest.raises(FtplanError, match="failure_period: must be a time such as 1d, 12h or 30m"):
        ftplan.load(cluster=cluster(failure_period=period))


def test_the_longest_take_over_is_the_longest() -> None:
    """Not the one at the mean age of checkpoints, which is shorter for every node."""
    plan = planned(job(), "virtual-nodes", tokens=2)
    assert plan.plan is not None
    worst = plan.plan["estimates"]["worst"]
    assert worst["ready_at_most_s"]["value"] > worst["ready_s"]["value"]
    from ftplan.planners.peer_ring.view import answer

    rows = {str(row[0]): str(row[1]) for table in answer(plan).tables for row in table.rows}
    shown = float(rows["longest until served again, s"].partition(" ")[0].replace(",", ""))
    assert shown == pytest.approx(worst["ready_at_most_s"]["value"], rel=1e-3)
