"""Which tasks get an active replica, and on which nodes: a planner's choice within all limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

from ftplan.metrics.replica_hosts import ReplicaHosts
from ftplan.metrics.replication_problem import NodeByTask, ReplicationProblem
from ftplan.model.plan import Infeasible, Warn
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.bounds import quick_bound
from ftplan.planners.replication.changes import ChangeLimits, limited, unchanged
from ftplan.planners.replication.choice import EQUAL, ReplicationPlanner, met
from ftplan.planners.replication.fewest import fewest
from ftplan.planners.replication.placement.fitting import LESS, WITHOUT, Chooser, PlacementAttempt, fitted
from ftplan.planners.replication.placement.hosts import no_room, placement_problem
from ftplan.planners.replication.placement.placement import place
from ftplan.planners.replication.planner import Replication, ReplicationOptions
from ftplan.planners.result import Result


@dataclass(frozen=True, eq=False)
class DeploymentProblem:
    """Choose tasks to replicate within a budget, or as few as reach a ``target``, and nodes for the replicas."""

    problem: ReplicationProblem
    hosts: ReplicaHosts | None = None  # None: replicas stand on no node in particular
    current: NodeByTask | None = None  # the replicas in place; None where nobody knows
    changes: ChangeLimits = field(default_factory=ChangeLimits)
    target: float | None = None

    @property
    def nodes_fail(self) -> bool:
        """Whether a replica may fail with its node."""
        return self.hosts is not None and any(case.nodes for case in self.problem.cases)


def deployed(asked: DeploymentProblem, planner: ReplicationPlanner, options: ReplicationOptions) -> Result[NodeByTask]:
    """Choose replicas, drop what is useless, keep to the limits of change, and place.

    ``bound`` is of the metric, or with a target of the number of replicas. ``reason`` also says why nothing changes.
    """
    if asked.target is not None:
        return _reaching(asked, asked.target, planner, options)
    problem = asked.problem
    chosen = planner.choose(problem, options)
    if chosen.answer is None:
        return _on_nodes(chosen, None)
    fresh, warnings = _without_useless(problem, chosen.answer.replicated)
    current = problem.mask(asked.current or ())
    plan, kept = limited(problem, fresh, current, asked.changes, Budget.of(options))
    if isinstance(plan, Infeasible):
        return _infeasible(plan, chosen.bound, chosen.warnings)
    if kept is not None:
        warnings += (Warn("NO_CHANGE", kept),)
    result = _placed(asked, plan, replace(chosen, warnings=(*chosen.warnings, *warnings)), planner, options)
    if result.answer is None or result.reason or kept:
        return replace(result, reason=result.reason or kept)
    return replace(result, reason=unchanged(asked.current, fresh, result.answer, asked.changes.max_changes))


def _reaching(
    asked: DeploymentProblem, target: float, planner: ReplicationPlanner, options: ReplicationOptions
) -> Result[NodeByTask]:
    """Return the fewest replicas that reach a target on their nodes too."""
    problem = asked.problem
    put = partial(_placed, asked, planner=planner, options=options)

    def enough(replicated: BoolArray) -> bool:
        if not asked.nodes_fail:
            return True
        choice = Result("feasible", Replication(replicated), ("target",))
        answer = put(problem.useful(replicated), choice).answer
        return (
            answer is None or asked.problem.value_on(answer) >= target - EQUAL
        )  # no room is said where the plan is made

    chosen = fewest(problem, planner.choose, options, target, enough)
    if chosen.answer is None:
        return _on_nodes(chosen, None)
    fresh, warnings = _without_useless(problem, chosen.answer.replicated)
    result = put(fresh, replace(chosen, warnings=(*chosen.warnings, *warnings)))
    cut = any(warning.code == "TIME_LIMIT" for warning in result.warnings)
    if cut and result.infeasible is not None:  # fewer replicas may find room and reach it
        reason = f"no plan was found within the time limit: {result.reason}"
        return replace(result, status="no-plan-in-time", reason=reason, infeasible=None)
    if result.answer is None:
        return result
    reached = asked.problem.value_on(result.answer)
    if reached >= target - EQUAL:
        return replace(result, reason=result.reason or unchanged(asked.current, fresh, result.answer, None))
    reason = f"with a replica of every task that may fail the metric is {reached:.6g}, below the target {target:.6g}"
    fix = f"--target {int(reached * 1e6) / 1e6:.10g}"
    return _infeasible(Infeasible(reason, "target", reached, target, fix), None, result.warnings)


def _on_nodes(chosen: Result[Replication], node: NodeByTask | None) -> Result[NodeByTask]:
    """Return a planner's answer with the nodes of its replicas in its place, None without any."""
    return Result(chosen.status, node, chosen.rules, chosen.bound, chosen.reason, chosen.infeasible, chosen.warnings)


