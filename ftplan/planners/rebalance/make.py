"""From a problem to a plan of kind ``rebalance``, and how many nodes to add or to remove, as its summary says it."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Objective, Plan
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.budget import Budget, of_command
from ftplan.planners.making import Made, log_planned, without_failure
from ftplan.planners.rebalance.algorithms.cluster_size import ClusterSizing, Suggestion, suggest
from ftplan.planners.rebalance.algorithms.phases.front import front
from ftplan.planners.rebalance.body import body, summary
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance, prepare
from ftplan.planners.rebalance.problem import Rebalance, RebalanceProblem, RebalanceSearch
from ftplan.planners.rebalance.rules import rules
from ftplan.planners.result import Result
from ftplan.reports.numbers import count

#: New nodes that a sentence lists.
MAX_NAMED_NODES = 3


def suggestion(prepared: PreparedRebalance, options: RebalanceOptions) -> dict[str, Any]:
    """Return a suggestion as a plan's summary keeps it, on top of the nodes that are added and removed already."""
    problem, cluster = prepared.problem, prepared.cluster
    low, high = options.band
    sizing = ClusterSizing(problem, prepared.series.loads.sum(axis=1), (low, high), options.seed)
    made = suggest(sizing)
    after = sizing.in_use.copy()
    after[list(made.nodes)] = made.action == "add"
    new = _new_nodes(cluster, made)
    more = 0.0 if made.like is None else made.more * float(problem.capacity[made.like])
    return {
        "band": [low, high],
        "action": made.action,
        "count": len(made.nodes) + made.more,
        "nodes": [problem.nodes[node] for node in made.nodes],
        "new_nodes": new,
        "in_band": made.in_band,
        "fewest": made.proven,
        "for_peaks": made.for_peaks,
        "why": made.why,
        "text": _text(made, problem),
        "utilisation_before": sizing.utilisation(sizing.in_use, sizing.demand),
        "utilisation_after": sizing.utilisation(after, sizing.demand, more),
        "p95_before": sizing.utilisation(sizing.in_use, sizing.peak),
        "p95_after": sizing.utilisation(after, sizing.peak, more),
        "next": _commands(made, problem, new, options.add, options.remove),
    }


def _text(made: Suggestion, problem: RebalanceProblem) -> str:
    if made.action == "none":
        return "neither add nor remove nodes" + ("" if made.in_band else ": the band is not reached")
    names = ", ".join(problem.nodes[node] for node in made.nodes)
    said = [f"{made.action} {count(len(made.nodes), 'node')}: {names}"] if made.nodes else []
    if made.more and made.like is not None:
        said.append(f"add {count(made.more, 'new node')} like {problem.nodes[made.like]}")
    proof = " (no fewer do)" if made.proven and made.in_band else "" if made.in_band else " (the band is not reached)"
    return ", and ".join(said) + proof


def _new_nodes(cluster: Cluster, made: Suggestion) -> list[dict[str, Any]]:
    """Return entries for the nodes of the cluster file, in the zones in turn, the smallest first."""
    if made.like is None:
        return []
    like, zones = cluster.nodes[made.like], Counter(node.zone for node in cluster.nodes if node.zone is not None)
    size = {"cpu": like.cpu} | ({} if like.memory_mb is None else {"memory_mb": like.memory_mb})
    turn = itertools.cycle([{"zone": zone} for zone in sorted(zones, key=zones.__getitem__)] or [{}])
    names = (name for k in itertools.count(1) if (name := f"extra-{k}") not in cluster.position)
    return [{"id": name, **size, **zone} for name, zone, _ in zip(names, turn, range(made.more), strict=False)]


def _commands(
    made: Suggestion,
    problem: RebalanceProblem,
    new: Sequence[dict[str, Any]],
    add: Iterable[str],
    remove: Iterable[str],
) -> list[str]:
    """Return what to do next, line by line."""
    if made.action == "none":
        return []
    named = [problem.nodes[node] for node in made.nodes]
    steps = []
    if new:
        entries = [
            "{" + ", ".join(f"{k}: {_plain(v)}" for k, v in entry.items()) + "}" for entry in new[:MAX_NAMED_NODES]
        ]
        more = f" and {len(new) - MAX_NAMED_NODES:,} more, see new_nodes" if len(new) > MAX_NAMED_NODES else ""
        steps.append(f"add to the nodes of the cluster file: {', '.join(entries)}{more}")
        named += [entry["id"] for entry in new]
    added = [*add, *(named if made.action == "add" else ())]
    removed = [*remove, *(named if made.action == "remove" else ())]
    flags = [*(f"--add {node}" for node in added), *(f"--remove {node}" for node in removed)]
    return [*steps, " ".join(["ftplan rebalance", *flags])]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


