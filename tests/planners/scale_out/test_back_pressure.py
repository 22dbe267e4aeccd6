"""Who is to blame where operators block each other, from statistics to the plan."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ftplan
from ftplan.api.verification import verify
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import prepare
from tests.model.measures.measured_cases import WINDOW_S, measured
from tests.planners.scale_out.cases import planned

IDS = ("source", "fast", "slow", "last")
#: Records/s that one task takes.
SPEED = {"fast": 400.0, "slow": 50.0, "last": 60.0}
OFFERED, PASSED, FULL = 100.0, 50.0, 20_000.0


def blocked() -> ftplan.Problem:
    """Return a job whose ``slow`` takes half of what is offered: ``fast`` before it waits with a full queue, too.

    ``last`` after it is almost always busy with what ``slow`` lets through, and its queue is empty.
    """
    rows: list[tuple[Any, ...]] = []
    read = PASSED * WINDOW_S
    for window in range(12):
        rows.append(("source", 0, window, 0.0, read, None, None, 600.0, (OFFERED - PASSED) * WINDOW_S * window))
        for name, queue in (("fast", FULL), ("slow", FULL), ("last", 0.0)):
            busy_ms = 1_000.0 * read / SPEED[name]
            rows.append((name, 0, window, read, None if name == "last" else read, None, None, busy_ms, queue))
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": name, "parallelism": 1} for name in IDS],
        "edges": [{"from": a, "to": b, "partitioning": "full"} for a, b in pairwise(IDS)],
    }
    return ftplan.load(topology=topology, stats=measured(IDS, tasks=rows, windows=12))


def test_the_slow_operator_is_split_and_not_the_one_that_waits_for_it() -> None:
    """100 records/s over 50/s and 60/s at 70 %: three tasks each, by DS2's formula; ``fast`` is busy an eighth."""
    plan = planned(blocked())
    assert plan.plan is not None
    tasks = {item["operator"]: (item["parallelism_from"], item["parallelism_to"]) for item in plan.plan["operators"]}
    assert tasks == {"source": (1, 1), "fast": (1, 1), "slow": (1, 3), "last": (1, 3)}
    states = {item["operator"]: item["state"] for item in plan.plan["operators"]}
    assert states["slow"] == "promoted"
    assert plan.objective.value == 1.0
    assert plan.summary["before"]["sustained_load"] == 0.7 / (OFFERED / SPEED["slow"])
    said = {warning.code: warning.message for warning in plan.warnings}
    if states["fast"] != "normal":  # a full queue raised its score
        assert "fast" in said["NOT_THE_BOTTLENECK"]
    assert verify(plan, blocked()).valid


def test_what_throughput_percentages_say_of_it() -> None:
    """Output passes unobstructed after ``slow`` only once ``last`` has more tasks; ``fast`` is behind both."""
    ready = prepare(blocked(), ScaleOutOptions(forecast="none"))
    percentages = {item.id: item.throughput_percentage for item in ready.problem.operators}
    assert percentages == {"source": 0.0, "fast": 0.0, "slow": 0.0, "last": 1.0}
