"""A schedule that knows all demand and works off what rescales leave over: how near the bound one can come."""

from __future__ import annotations

from dataclasses import replace

from ftplan.model.topology import IntArray
from ftplan.planners.scale_out.algorithms.churn.optimum import offline_optimum
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account

#: What demand is multiplied with, and shares of the overloaded windows that are allowed, for optima to begin with.
HEADROOM, ALLOWED = (1.0, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5), (1.0, 0.6, 0.3)

#: States of one bound, up to which a schedule is looked for: some ten seconds.
MOST_STATES = 1e6


def timely_schedule(trace: DemandTrace, limits: ChurnLimits) -> tuple[IntArray, ChurnAccount] | None:
    """Return a cheap schedule that keeps the limits by its late windows; None where none is known, or it takes long.

    The best of the offline optima for a little more demand and fewer overloaded windows: not proven, but all that keep
    the limits so lie above the offline optimum's bound. Cost of some ten Lagrangian bounds.
    """
    best: tuple[IntArray, ChurnAccount] | None = None
    if len(trace.demand) * trace.most * (limits.rescales(trace) + 1) > MOST_STATES:
        return None
    for headroom in HEADROOM:
        more = replace(trace, demand=headroom * trace.demand)
        for allowed in ALLOWED:
            schedule = offline_optimum(more, limits._replace(overloaded=allowed * limits.overloaded), 0.0).schedule
            if schedule is None:
                continue
            entry = account(trace, schedule)
            if entry.keeps(limits, trace, late=True) and (best is None or entry.task_s < best[1].task_s):
                best = schedule, entry
    return best
