"""What an operator should know of a failure before reading its recovery schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.plan import Assumption, Warn
from ftplan.model.rates import paces
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.problem import INCREMENTAL_FROM, RecoveryProblem, pauses_are_instant

#: An order that loses less than a random one by a smaller share than this gains nothing worth the name.
WORTH_SAYING = 0.01


def warnings_of(problem: RecoveryProblem, known_nodes: bool) -> tuple[Warn, ...]:
    """Return warnings on blocking recovery and unknown restore times.

    *known_nodes* tells whether a cluster says which nodes there are.
    """
    if not problem.failed.any():
        return ()
    warnings = _restores(problem)
    if known_nodes and problem.failed_nodes < INCREMENTAL_FROM:
        warnings.append(_blocking(problem))
    return tuple(warnings)


def gain_warnings(summary: Mapping[str, Any], objective: str) -> tuple[Warn, ...]:
    """Return what a plan's summary says of its order: that no order gains anything, or that blocking is better.

    The best order that is known is the plan's own only where its objective is priority x seconds down.
    """
    before, after, random = summary["before"], summary["after"], summary["random"]
    if after is None:
        return ()
    lost = after["priority_time"]
    blocking, expected = (None if figures is None else figures["priority_time"] for figures in (before, random))
    warnings = []
    several = summary["failed_queries"] > 1
    if several and blocking == 0.0:
        text = "there is room for everything at once and restores take no time: no order gains anything"
        warnings.append(Warn("ORDER_GAINS_NOTHING", text))
    elif several and objective == "priority-time" and expected is not None and _alike(lost, expected):
        text = (
            f"the order of recovery gains next to nothing: priority x time lost is {lost:.6g}, that of random orders "
            f"{expected:.6g} on average; {summary['shared_fraction']:.0%} of the failed cost is shared by all "
            f"{summary['failed_queries']:,} failed queries"
        )
        warnings.append(Warn("ORDER_GAINS_NOTHING", text))
    if blocking is not None and blocking < lost * (1.0 - ROUNDING):
        text = (
            f"blocking recovery would lose less, priority x time {blocking:.6g} against {lost:.6g}: what comes back "
            "early here queues on few nodes or crowds out better queries"
        )
        warnings.append(Warn("BLOCKING_LOSES_LESS", text))
    return tuple(warnings)


def _alike(lost: float, expected: float) -> bool:
    return abs(expected - lost) <= WORTH_SAYING * expected


def blocking_capacity_s(problem: RecoveryProblem) -> float | None:
    """Return when there is room for all failed tasks at once, None where there never is."""
    needed = float(problem.cost[problem.failed].sum())
    free = sum(host.room for host in problem.hosts[: problem.live_hosts])
    if problem.capacity is not None:
        free = min(free, problem.capacity)
    slack = ROUNDING * max(1.0, needed)
    if free + slack >= needed:
        return 0.0
    for arrival in problem.arrivals:
        free += problem.hosts[arrival.host].room
        if free + slack >= needed:
            return arrival.at_s
    return None


def bound_warnings(problem: RecoveryProblem, objective: str, proven: bool) -> list[Warn]:
    """Say what the bound of an objective over time knows and a plan does not, and what it does not know itself."""
    warnings = _clairvoyant(problem)
    if problem.may_pause and not pauses_are_instant(problem) and not proven:
        text = (
            "the bound takes what may give way as moved at no cost, at any time, where failures come later, tasks go "
            "back to a checkpoint or take time to start: it is weak, and the gap may be much smaller than it says"
        )
        warnings.append(Warn("WEAK_BOUND", text))
    if problem.rolls_back and not proven and (objective == "fidelity-time" or problem.may_pause):
        text = (
            "the bound does not know that failures send all tasks of a job that is not deterministic back to the last "
            "checkpoint; the gap may be much smaller than it says"
        )
        warnings.append(Warn("BOUND_WITHOUT_ROLLBACKS", text))
    return warnings


def _clairvoyant(problem: RecoveryProblem) -> list[Warn]:
    later = {event.at_s for event in problem.failures}
    if len(later) <= (0 if problem.failed.any() else 1):
        return []
    text = (
        "the bound is a clairvoyant's: it knows the failures stated for later, which no step of a plan foresees; the "
        "gap may be smaller than it says"
    )
    return [Warn("CLAIRVOYANT_BOUND", text)]


def _restores(problem: RecoveryProblem) -> list[Warn]:
    if problem.bandwidth_bytes_s is not None or problem.state_bytes is None:
        return []
    size = float(problem.state_bytes[problem.failed].sum())
    if size == 0.0:
        return []
    text = (
        f"the failed tasks hold {_bytes(size)} of state, but no bandwidth is known: restores count as taking no time; "
        "give --bandwidth, or network.bandwidth_mb_s in the cluster file"
    )
    return [Assumption("RESTORE_TIME_UNKNOWN", text, 0.0, of_time=True)]


def _blocking(problem: RecoveryProblem) -> Warn:
    when = blocking_capacity_s(problem)
    cost = float(problem.cost[problem.failed].sum())
    nodes = {0: "no node", 1: "1 node"}.get(problem.failed_nodes, f"{problem.failed_nodes} nodes")
    until = "never comes here" if when is None else (f"is there at {when:g} s" if when > 0.0 else "is there at once")
    text = (
        f"{nodes} failed, fewer than {INCREMENTAL_FROM}: Su & Zhou then block until there is room "
        f"for all that failed, {cost:g} cores in sum, which {until}; this plan recovers step by step all the same"
    )
    return Warn("BLOCKING_RECOVERY", text)


def _bytes(size: float) -> str:
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    power = min(int(np.log2(size) // 10) if size >= 1 else 0, len(units) - 1)
    return f"{size / 1024.0**power:.3g} {units[power]}"


def overloads(problem: RecoveryProblem, max_cpu: float) -> tuple[Warn, ...]:
    """Name the failed tasks that never catch up, with the cores that they need and have."""
    never = np.flatnonzero(problem.failed & problem.delays.never(problem.graph.tasks))
    if not len(never):
        return ()
    more = f" (and {len(never) - 1:,} more tasks)" if len(never) > 1 else ""
    text = f"{overload(problem, int(never[0]), max_cpu)}: it never catches up{more}, and no query that needs it returns"
    return (Warn("NEVER_CATCHES_UP", text),)


def overload(problem: RecoveryProblem, task: int, max_cpu: float) -> str:
    """Say what a task needs for its input, and what it has at its fastest pace."""
    usual, most = paces(problem.graph, problem.cost, 1.0 / max_cpu)
    name = "{}/{}".format(*problem.graph.name(task))
    return f"{name} needs {usual[task]:.4g} cores for its input, and has {most[task]:.4g} at its fastest pace"


def replay_doubts(
    recovery: GivenCosts, graph: TaskGraph, failed: BoolArray, options: RecoveryScheduleOptions
) -> tuple[Warn, ...]:
    """Say where replay counts for a part of the failed tasks only; *failed* has shape (tasks,)."""
    if recovery.costs is not None or not options.replay:
        return ()
    operators = [graph.topology.operators[i] for i in np.unique(graph.operator_of[failed]).tolist()]
    unknown = [operator.id for operator in operators if operator.checkpoint.interval_s is None]
    if not unknown or len(unknown) == len(operators):
        return ()
    named = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else "")
    text = (
        f"{named}: no checkpoint.interval_s, so that these tasks count as processing nothing again, and the others do "
        "not; state it for all operators, or give --no-replay"
    )
    return (Warn("REPLAY_UNKNOWN", text),)