#: Share of the time for the moves, the rest is for what the plan is compared with; and, of what is left of that, for
#: each tolerance that is tried.
PLANNED, EACH = 0.9, 0.5
#: How far below its fair share an added node may stay: the smallest that can be is taken.
LADDER = tuple(round(0.1 * step, 1) for step in range(1, 11))


def make(problem: Problem, planner: registry.Row, options: RebalanceOptions) -> Plan:
    """Plan which key groups move where; see ``ftplan rebalance --help``.

    Raises FtplanError if an input is missing, or a selector or plan names what is not there.
    """
    command = Budget(options.time_limit_s, options.iterations)
    started = time.perf_counter()
    prepared, fill, result = _searched(prepare(problem, options), planner, options, command)
    question, answer = prepared.problem, result.answer
    shape = f"{len(question.home)} key groups x {len(question.nodes)} nodes"
    log_planned(shape, planner, result.status, started)
    value = None if answer is None else question.value(answer.moves)
    warnings = (*problem.warnings, *question.warnings, *result.warnings)
    made = Made(
        result=replace(result, reason=result.reason or _nothing_to_do(answer, options), rules=rules(question)),
        body=None if answer is None else body(question, answer, options.protocol),
        objective=Objective.of(question.objective_name, "min", value, None if answer is None else result.bound),
        summary=_summary(prepared, options, answer),
        warnings=of_command(warnings, command.time_limit_s),
        inputs=(*without_failure(problem), *prepared.inputs),
        derived={
            "tolerance_requested": options.tolerance,
            "tolerance": _tolerance(options, fill),
            "capacity_per_core_requested": options.capacity_per_core,
            "capacity_per_core": prepared.capacity_per_core,
        },
    )
    return made.plan(problem, planner, options)


def _tolerance(options: RebalanceOptions, fill: float | None) -> Any:
    """Return the tolerance that came of the one that was asked for."""
    if options.tolerance != "auto":
        return options.tolerance
    return "none" if fill is None else fill


def _searched(
    prepared: PreparedRebalance, planner: registry.Row, options: RebalanceOptions, command: Budget
) -> tuple[PreparedRebalance, float | None, Result[Rebalance]]:
    """Return the question, how far below its fair share an added node may stay in it, and the planner's answer."""
    plan: Callable[..., Result[Rebalance]] = registry.load(planner)

    def answered(asked: PreparedRebalance, last: bool) -> Result[Rebalance]:
        limit_s = command.left_s * PLANNED * (1.0 if last else EACH)
        return plan(asked.problem, RebalanceSearch(options.seed, limit_s, options.iterations, explain=last))

    if options.tolerance != "auto" or not prepared.problem.added.any():
        return prepared, None, answered(prepared, last=True)
    for fill in LADDER:
        filled = prepared.filled(fill)
        result = answered(filled, last=fill == LADDER[-1])
        if result.answer is not None:
            break
    return filled, fill, result


def _summary(prepared: PreparedRebalance, options: RebalanceOptions, answer: Rebalance | None) -> dict[str, Any]:
    """Return what follows from question and moves, and what planners know besides."""
    known = summary(prepared, options, answer)
    if options.suggest:
        known["suggestion"] = suggestion(prepared, options)
    if answer is not None:
        known["front"] = [point._asdict() for point in front(prepared.problem, answer)]
    if answer is not None and answer.assisted is not None:
        known["assisted"] = dict(zip(("preferred", "not_preferred"), answer.assisted, strict=True))
    return known


def _nothing_to_do(answer: Rebalance | None, options: RebalanceOptions) -> str | None:
    """Say why nothing moves, with the limit that is kept as it is."""
    if answer is None or answer.moves or answer.new_copies:
        return None
    even = "" if options.tolerance in ("auto", "none") else f", and load is within {options.tolerance:g} of even"
    return f"no change: no node is above {options.overload:g} of its capacity{even}"
