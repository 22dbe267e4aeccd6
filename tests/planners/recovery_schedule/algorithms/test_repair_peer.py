"""Small repairs to a scheduling library that nobody here wrote: it finds what brute force finds."""

from __future__ import annotations

import pytest

from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement, value
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.repair_cases import least_loss, random_repair
from tests.planners.recovery_schedule.algorithms.repair_peer import TICK_S, Peer, by_pyjobshop

pytest.importorskip("pyjobshop")


@pytest.mark.parametrize("seed", range(examples(24)))
def test_pyjobshop_loses_as_little_as_brute_force(seed: int) -> None:
    """Hosts, order, lanes, arrivals and pool mean the same to both; its times are rounded up to ticks."""
    asked: list[tuple[RepairInstance, Peer]] = []

    def solver(instance: RepairInstance, *_: object) -> RepairPlacement:
        asked.append((instance, by_pyjobshop(instance, 600.0)))
        placement = asked[0][1].placement
        assert placement is not None
        return placement

    construct_schedule(random_repair(seed, delays=False), RecoveryOptions(), WholeRepairPolicy(solver))
    (instance, peer), placed = asked[0], asked[0][1].placement
    assert placed is not None
    assert peer.proven
    assert instance.fits(placed.host)
    slack = TICK_S * (1 + len(instance.task)) * float(instance.priority.sum())
    least = least_loss(instance)
    assert least - 1e-9 <= value(instance, placed) <= least + slack
    assert peer.bound == pytest.approx(least, abs=slack)
