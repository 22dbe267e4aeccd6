"""From a problem to a plan of kind ``drain-schedule``, whichever algorithm answers."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ftplan.model.measures.stats_summary import trust_warnings
from ftplan.model.plan import Objective, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, of_command
from ftplan.planners.drain_schedule.algorithms.first_fit import random_rounds
from ftplan.planners.drain_schedule.algorithms.largest_set import largest_set
from ftplan.planners.drain_schedule.body import body, summary
from ftplan.planners.drain_schedule.metrics import effect, figures, one_by_one, zone_by_zone
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.drain_schedule.packing import pack
from ftplan.planners.drain_schedule.prepare import PreparedDrain, prepare
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem
from ftplan.planners.drain_schedule.rules import rules
from ftplan.planners.making import Made, log_planned
from ftplan.planners.result import Result

#: Share of the time for the rounds, and for the nodes that may stop now; the rest is for what the plan is compared
#: with, which may always take so many seconds.
PLANNED, STOPPING, GRACE_S = 0.8, 0.15, 0.5
#: Random orders that the mean is taken over: at most, at least, and how many looks at a task they may take.
ORDERS, LEAST_ORDERS, LOOKS = 20, 2, 20_000_000


def make(problem: Problem, planner: registry.Row, options: DrainScheduleOptions) -> Plan:
    """Plan which nodes restart together, in which round; see ``ftplan drain-schedule --help``.

    Raises FtplanError if an input is missing, or a selector, label or plan names what is not there.
    """
    command = Budget(options.time_limit_s, options.iterations)
    prepared = prepare(problem, options)
    drain = prepared.problem
    settings = DrainOptions(options.seed, command.left_s * PLANNED, options.iterations, options.partial)
    started = time.perf_counter()
    result: Result[Drain] = registry.load(planner)(drain, settings)
    log_planned(f"{len(drain.to_restart)} nodes", planner, result.status, started)
    answer = result.answer
    moves = 0 if answer is None else sum(map(len, answer.moves))
    compared = summary(drain, None if answer is None else answer.rounds, moves)
    compared["random"], cut = _random(drain, options, answer, command)
    if options.move:
        compared["peers"] = _with_room(drain, compared["peers"], command, options.seed)
    if options.max is not None and answer is not None:
        compared["ok_to_stop"], more = _ok_to_stop(prepared, options, answer, command)
        cut += more
    value = None if answer is None else float(len(answer.rounds))
    warnings = (*problem.warnings, *result.warnings, *_unlimited(drain, answer), *cut)
    if problem.stats is not None:
        warnings += tuple(trust_warnings(problem.stats.manifest))
    made = Made(
        result=result,
        body=None if answer is None else body(drain, answer, [effect(drain, nodes) for nodes in answer.rounds]),
        objective=Objective.of("rounds", "min", value, result.bound),
        summary=compared,
        warnings=of_command(warnings, command.time_limit_s),
        inputs=(*problem.inputs, *prepared.inputs),
    )
    return made.plan(problem, planner, options)


def _unlimited(problem: DrainProblem, answer: Drain | None) -> tuple[Warn, ...]:
    """Return a warning where no rule keeps anything up, so that everything may go down at once."""
    if answer is None or rules(problem):
        return ()
    text = f"no rule limits a round: {len(problem.to_restart)} nodes restart together, whatever runs on them"
    return (Warn("NO_LIMITS", f"{text}; leave out --no-limits, or give --min-fidelity, --keep-priority or --max"),)


def _random(
    problem: DrainProblem, options: DrainScheduleOptions, answer: Drain | None, command: Budget
) -> tuple[dict[str, Any] | None, tuple[Warn, ...]]:
    """Return the mean figures of first fit in random orders, and a warning where the clock left too few of them."""
    if answer is None:
        return None, ()
    nodes = sorted(node for nodes in answer.rounds for node in nodes)
    limited = options.move or options.min_fidelity is not None
    ends = max(command.started + command.time_limit_s, now()) + GRACE_S
    looks = len(nodes) * problem.tasks * (len(nodes) if limited else 1)
    count = min(ORDERS, max(LEAST_ORDERS, LOOKS // max(1, looks)))
    drawn = random_rounds(problem, nodes, options.seed, count, Budget(math.inf, ends=ends))
    cut: tuple[Warn, ...] = ()
    if len(drawn) < count:
        text = f"the time limit cut comparisons short: the summary has {len(drawn)} of {count} random orders"
        cut = (Warn("COMPARISON_CUT", f"{text}; the plan is what it is"),)
    if not drawn:
        return None, cut
    each = [figures(problem, rounds, (effect(problem, some) for some in rounds)) for rounds in drawn]
    means = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
    return {"orders": len(drawn), **means}, cut


def _with_room(problem: DrainProblem, compared: Mapping[str, Any], command: Budget, seed: int) -> dict[str, Any]:
    """Return the figures of restarts one by one and zone by zone, and whether what moves then finds room.

    That is None where nobody could tell in time.
    """
    rooms: dict[str, bool | None] = {}
    for name, rounds in (("one_by_one", one_by_one(problem)), ("zone_by_zone", zone_by_zone(problem))):
        packed = [pack(problem, problem.mask(nodes), command, seed) for nodes in rounds]
        lacking = [packing.proven for packing in packed if packing.moves is None]
        rooms[name] = True if not lacking else False if any(lacking) else None
    return {name: {**figure, "has_room": rooms[name]} for name, figure in compared.items()}


def _ok_to_stop(
    prepared: PreparedDrain, options: DrainScheduleOptions, answer: Drain, command: Budget
) -> tuple[dict[str, Any], tuple[Warn, ...]]:
    """Return the most nodes that may stop together now, up to the limit on them, and a proven bound of how many."""
    limit_s = min(command.left_s, STOPPING * command.time_limit_s)
    settings = DrainOptions(options.seed, limit_s, options.iterations, options.partial)
    together = largest_set(prepared.problem, answer, settings)
    warnings: tuple[Warn, ...] = ()
    if together.cut and len(together.nodes) < together.bound:
        text = f"the search for the most nodes that may stop now ended after {limit_s:.3g} s: another run may differ"
        warnings = (Warn("COMPARISON_CUT", text),)
    return {
        "most": options.max,
        "nodes": [prepared.problem.nodes[node] for node in together.nodes],
        "count": len(together.nodes),
        "bound": together.bound,
    }, warnings
