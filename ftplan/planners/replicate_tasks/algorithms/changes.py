"""Whether the replicas in place can be brought within a budget by the changes that are allowed ([SuZhou2016], V-C)."""

from __future__ import annotations

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Infeasible
from ftplan.planners.replicate_tasks.algorithms.placement.room import in_place
from ftplan.planners.replicate_tasks.problem import ReplicationProblem


def too_few_changes(problem: ReplicationProblem) -> Infeasible | None:
    """Return the limit that no plan keeps where more replicas in place must stop than may change; None otherwise."""
    if problem.max_changes is None or problem.current is None:
        return None
    stops = problem.changes(in_place(problem).node)
    if stops <= problem.max_changes:
        return None
    cost = problem.cost(problem.current != NOWHERE)
    reason = (
        f"the replicas in place take {cost:.6g} of a budget of {problem.budget:.6g}: at least {stops} must stop, and "
        f"only {problem.max_changes} changes are allowed"
    )
    return Infeasible(reason, "max-changes", problem.max_changes, stops, f"--max-changes {stops}")
