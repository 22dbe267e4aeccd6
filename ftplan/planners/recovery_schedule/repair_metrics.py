"""The metrics of a repair that has been carried out."""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.downtimes import Downtimes, fidelity_time
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.recovery_schedule.replay.incident import Incident
from ftplan.planners.recovery_schedule.replay.outcome import Outcome


def repair_scores(outcome: Outcome, incident: Incident, horizon_s: float) -> dict[str, float | None]:
    """Return all metrics of kind recovery-schedule, by name; queries that are not back count until the horizon."""
    graph = incident.graph
    priority = graph.per_task("priority")
    downtimes = Downtimes.of([(o.query, o.down_s, o.back_s) for o in outcome.outages], priority)
    failed = np.unique(downtimes.query)
    still = np.unique(downtimes.query[downtimes.down_at(horizon_s)])
    worth = float(priority[failed].sum())
    capped = np.maximum(np.minimum(downtimes.back_s, horizon_s) - downtimes.down_s, 0.0)
    return {
        "queries-back-share": 1.0 - len(still) / len(failed) if len(failed) else 1.0,
        "priority-back-share": 1.0 - float(priority[still].sum()) / worth if len(failed) else 1.0,
        "first-back-s": downtimes.first_back_s(horizon_s),
        "last-back-s": downtimes.last_back_s(horizon_s),
        "mean-back-s": float(capped.mean()) if len(capped) else 0.0,
        "priority-time": downtimes.priority_time(horizon_s),
        "fidelity-time": _fidelity_time(outcome, incident, horizon_s),
        "prefetched-share": outcome.prefetched / outcome.started if outcome.started else 0.0,
        "restore-s": outcome.restore_s,
        "unrecovered-tasks": float(np.isinf(outcome.caught_up).sum()),
    }


def _fidelity_time(outcome: Outcome, incident: Incident, horizon_s: float) -> float:
    """Return the output fidelity integrated over the horizon; tasks work when they have caught up."""
    live = np.ones(incident.graph.tasks, dtype=np.bool_)
    live[list(outcome.failed)] = False
    events: dict[tuple[float, bool], list[int]] = {}
    for task, at_s in outcome.lost:
        events.setdefault((at_s, False), []).append(task)
    for task, begins, ends in outcome.uptimes:
        events.setdefault((begins, True), []).append(task)
        if np.isfinite(ends):
            events.setdefault((ends, False), []).append(task)
    model = fidelity_model(incident.graph, rates(incident.graph))
    return fidelity_time(model, live, events, horizon_s)
