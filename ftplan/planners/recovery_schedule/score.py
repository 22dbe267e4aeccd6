"""What a recovery schedule is worth, under its own failure or another one."""

from __future__ import annotations

from ftplan.errors import FtplanError, suggestion
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.recovery_schedule.incident import at_planned_times, horizon_of, incident_of
from ftplan.planners.recovery_schedule.repair_metrics import repair_scores
from ftplan.planners.recovery_schedule.replay.incident import Incident
from ftplan.planners.recovery_schedule.replay.outcome import outcome
from ftplan.planners.scenarios import with_scenario_fails


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Carry a recovery schedule out, and score what comes of it.

    See :func:`ftplan.planners.recovery_schedule.replay.outcome.outcome`.

    The failure is that of *problem*, the plan's own ``--fail`` and what is asked besides. Under another failure than
    the plan was made for nobody plans anew: a task waits for its node, what did not fail is passed over, and what the
    plan does not name stays down.

    Raises
    ------
    FtplanError
        If an input is missing, or the plan names a task that the topology does not have.
    """
    scenario = problem.failure is not None and bool(problem.failure.scenarios)
    whole = incident_of(plan, with_scenario_fails(problem), asked.fail, nothing=scenario)
    incident = at_planned_times(whole)
    require_known_tasks(plan, incident)
    values = repair_scores(outcome((plan.plan or {})["steps"], incident), incident, horizon_of(plan, whole))
    failures = tuple(dict.fromkeys(str(entry.select) for entry in incident.fail))
    return Scores(values, failures, _warnings(values))


def require_known_tasks(plan: Plan, incident: Incident, name: str = "plan") -> None:
    """Refuse a recovery schedule, called *name*, that names a task which the topology does not have.

    Raises
    ------
    FtplanError
        With the nearest name.
    """
    topology = incident.graph.topology
    for step in (plan.plan or {})["steps"]:
        for item in step["recover"]:
            if item["operator"] not in topology.position:
                near = suggestion(item["operator"], topology.position)
                raise FtplanError(
                    f"{name}: unknown operator {item['operator']!r}{near}: verify names all that is wrong"
                )
            try:
                incident.graph.number(item["operator"], item["index"])
            except FtplanError as error:
                raise FtplanError(f"{name}: {error}") from error


def _warnings(values: dict[str, float | None]) -> tuple[Warn, ...]:
    left = int(values["unrecovered-tasks"] or 0)
    if not left:
        return ()
    return (Warn("TASKS_STAY_DOWN", f"{left:,} failed tasks do not come back by this plan under this failure"),)
