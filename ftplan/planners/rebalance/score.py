"""What a rebalance is worth on other statistics, and where nodes fail while or after it is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Failure
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.topology import BoolArray
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.from_plan import numbered, question_of
from ftplan.planners.rebalance.metrics import figures, payback
from ftplan.planners.rebalance.migration_costs import CPA, FETCH, RECOVER
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.rules import copies_after
from ftplan.planners.scenarios import with_scenario_fails

#: Protocols that take nothing from the old node.
_WITHOUT_OLD = frozenset({CPA, RECOVER, FETCH})


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Return the metrics of a rebalance, with the capacity that it was made for unless another is asked for.

    A node that fails is down before the moves begin and stays down.

    Raises FtplanError if an input is missing, or the plan names what the problem does not have.
    """
    own = RebalanceOptions.of_plan(plan)
    instead: dict[str, Any] = {}
    if asked.load is not None and asked.load != own.load:
        instead = {"load": asked.load, "capacity_per_core": None}  # the plan's capacity is in another unit
    given = (("capacity_per_core", asked.capacity_per_core), ("overload", asked.overload))
    instead.update({name: value for name, value in given if value is not None})
    prepared = question_of(plan, problem, **instead)
    question, series = prepared.problem, prepared.series
    answer = numbered(plan, question)
    failure = with_scenario_fails(problem).failure or Failure()
    failures = [entry.select for entry in failure.fail] + [parse_selector(text) for text in asked.fail]
    for selector in failures:
        check_selector(selector, prepared.topology, prepared.cluster, [a.node for a in failure.arrivals])
    worth = figures(question, answer, series.loads, series.window_s)
    return Scores(
        {
            **_named(worth),
            "payback-s": payback(question, answer, series.loads, series.window_s)["payback_s"],
            **_under(question, answer, _down(prepared.cluster, failures)),
        },
        tuple(dict.fromkeys(map(str, failures))),
        question.warnings,
    )


def _named(worth: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the figures that are metrics, by the names of these."""
    names = (
        "latency_s", "completion_s", "bytes", "moves", "assisted_share", "longest_pause_s", "duration_s", "phases",
        "highest_utilisation", "overloaded_nodes", "overload_share", "imbalance", "new_copies_bytes", "copies_lost",
    )  # fmt: skip
    return {name.replace("_", "-"): None if worth[name] is None else float(worth[name]) for name in names}


def _down(cluster: Cluster, failures: list[Selector]) -> BoolArray:
    """Return which nodes fail, (N,); tasks and operators that fail leave their nodes up."""
    gone = {node for selector in failures if selector.kind in ("node", "zone") for node in cluster.nodes_of(selector)}
    return np.array([node.id in gone for node in cluster.nodes], dtype=np.bool_)


def _under(problem: RebalanceProblem, answer: Rebalance, down: BoolArray) -> dict[str, float | None]:
    """Return what nodes that are down, (N,), do to the moves, and to key groups afterwards."""
    place, copies = places_after(problem, answer.moves), copies_after(problem, answer)
    hit = down[place]
    without = [not problem.remote and all(down[node] for node in nodes) for nodes in copies]
    return {
        "blocked-moves": float(sum(_blocked(problem, move, down) for move in answer.moves)),
        "groups-down": float(hit.sum()),
        "lost-groups": float((hit & np.array(without, dtype=np.bool_)).sum()),
    }


def _blocked(problem: RebalanceProblem, move: Migration, down: BoolArray) -> bool:
    """Return whether a move cannot be made: its target is down, or all that its state could come from."""
    if down[move.target]:
        return True
    if move.protocol == FETCH:
        return all(down[node] or problem.removed[node] for node in problem.copies[move.group])
    return move.protocol not in _WITHOUT_OLD and bool(down[problem.home[move.group]])
