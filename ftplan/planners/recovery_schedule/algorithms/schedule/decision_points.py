"""The times at which a recovery is decided upon: the failure itself, later failures, arrivals of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ftplan.model.failure import FailureEvent
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, RecoveryProblem


@dataclass(slots=True)
class DecisionPoint:
    """All that happens at one time."""

    at_s: float
    failures: list[FailureEvent] = field(default_factory=list)
    arrivals: list[ArrivalEvent] = field(default_factory=list)

    def trigger(self, problem: RecoveryProblem) -> str:
        """Return what the step is called after: the failure if there is one, else the nodes that arrived."""
        if self.failures:
            return "failure:" + ",".join(event.selector for event in self.failures)
        if self.arrivals:
            return "arrival:" + ",".join(str(problem.hosts[event.host].id) for event in self.arrivals)
        return "failure"


def decision_points(problem: RecoveryProblem) -> list[DecisionPoint]:
    """Return the times at which something happens, in order; the first is the failure itself, at 0."""
    points = {0.0: DecisionPoint(0.0)}
    for failure in problem.failures:
        points.setdefault(failure.at_s, DecisionPoint(failure.at_s)).failures.append(failure)
    for arrival in problem.arrivals:
        points.setdefault(arrival.at_s, DecisionPoint(arrival.at_s)).arrivals.append(arrival)
    return [points[at_s] for at_s in sorted(points)]
