"""Of a repair that is proven best: what only helps never makes it worse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ftplan.planners.recovery_schedule.algorithms.exact import exact
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import objective_of
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import nothing_recovered
from ftplan.planners.recovery_schedule.problem import (
    ArrivalEvent,
    Host,
    RecoveryObjective,
    RecoveryOptions,
    RecoveryProblem,
)
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair

OBJECTIVES: tuple[RecoveryObjective, ...] = ("priority-time", "fidelity-time")


def best(asked: RecoveryProblem, objective: RecoveryObjective, iterations: int = 20) -> float:
    """Return what the best schedule is worth, which has to be proven where there is one."""
    result = exact(asked, RecoveryOptions(objective, time_limit_s=600.0, iterations=iterations))
    worth = objective_of(asked, objective).of_schedule
    if result.answer is None:
        return worth(nothing_recovered(asked))
    assert result.status == "optimal"
    return worth(result.answer)


@pytest.mark.usefixtures("few_random_orders")
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(4))
def test_what_helps_never_makes_a_repair_worse(seed: int, objective: RecoveryObjective) -> None:
    asked = random_repair(seed)
    base = best(asked, objective)
    slack = 1e-6 * max(1.0, abs(base))
    last = max([arrival.at_s for arrival in asked.arrivals], default=0.0) + 1.0
    more = replace(
        asked,
        hosts=(*asked.hosts, Host("late", 1.0)),
        arrivals=(*asked.arrivals, ArrivalEvent(last, len(asked.hosts), (last, last))),
    )
    roomy = replace(asked, hosts=tuple(replace(host, room=host.room + 0.5) for host in asked.hosts), capacity=None)
    for easier in (more, roomy, replace(asked, bandwidth_bytes_s=None)):
        assert best(easier, objective) >= base - slack
    longer = best(replace(asked, horizon_s=asked.horizon_s * 2.0), objective)
    assert longer <= base + slack if objective == "priority-time" else longer >= base - slack
    assert best(asked, objective, 40) == pytest.approx(base)
