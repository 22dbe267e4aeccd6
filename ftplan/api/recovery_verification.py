"""Does a recovery schedule keep its rules, and is its objective right?"""

from __future__ import annotations

from dataclasses import replace

from ftplan.api.recovery_incident import horizon_of, incident_of
from ftplan.api.recovery_scores import repair_scores
from ftplan.model.incident import Incident
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.recovery_outcome import outcome
from ftplan.model.recovery_replay import Replay, replay
from ftplan.model.recovery_rules import RULES, judged
from ftplan.model.violation import Violation

#: How far a stated objective may lie from the recomputed one, relative to its size.
TOLERANCE = 1e-6


def judge_schedule(plan: Plan, problem: Problem, strict: bool) -> tuple[list[Violation], tuple[str, ...]]:
    """Return what a recovery schedule violates, and the rules that it was held to: always all of them.

    Codes: those of :mod:`ftplan.model.recovery_rules`, ``OBJECTIVE_DIFFERS`` also for the objective of the whole plan
    and for a stated bound that the plan beats.

    Raises
    ------
    FtplanError
        If an input is missing.
    """
    incident = incident_of(plan, problem)
    body = plan.plan or {}
    found = replay(body["steps"], incident)
    broken = list(judged(body, incident, found))
    # Where the plan starts what it cannot, its value means nothing.
    if not found.faults:
        broken += _objective(plan, incident, found)
    return broken, RULES


def _objective(plan: Plan, incident: Incident, found: Replay) -> list[Violation]:
    stated = plan.objective
    if stated is None or stated.value is None or stated.name not in ("priority", "priority-time", "fidelity-time"):
        return []
    value = _value(stated.name, plan, incident, found)
    slack = TOLERANCE * max(abs(value), 1e-9)
    broken = []
    if abs(value - stated.value) > slack:
        text = f"the plan states {stated.name} {stated.value:.12g}, its schedule is worth {value:.12g}"
        broken.append(Violation("OBJECTIVE_DIFFERS", text))
    sense = "min" if stated.name == "priority-time" else "max"
    if stated.sense != sense:
        text = f"the plan states sense {stated.sense}, {stated.name} has {sense}"
        broken.append(Violation("OBJECTIVE_DIFFERS", text))
    beyond = None if stated.bound is None else (value - stated.bound) * (1 if sense == "max" else -1)
    if beyond is not None and beyond > slack:
        which = "more" if sense == "max" else "less"
        text = f"the plan is worth {value:.12g}, {which} than its bound {stated.bound:.12g}"
        broken.append(Violation("OBJECTIVE_DIFFERS", text))
    return broken


def _value(name: str, plan: Plan, incident: Incident, found: Replay) -> float:
    """Return the objective of a schedule whose nodes arrive at its steps.

    ``priority`` sums over all steps what each restored: what its decision made whole and no failure struck before it
    was back. A query that fails again after that counts once for each time it was restored.
    """
    if name == "priority":
        priority = incident.graph.per_task("priority")
        return float(sum(priority[query] for moment in found.moments for query in found.restored(moment)))
    arrivals = tuple(replace(a, at_s=(m.at_s, m.at_s)) for m in found.moments for a in m.arrivals)
    fixed = replace(incident, arrivals=arrivals)
    steps = (plan.plan or {})["steps"]
    scores = repair_scores(outcome(steps, fixed), fixed, horizon_of(plan, incident))
    return float(scores[name] or 0.0)
