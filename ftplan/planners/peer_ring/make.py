"""From a problem to a plan of kind ``peer-ring``, whichever algorithm answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.model.plan import Objective, Plan, Status, Warn, sound_bound
from ftplan.model.problem import Problem
from ftplan.model.violation import over
from ftplan.planners import registry
from ftplan.planners.budget import Budget, SearchOptions, of_command
from ftplan.planners.making import Made, log_planned
from ftplan.planners.peer_ring.algorithms.baselines import baselines
from ftplan.planners.peer_ring.algorithms.moves.from_current import front
from ftplan.planners.peer_ring.body import whole_body
from ftplan.planners.peer_ring.metrics import overloaded
from ftplan.planners.peer_ring.moves import with_all_copies, worth_moved
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.prepare import prepare
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem
from ftplan.planners.peer_ring.rules import requested_rules, rules
from ftplan.planners.peer_ring.summary import (
    LEVELS,
    all_proven,
    failure_of,
    figures_in_place,
    level_values,
    question_summary,
    summary,
)
from ftplan.planners.peer_ring.takeover.takeover import TakeOver
from ftplan.planners.result import Result

#: Share of the time for the ring, the rest is for what it is compared with.
PLANNED = 0.9
#: By how much virtual nodes have to be more even for a warning.
EVENER = 0.01
#: By how much fewer bytes have to travel with virtual nodes for a warning.
FEWER = 0.1
#: How many nodes a warning names.
NAMED = 5


def make(problem: Problem, planner: registry.Row, options: PeerRingOptions) -> Plan:
    """Plan which tokens nodes get; see ``ftplan peer-ring --help``.

    Raises FtplanError if an input is missing, an option contradicts another, or a selector or plan names what is not
    there.
    """
    command = Budget(options.time_limit_s, options.iterations)
    started = time.perf_counter()
    prepared = prepare(problem, options)
    question = prepared.problem
    plan: Callable[..., Result[RingAnswer]] = registry.load(planner)
    search = SearchOptions(options.seed, command.left_s * PLANNED, options.iterations)
    result = plan(question, search)
    shape = f"{len(question.atom)} key groups x {len(question.member)} nodes"
    log_planned(shape, planner, result.status, started)
    answer = None if result.answer is None else with_all_copies(question, result.answer)
    value = None if answer is None else question.largest_load(answer.ring)
    objective = Objective.of("largest-load", "min", value, None if answer is None else result.bound)
    failure = None if answer is None else failure_of(question, answer.ring)
    body = None if answer is None else whole_body(question, answer.ring, answer.steps, failure)
    known, bounds = _summary(question, answer, failure, body, objective.bound, options, command)
    said = () if answer is None else tuple(_said(question, answer, known))
    stated = replace(
        result,
        status=result.status if answer is None else _status(question, answer, bounds),
        reason=result.reason or _reason(question, answer),
        rules=_rules(question, answer),
    )
    made = Made(
        result=stated,
        body=body,
        objective=objective,
        summary=known,
        warnings=of_command((*problem.warnings, *question.warnings, *result.warnings, *said), command.time_limit_s),
        inputs=(*problem.inputs, *prepared.inputs),
        derived={
            "capacity_per_core_requested": options.capacity_per_core,
            "capacity_per_core": prepared.capacity_per_core,
        },
    )
    return made.plan(problem, planner, options)


def _rules(problem: RingProblem, answer: RingAnswer | None) -> tuple[str, ...]:
    if answer is None:
        return requested_rules(problem)
    return rules(problem, answer.ring, worth_moved(problem, answer.steps))


def _status(problem: RingProblem, answer: RingAnswer, bounds: dict[str, Any]) -> Status:
    """Return ``optimal`` where every level is proven, whichever algorithm found it."""
    values = level_values(problem, answer.ring, answer.steps)
    return "optimal" if all_proven(values, bounds) else "feasible"


def _summary(
    problem: RingProblem,
    answer: RingAnswer | None,
    failure: TakeOver | None,
    body: Mapping[str, Any] | None,
    bound: float | None,
    options: PeerRingOptions,
    command: Budget,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what follows from question and ring with what planners know besides, and the bound of each level."""
    if answer is None or body is None:
        return question_summary(problem, figures_in_place(problem)), {}
    known = summary(problem, answer.ring, answer.steps, failure, body["tolerance"]["survival"])
    losses = problem.least_losses if answer.losses_bound is None else answer.losses_bound
    violations = answer.violations_bound if problem.zoned else None
    bounds = dict(
        zip(LEVELS, (None if violations is None else losses, violations, bound, answer.bytes_bound), strict=True)
    )
    for name in LEVELS:
        value, least = known["levels"][name]["value"], bounds[name]
        known["levels"][name]["bound"] = None if value is None or least is None else sound_bound("min", value, least)
    known |= baselines(problem, options.seed)
    if problem.current is not None:
        known["front"] = front(problem, answer, command)
    known["out_of_room"] = [problem.nodes[node] for node in answer.out_of_room]
    return known, bounds


def _reason(problem: RingProblem, answer: RingAnswer | None) -> str | None:
    """Say why nothing changes."""
    if answer is None or answer.steps:
        return None
    return "the ring stays as it is" if problem.keep else "no change: no ring is better than the one in place"


def _said(problem: RingProblem, answer: RingAnswer, known: Mapping[str, Any]) -> Iterator[Warn]:
    """Yield what is to be said of a ring."""
    full = overloaded(problem, answer.ring)
    if full:
        names = _named(problem, full)
        text = f"above {problem.overload:g} of their capacity: {names}; another node (--add) would relieve them"
        text += "" if problem.capacity_known else ", if capacity is as assumed (--capacity-per-core states it)"
        yield Warn("OVERLOADED", text)
    if answer.out_of_room:
        text = f"no other node can take load of {_named(problem, answer.out_of_room)}: add a node"
        yield Warn("OUT_OF_ROOM", text)
    after, other = known["after"], known["virtual_nodes"]
    simple = answer.ring.simple and not problem.keep
    if simple and over(after["largest_load"], other["largest_load"] * (1.0 + EVENER)):
        text = (
            f"virtual nodes would be more even: a largest load of {other['largest_load']:.4g} by {other['tokens']:,} "
            f"tokens, with {other['copysets']:,} copysets instead of {after['copysets']:,}: more sets of nodes whose "
            "failure loses something"
        )
        yield Warn("VIRTUAL_NODES_MORE_EVEN", text)
    moved, fewer = known["levels"]["bytes"]["value"], other["bytes"]
    if simple and fewer is not None and over(moved, fewer * (1.0 + FEWER)):
        text = (
            f"{moved:,.0f} bytes travel, and {fewer:,.0f} would on a ring of {other['tokens']:,} tokens, whose largest "
            f"load is {other['largest_load']:.4g} of the fair share, not {after['largest_load']:.4g}: where nodes come "
            "and go often --algorithm virtual-nodes moves less"
        )
        yield Warn("VIRTUAL_NODES_MOVE_LESS", text)


def _named(problem: RingProblem, nodes: Sequence[int]) -> str:
    more = f" and {len(nodes) - NAMED:,} more" if len(nodes) > NAMED else ""
    return ", ".join(problem.nodes[node] for node in nodes[:NAMED]) + more
