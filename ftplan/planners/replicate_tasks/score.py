"""What a replication plan is worth under failures and at rates other than those it was made for."""

from __future__ import annotations

from dataclasses import replace

from ftplan.errors import FtplanError
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.replicate_tasks.from_plan import nodes_by_task, options_of, question_of
from ftplan.planners.replicate_tasks.metrics import PRIORITY_TIME
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import WORST, PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask
from ftplan.planners.scenarios import own_failure, with_scenario_fails


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Return the metrics of a replication plan, in the failure's only scenario where it has one.

    Without a failure everything may fail, or what the plan was made for.

    Raises :class:`FtplanError` if an input is missing, or the plan names a task or node that is not there.
    """
    own = own_failure(plan, problem)
    if asked.fail and own:
        problem = replace(problem, failure=None)  # what is asked about stands for what the plan was made for
    given = problem.failure is not None and not own
    prepared = question_of(plan, problem, asked.fail, given)
    node = nodes_by_task(plan, prepared.graph)
    known = problem.cluster.position if problem.cluster is not None else None
    for name in node.values():
        if name is not None and known is not None and name not in known:
            raise FtplanError(f"plan: the cluster has no node {name!r}: verify names everything that is wrong")
    warnings: tuple[Warn, ...] = prepared.warnings
    if known is None and any(name is not None for name in node.values()):
        text = "the replicas have nodes and there is no cluster: no replica fails with its node"
        warnings += (Warn("NODES_IGNORED", text),)
    values: dict[str, float | None] = {
        "output-fidelity": prepared.problem.value_on(node, prepared.output_fidelity),
        "key-aligned-fidelity": prepared.problem.value_on(node, prepared.key_aligned),
        "internal-completeness": prepared.problem.value_on(node, prepared.completeness),
        "replicas": float(len(node)),
        PRIORITY_TIME: None,
    }
    options = options_of(plan, asked.fail, given)
    if options.then_recover:
        try:
            values[PRIORITY_TIME] = _priority_time(prepared, problem, options, node)
        except FtplanError as error:
            warnings += (Warn("RECOVERY_UNKNOWN", f"{PRIORITY_TIME} is not known: {error}"),)
    return Scores(values, _failures(plan, problem, asked, prepared), warnings)


def _priority_time(
    prepared: PreparedReplication, problem: Problem, options: TaskReplicationOptions, node: NodeByTask
) -> float:
    """Return the expected priority x seconds down of the recoveries that follow, planned anew."""
    from ftplan.planners.replicate_tasks.then_recover import FollowingRecovery

    return FollowingRecovery.of(prepared, problem, options).expected(node)


def _failures(plan: Plan, problem: Problem, asked: Asked, prepared: PreparedReplication) -> tuple[str, ...]:
    """Return what fails as selectors; that all tasks do has a name of its own."""
    if [case.id for case in prepared.problem.cases] == [WORST]:
        return (WORST,)
    failure = with_scenario_fails(problem).failure
    listed = [str(entry.select) for entry in failure.fail] if failure is not None else []
    return tuple(dict.fromkeys((*listed, *(asked.fail or plan.options.get("fail") or ()))))
