"""Why a key group moves by its protocol."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.planners.rebalance.migration_costs import PROTOCOLS, MigrationSetting
from ftplan.planners.rebalance.problem import Migration, RebalanceLimits
from ftplan.planners.rebalance.reasons import LOST, NEXT_ONE, NO_ROOM, NOT_THERE, ON_TARGET, REMOTE, UNUSED, reason
from tests.planners.rebalance.algorithms.cases import rebalance_problem

OLD = MigrationSetting(rate=100.0, record_time_s=1e-3, state_bytes=1e3, age_s=60.0, bandwidth_mb_s=100.0, queue_s=1.0)
FULL = OLD._replace(state_bytes=1e9, full=1.0, age_s=[1.0, 1.0], interval_s=60.0)
PROBLEM = rebalance_problem([10.0, 10.0], [0, 0], [(1,), (1,)], [100.0] * 3)
LEAVING = replace(PROBLEM, removed=np.array([True, False, False]), limits=RebalanceLimits(within_s=1.0))
SENT = rebalance_problem([10.0, 10.0], [0, 0], [(1,), (1,)], [100.0] * 3, setting=OLD._replace(age_s=[60.0, 60.0]))
NEXT = rebalance_problem([10.0, 10.0], [0, 0], [(1,), (1,)], [100.0] * 3, setting=FULL)


@pytest.mark.parametrize(
    ("problem", "target", "protocol", "asked", "why"),
    [
        (PROBLEM, 1, "cpal", "auto", ON_TARGET),
        (PROBLEM, 1, "direct", "auto", f"{ON_TARGET}; {NO_ROOM}"),
        (PROBLEM, 2, "direct", "auto", NOT_THERE),
        (PROBLEM, 2, "direct", "direct", "--protocol direct"),
        (SENT, 1, "direct", "auto", UNUSED),
        (NEXT, 2, "lazy", "auto", NEXT_ONE),
        (NEXT, 2, "direct", "auto", f"{NOT_THERE}; {NO_ROOM}"),
        (replace(PROBLEM, remote=True), 2, "cpa", "auto", REMOTE),
        (LEAVING, 1, "recover", "auto", f"{LOST}, {ON_TARGET}"),
        (LEAVING, 2, "fetch", "direct", f"{LOST}, {NOT_THERE}"),
    ],
)
def test_reasons(problem, target, protocol, asked, why) -> None:  # type: ignore[no-untyped-def]
    assert protocol in problem.possible(0, target)
    assert reason(problem, Migration(0, target, protocol), asked) == why


def test_the_cheapest_protocol_is_never_said_to_be_dearer() -> None:
    for problem in (PROBLEM, SENT, NEXT):
        for target in (1, 2):
            ways = problem.possible(0, target)
            best = min(ways, key=lambda way: (problem.priced(way)[0], PROTOCOLS.index(way)))
            assert NO_ROOM not in reason(problem, Migration(0, target, best))
