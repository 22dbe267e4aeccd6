"""Making a schedule: walk through failures and arrivals, let a policy decide at each, place what it chose."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.failure import FailureEvent
from ftplan.model.plan import Infeasible, Objective, Status, Warn
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery.knapsack.fractional_bound import fractional_bound
from ftplan.planners.recovery.problem import ArrivalEvent, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.downtime import Outages
from ftplan.planners.recovery.schedule.node_assignment import Part, Splittable, fillable
from ftplan.planners.recovery.schedule.packing import pack, pack_prefetch
from ftplan.planners.recovery.schedule.repair_state import Progress
from ftplan.planners.recovery.schedule.schedule import Decision, Policy, Recovery, Schedule, State, Step
from ftplan.planners.result import Result

_log = logging.getLogger(__name__)

#: Share of the time that step 0 may take; the later ones divide what is left.
FIRST_STEP = 0.7
#: Seconds that solvers may take to place a step, and that all of its placing may take, even when the time is over.
LEAST_PACKING_S, PLACING_S = 0.2, 0.5
#: Seconds after the end of the time that a step which has begun may still take; later steps recover nothing then.
LATE_S = 0.3


@dataclass(slots=True)
class Moment:
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


def moments(problem: RecoveryProblem) -> list[Moment]:
    """Return the times at which something happens, in order; the first is the failure itself, at 0."""
    found = {0.0: Moment(0.0)}
    for failure in problem.failures:
        found.setdefault(failure.at_s, Moment(failure.at_s)).failures.append(failure)
    for arrival in problem.arrivals:
        found.setdefault(arrival.at_s, Moment(arrival.at_s)).arrivals.append(arrival)
    return [found[at_s] for at_s in sorted(found)]


def run(
    problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, until_s: float | None = None
) -> Result[Schedule]:
    """Return the schedule that a policy makes of a failure, step by step (Su & Zhou, section 4.4).

    At each step the policy chooses tasks, which are placed (:mod:`packing`); capacity that is left begins the next
    query where ``options.prefetch`` says so. A failure on the way is not foreseen: its tasks join those that are
    down, and the next decision starts from what is back by then. Infeasible only if no query returns within the
    horizon. The bound of the objective ``priority`` sums over the steps the most that each could restore in the state
    that it found; optimal where every step restored that much.

    Steps for which the time does not last recover nothing. With *until_s*, a time of ``budget.now``, the schedule
    is a yardstick: it is placed without solvers, so that the clock decides nothing of it, and either whole by then or
    not made at all (``no-plan-in-time``).
    """
    budget = Budget.of(options)
    latest_s = budget.started + budget.time_limit_s + LATE_S if until_s is None else until_s
    idle = late = False
    progress = Progress(problem)
    queries = failed_queries(problem.graph, progress.down)
    outages = Outages(problem, queries, 0.0)
    times = moments(problem)
    steps: list[Step] = []
    warnings: list[Warn] = []
    overall: float | None = None
    for number, moment in enumerate(times):
        late = late or now() > latest_s
        if late and until_s is not None:
            return Result("no-plan-in-time", None, (), reason="the comparison did not end in time")
        if moment.failures:
            queries = _fail(moment, progress, outages, steps)
        for arrival in moment.arrivals:
            progress.arrive(arrival.host)
        if late and number > 0:
            idle |= bool(queries.queries)
            steps.append(_idle(problem, moment, queries, progress, number))
            continue
        coming = tuple(event for later in times[number + 1 :] for event in later.arrivals)
        state = _state(problem, options, number, moment.at_s, queries, progress, coming)
        part = budget.part(_share(number, len(times)))
        decision = policy(state, part, options.seed) if queries.queries else Decision(np.zeros(0, dtype=np.int64))
        budget.cut |= part.cut
        if number == 0:
            overall = decision.overall_bound
        seconds, started = max(LEAST_PACKING_S, budget.left_s / (len(times) - number)), now()
        placing_s = latest_s if until_s is not None else max(latest_s, started + PLACING_S)
        if until_s is not None:
            seconds = 0.0
        step, said = _step(state, decision, options, progress, outages, moment, seconds, placing_s)
        budget.cut |= until_s is None and (now() - started >= seconds or now() > latest_s)
        if decision.note:
            _log.info("step %d: %s", number, decision.note)
        warnings += said
        steps.append(step)
        queries = queries.without(~progress.down)
    if until_s is not None and now() > until_s:
        return Result("no-plan-in-time", None, (), reason="the comparison did not end in time")
    budget.cut |= idle
    schedule = Schedule(
        tuple(steps), outages.closed(times[-1].at_s, queries, progress), _unrecovered(progress, queries)
    )
    warnings = [*problem.warnings, *warnings, *budget.warnings()]
    bound = overall if options.objective != "priority" else _most(steps)
    back = any(outage.back_s is not None and outage.back_s <= problem.horizon_s for outage in schedule.outages)
    if outages.first and not back and idle:
        reason = f"no query is back by the steps that {options.time_limit_s:g} s lasted for: more time may bring one"
        return Result("no-plan-in-time", None, (), bound, reason, None, tuple(warnings))
    if outages.first and not back:
        refusal = _infeasible(problem, steps, outages.first_queries)
        return Result("infeasible", None, (), bound, refusal.reason, refusal, tuple(warnings))
    optimal = options.objective == "priority" and all(_closed(step.objective) for step in steps)
    status: Status = "optimal" if optimal else "feasible"
    rules = ("capacity", "arrivals", "whole-queries")
    return Result(status, schedule, rules, bound, None, None, tuple(dict.fromkeys(warnings)))


def _share(number: int, steps: int) -> float:
    """Return which share of the time left a step may take."""
    if number == 0 and steps > 1:
        return FIRST_STEP
    return 1.0 / (steps - number)


def _closed(objective: Objective) -> bool:
    return objective.gap is not None and objective.gap <= 1e-9


def _most(steps: list[Step]) -> float:
    """Return the summed priority that the steps could restore, each in the state that it found."""
    return float(sum(step.objective.bound or 0.0 for step in steps))


def _fail(moment: Moment, progress: Progress, outages: Outages, steps: list[Step]) -> FailedQueries:
    """Apply the failures of a moment; queries that they took down are open again, also in the steps before.

    A step restored what its decision made whole and no failure struck before it was back; its bound stays, since
    another choice might have been back in time.
    """
    struck = np.zeros(progress.problem.graph.tasks, dtype=np.bool_)
    for event in moment.failures:
        struck |= progress.fail(event)
    queries = failed_queries(progress.problem.graph, progress.down)
    undone = outages.reopen(queries, progress, moment.at_s)
    priority = progress.problem.graph.per_task("priority")
    for i, step in enumerate(steps):
        kept = tuple(item for item in step.restored if not (item[0] in undone and item[1] > moment.at_s))
        if len(kept) != len(step.restored):
            objective = Objective.of("priority", "max", _worth(kept, priority), step.objective.bound)
            steps[i] = replace(step, restored=kept, objective=objective)
    return queries


def _state(
    problem: RecoveryProblem,
    options: RecoveryOptions,
    number: int,
    at_s: float,
    queries: FailedQueries,
    progress: Progress,
    coming: tuple[ArrivalEvent, ...],
) -> State:
    """Return what the policy sees."""
    room = progress.open_room
    cost = problem.cost
    grain = cost
    if options.parallel_recovery:
        _, groups = problem.graph.key_groups
        grain = np.where(groups > 1, cost / np.maximum(groups, 1), cost)
    usable = room if options.parallel_recovery else fillable(room, cost[queries.task])
    present = problem.present
    pool = max(0.0, float(progress.pool))
    most = float(min(usable[:present].sum(), pool) + usable[present:].sum())
    largest = float(room.max(initial=0.0))
    expected = max([largest, *(problem.hosts[event.host].room for event in coming)])
    too_large = grain > largest * (1.0 + 1e-9) + 1e-9
    hopeless = grain > expected * (1.0 + 1e-9) + 1e-9
    if not progress.there.any():
        too_large = np.ones(problem.graph.tasks, dtype=np.bool_)
    return State(
        problem,
        number,
        at_s,
        queries,
        progress.down.copy(),
        cost,
        room,
        progress.capacity,
        min(progress.capacity, most),
        too_large,
        hopeless,
        coming,
    )


def _idle(problem: RecoveryProblem, moment: Moment, queries: FailedQueries, progress: Progress, number: int) -> Step:
    """Return a step that recovers nothing; its bound counts all that is down."""
    most = float(problem.graph.per_task("priority")[queries.query].sum())
    return Step(
        moment.at_s,
        moment.trigger(problem),
        progress.capacity,
        0.0,
        Objective.of("priority", "max", 0.0, most),
        _rollback(problem, number, bool(moment.failures)),
        (),
        (),
    )


def _step(
    state: State,
    decision: Decision,
    options: RecoveryOptions,
    progress: Progress,
    outages: Outages,
    moment: Moment,
    seconds: float,
    until_s: float,
) -> tuple[Step, list[Warn]]:
    """Place what a policy chose, and begin the next query with what is left."""
    problem = state.problem
    splittable: Splittable = {}
    if options.parallel_recovery:
        first, groups = problem.graph.key_groups
        splittable = {int(t): (int(first[t]), int(groups[t])) for t in np.flatnonzero(state.down & (groups > 1))}
    packed = pack(state, decision, progress, splittable, seconds, until_s)
    recover = _restored(packed.parts, progress, state.at_s, prefetch=False)
    if options.prefetch and decision.prefetch:
        ahead = pack_prefetch(state, decision, progress, splittable, until_s)
        recover += _restored(ahead, progress, state.at_s, prefetch=True)
    whole = outages.close(state.queries.without(~progress.down), progress, state.step)
    priority = problem.graph.per_task("priority")
    value = _worth(whole, priority)
    bound = decision.bound
    if bound is None:
        bound = fractional_bound(state.knapsack()) if state.queries.queries else 0.0
    if packed.bound is not None:
        bound = min(bound, packed.bound)
    used = float(sum(item.cpu for item in recover))
    return (
        Step(
            state.at_s,
            moment.trigger(problem),
            state.capacity,
            used,
            Objective.of("priority", "max", value, bound),
            _rollback(problem, state.step, bool(moment.failures)),
            tuple(recover),
            tuple(whole),
        ),
        packed.warnings,
    )


def _worth(restored: Iterable[tuple[int, float]], priority: FloatArray) -> float:
    return float(sum(priority[query] for query, _ in restored))


def _restored(parts: list[Part], progress: Progress, at_s: float, *, prefetch: bool) -> list[Recovery]:
    times = progress.recover(parts, at_s)
    return [
        Recovery(part.task, part.host, part.cpu, ready, prefetch, part.key_groups)
        for part, ready in zip(parts, times, strict=True)
    ]


def _rollback(problem: RecoveryProblem, step: int, failed_again: bool) -> bool:
    """Return whether all live tasks go back to the last checkpoint: at the failure, later only for want of determinism.

    Su & Zhou, sections 4.3 and 4.4: an operator that may answer a replay differently forces it at every new failure.
    """
    if step == 0:
        return True
    return failed_again and not all(operator.deterministic for operator in problem.graph.topology.operators)


def _unrecovered(progress: Progress, queries: FailedQueries) -> tuple[tuple[int, str], ...]:
    """Return the tasks that are still down at the end, with the reason."""
    largest = float(progress.open_room.max(initial=0.0))
    cost = progress.problem.cost
    needless = set(queries.needless.tolist())
    found = []
    for task in np.flatnonzero(progress.down).tolist():
        if task in needless:
            reason = "no query needs it"
        elif cost[task] > largest:
            reason = f"needs {cost[task]:.6g} cores, the node with most room has {largest:.6g} left"
        else:
            reason = "no query that needs it fits into what is left"
        found.append((task, reason))
    return tuple(found)


def _infeasible(problem: RecoveryProblem, steps: list[Step], queries: FailedQueries) -> Infeasible:
    """Say which query would come back first, and how many cores it lacks."""
    weight = queries.weight(problem.cost)
    need = np.bincount(queries.row, weights=weight[queries.member], minlength=queries.queries)
    cheapest = int(np.argmin(need))
    operator, index = problem.graph.name(int(queries.query[cheapest]))
    most = max(step.capacity for step in steps)
    needed = float(need[cheapest])
    lacks = max(0.0, needed - most)
    what = f"it lacks {lacks:.6g}" if lacks > 0.0 else "no node has room for its largest task"
    reason = (
        f"no query returns within {problem.horizon_s:g} s: the cheapest, query:{operator}/{index}, needs {needed:.6g} "
        f"cores and at most {most:.6g} are free at any time: {what}"
    )
    pool = any(host.id is None for host in problem.hosts) or problem.capacity is not None
    fix = f"--capacity {needed:.6g}" if pool else f"an arriving node with {needed:.6g} free cores"
    return Infeasible(reason, "capacity", most, needed, fix)