def _infeasible(limit: Infeasible, bound: float | None, warnings: tuple[Warn, ...]) -> Result[NodeByTask]:
    return Result("infeasible", None, (), bound, limit.reason, limit, warnings)


def _without_useless(problem: ReplicationProblem, replicated: BoolArray) -> tuple[BoolArray, tuple[Warn, ...]]:
    useful = problem.useful(replicated)
    dropped = int(replicated.sum() - useful.sum())
    if dropped == 0:
        return useful, ()
    what, were = ("1 replica completes", "was") if dropped == 1 else (f"{dropped:,} replicas complete", "were")
    text = f"{what} no tree of live tasks up to an output and {were} dropped: the plan is as good and cheaper"
    return useful, (Warn("USELESS_REPLICAS", text),)


def _placed(
    asked: DeploymentProblem,
    replicated: BoolArray,
    chosen: Result[Replication],
    planner: ReplicationPlanner,
    options: ReplicationOptions,
) -> Result[NodeByTask]:
    """Give the replicas nodes; where not all find one, and nothing stands against it, choose others that do."""
    hosts, problem = asked.hosts, asked.problem
    if hosts is None:
        return _on_nodes(chosen, dict.fromkeys(replicated.nonzero()[0].tolist()))
    put = partial(_attempt, asked, hosts, options)
    clock, attempt = Budget.of(options), put(replicated)
    if attempt.complete:
        return _with_nodes(asked, hosts, chosen, attempt)
    refusal = no_room(attempt.problem, attempt.placement, problem.graph, hosts)
    if asked.target is None:
        chooser = _chooser(planner, options) if asked.changes == ChangeLimits() else None
        fewer, known = fitted(problem, attempt, chooser, put, clock)
        again = put(fewer, known.nodes(problem.tasks))
        if fewer.any() and again.complete:
            text = f"{refusal.reason}: others were chosen; to have these, {refusal.smallest_fix}"
            bound = chosen.bound  # replicas take no more cores than are free on all nodes together
            if bound is not None:
                within = replace(problem, weight=hosts.cpu, budget=hosts.free_cores)
                bound = min(bound, 1.0 if clock.over() else quick_bound(within, clock))
            warnings = (*chosen.warnings, Warn("NO_ROOM", text), *clock.warnings())
            fewer_chosen = replace(chosen, status="feasible", bound=bound, warnings=warnings)
            return _with_nodes(asked, hosts, fewer_chosen, again)
    if not attempt.placement.proven:
        reason = f"no placement was found within the time limit: {refusal.reason}"
        return Result("no-plan-in-time", None, (), chosen.bound, reason, warnings=chosen.warnings)
    return _infeasible(refusal, chosen.bound, chosen.warnings)


def _attempt(
    asked: DeploymentProblem,
    hosts: ReplicaHosts,
    options: ReplicationOptions,
    replicated: BoolArray,
    known: IntArray | None = None,
) -> PlacementAttempt:
    """Look for nodes; where nodes fail with the primaries, those that lose least. *known* has some by task."""
    problem = placement_problem(asked.problem, hosts, replicated, asked.current or {})

    def value(node: IntArray) -> float:
        return asked.problem.value_on(hosts.names(problem.task, node))

    start = None if known is None else known[problem.task]
    return PlacementAttempt(problem, place(problem, options, value if asked.nodes_fail else None, start))


def _chooser(planner: ReplicationPlanner, options: ReplicationOptions) -> Chooser:
    """Return the planner as a function of the problem, with a part of the time for each run."""
    part = replace(options, time_limit_s=options.time_limit_s / (WITHOUT + LESS))

    def choose(problem: ReplicationProblem) -> BoolArray | None:
        answer = planner.choose(problem, part).answer
        return None if answer is None else problem.useful(answer.replicated)

    return choose


def _with_nodes(
    asked: DeploymentProblem, hosts: ReplicaHosts, chosen: Result[Replication], attempt: PlacementAttempt
) -> Result[NodeByTask]:
    node = hosts.names(attempt.problem.task, attempt.placement.node)
    status = chosen.status
    if asked.target is None and chosen.bound is not None and status in ("optimal", "feasible"):
        status = "optimal" if met(asked.problem.value_on(node), chosen.bound) else "feasible"
    return _on_nodes(replace(chosen, status=status), node)
