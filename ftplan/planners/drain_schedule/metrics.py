"""What rounds of restarts do to a job while they last, and the schedules of tools that know no rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.drain_schedule.problem import DrainProblem
from ftplan.planners.drain_schedule.rules import ROOM, broken, down, duration_s, touched

Rounds = Sequence[Sequence[int]]


class RoundEffect(NamedTuple):
    """While a round lasts: how long that is, the output tasks whose queries are down, and output fidelity."""

    duration_s: float
    queries: IntArray
    fidelity: float


def effect(problem: DrainProblem, nodes: Iterable[int], failed: BoolArray | None = None) -> RoundEffect:
    """Return what nodes that restart together do, by number; *failed*, (T,), are the tasks that are down meanwhile.

    Without *failed* these are the tasks of the nodes. Cost O(tasks + substreams).
    """
    mask = problem.mask(nodes)
    failed = down(problem, mask) if failed is None else failed
    length = duration_s(problem, mask)
    if not failed.any():
        return RoundEffect(length, np.zeros(0, dtype=np.int64), 1.0)
    queries = np.flatnonzero(touched(problem, failed) & problem.graph.output)
    return RoundEffect(length, queries, problem.model.fidelity(~failed))


def figures(problem: DrainProblem, rounds: Rounds, effects: Iterable[RoundEffect]) -> dict[str, Any]:
    """Return the figures of a schedule of rounds, with their effects.

    ``lost_output_s`` is the loss of output fidelity over time: seconds of full output that are lost. What is at its
    worst in some round is given as such.
    """
    each = list(effects)
    return {
        "rounds": len(rounds),
        "nodes": sum(len(nodes) for nodes in rounds),
        "nodes_at_once": max((len(nodes) for nodes in rounds), default=0),
        "duration_s": float(sum(item.duration_s for item in each)),
        "lowest_fidelity": min((item.fidelity for item in each), default=1.0),
        "lost_output_s": float(sum(item.duration_s * (1.0 - item.fidelity) for item in each)),
        "queries_down": max((len(item.queries) for item in each), default=0),
        "priority_down": max((float(problem.priority[item.queries].sum()) for item in each), default=0.0),
    }


def one_by_one(problem: DrainProblem) -> Rounds:
    """Return a round for each chosen node: Kubernetes operators such as Strimzi's."""
    return [[node] for node in problem.to_restart]


def zone_by_zone(problem: DrainProblem) -> Rounds:
    """Return a round for each zone, with all its chosen nodes: rack by rack, such as cass-operator's."""
    by_zone: dict[int, list[int]] = {}
    for node in problem.to_restart:
        by_zone.setdefault(int(problem.zone[node]), []).append(node)
    return [by_zone[zone] for zone in sorted(by_zone)]


def peers(problem: DrainProblem) -> dict[str, Any]:
    """Return the figures of restarts one by one and zone by zone, and the rules that they break.

    Whether tasks that move find room is not looked at.
    """
    compared = {}
    for name, rounds in (("one_by_one", one_by_one(problem)), ("zone_by_zone", zone_by_zone(problem))):
        breaches = {breach.rule for nodes in rounds for breach in broken(problem, nodes) if breach.rule != ROOM}
        compared[name] = {
            **figures(problem, rounds, (effect(problem, nodes) for nodes in rounds)),
            "breaks": sorted(breaches),
        }
    return compared
