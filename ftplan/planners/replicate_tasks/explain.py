"""Why a task has an active replica, or none, and what stands on a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.replicate_tasks.candidates import COLUMNS, Rooms
from ftplan.planners.replicate_tasks.from_plan import nodes_by_task, options_of, question_of
from ftplan.planners.replicate_tasks.mc_trees import count_mc_trees, trees_through
from ftplan.planners.replicate_tasks.metrics import PRIORITY_TIME
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask, ReplicationProblem

if TYPE_CHECKING:
    from ftplan.planners.replicate_tasks.then_recover import FollowingRecovery

#: Other choices that are scored, the most promising first; fewer where each is a recovery to plan.
SCORED, RECOVERED = 40, 10
#: More trees than this are given in powers of ten.
_MANY = 10**9


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The replicas of a plan, what they are worth, and what stands against others."""

    plan: Plan
    prepared: PreparedReplication
    node: dict[int, str | None]
    rooms: Rooms | None  # None without a cluster
    recovery: FollowingRecovery | None  # what replicas of --then-recover are worth

    @property
    def problem(self) -> ReplicationProblem:
        return self.prepared.problem

    @cached_property
    def value(self) -> float:
        return self.worth(self.node)

    def worth(self, node: NodeByTask) -> float:
        """Return the metric of some replicas, with the sign by which more is better."""
        return self.problem.value_on(node) if self.recovery is None else -self.recovery.expected(node)

    @property
    def metric(self) -> str:
        return self.problem.metric if self.recovery is None else PRIORITY_TIME

    @property
    def gain(self) -> str:
        """What a better value is called in a table."""
        return "change" if self.recovery is None else "saved"

    @property
    def scored(self) -> int:
        return SCORED if self.recovery is None else RECOVERED

    def changed(self, by: float, word: str) -> str:
        """Say that the metric gets better or worse, and from what."""
        text = f"{self.metric} {word} by {by:.6g}, from {abs(self.value):.6g}"
        return text if self.recovery is None else f"{text}, in the recoveries that follow"

    @property
    def limited(self) -> bool:
        """Whether the plan states a budget."""
        return any(self.plan.options.get(name) is not None for name in ("budget", "budget_cpu", "budget_mb"))

    def name(self, task: int) -> str:
        return "{}/{}".format(*self.prepared.graph.name(task))

    def with_one(self, task: int, without: int | None = None) -> tuple[dict[int, str | None], bool]:
        """Return the replicas with one of a task, and without that of another; and whether a node has room for it.

        It stands where it would be put, without a node where there is no room or no cluster.
        """
        rest = {k: v for k, v in self.node.items() if k != without}
        place = None if self.rooms is None else self.rooms.best(task, without)
        return {**rest, task: place}, self.rooms is None or place is not None

    def fits(self, task: int) -> bool:
        """Return whether one more replica is within the budget."""
        return not self.limited or self.problem.fits(float(self.problem.weight[[*self.node, task]].sum()))


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain a task (``task:OP/I``) or what stands on a node (``node:ID``).

    With --then-recover the metric is priority x seconds down, and recoveries are planned anew for each choice.

    A task: what the metric loses without its replica, or gains with one and what stands against that, how many
    MC-trees of live tasks contain it, every other candidate for its place with what the plan would be worth then, and
    every node with the rule that rules it out. Cost: :data:`SCORED` evaluations and looks at all nodes.

    Raises :class:`FtplanError` if the selector is of another kind or names what is not there.
    """
    prepared = question_of(plan, problem)
    node = nodes_by_task(plan, prepared.graph)
    rooms = None
    if problem.cluster is not None:
        rooms = Rooms.of(prepared, problem.cluster, node, TaskReplicationOptions.of_plan(plan).max_cpu, plan.rules)
    recovery = None
    if TaskReplicationOptions.of_plan(plan).then_recover:
        from ftplan.planners.replicate_tasks.then_recover import FollowingRecovery

        recovery = FollowingRecovery.of(prepared, problem, options_of(plan))
    chosen = _Chosen(plan, prepared, node, rooms, recovery)
    parts = {
        "task": lambda: _task(what, chosen),
        "node": lambda: _node(what, problem, chosen),
    }
    return explained(what, "a task replication", parts)


def _task(what: Selector, chosen: _Chosen) -> Explanation:
    task = chosen.prepared.graph.number(what.name, int(what.index or 0))
    if not chosen.problem.fails[task]:
        raise FtplanError(f"{what}: does not fail in any case that the plan is for, so that a replica is of no use")
    nodes = () if chosen.rooms is None else tuple(chosen.rooms.rows(task))
    if task in chosen.node:
        title, rows, notes = _with_replica(task, chosen)
    else:
        title, rows, notes = _without_replica(task, chosen, nodes)
    columns, named = ("task", chosen.metric, chosen.gain, "ruled out by"), COLUMNS if nodes else ()
    warnings = chosen.prepared.warnings
    return Explanation(str(what), f"{what}: {title}", columns, tuple(rows), tuple(notes), warnings, named, nodes)


def _with_replica(task: int, chosen: _Chosen) -> tuple[str, list[dict[str, Any]], list[str]]:
    """Return title, exchanges and notes of a task that has a replica."""
    rows = _instead(task, chosen)
    drop = chosen.value - chosen.worth({k: v for k, v in chosen.node.items() if k != task})
    place = "" if chosen.node[task] is None else f" on {chosen.node[task]}"
    note = f"has a replica{place}: without it {chosen.changed(drop, 'falls' if chosen.recovery is None else 'rises')}"
    return "what could stand in its place", rows, [note, *_trees(task, chosen), *_displaced(rows, chosen)]


def _without_replica(
    task: int, chosen: _Chosen, nodes: Sequence[Mapping[str, Any]]
) -> tuple[str, list[dict[str, Any]], list[str]]:
    """Return title, exchanges and notes of a task that has none."""
    rows = _in_place_of(task, chosen)
    node, room = chosen.with_one(task)
    gain = chosen.worth(node) - chosen.value
    word = "would grow" if chosen.recovery is None else "would fall"
    notes = [f"has no replica: with one {chosen.changed(gain, word)}"]
    if chosen.limited:
        weight = chosen.problem.weight
        takes, left = float(weight[task]), chosen.problem.budget - float(weight[list(chosen.node)].sum())
        fits = "fits" if chosen.fits(task) else f"does not fit, by {takes - left:.6g},"
        notes.append(f"it takes {takes:.6g} of the budget and {fits} into the {left:.6g} that are left")
    notes += [*_room(nodes), *_trees(task, chosen), _against(task, gain, room, rows, chosen)]
    return "what it could stand in place of", rows, notes


def _room(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how many nodes could take one more replica, or what is nearest to it."""
    if not nodes:
        return []
    free = [row["node"] for row in nodes if row["ruled out by"] is None]
    if free:
        more = f" and {len(free) - 1:,} more" if len(free) > 1 else ""
        return [f"{free[0]}{more} could take it"]
    full = [row for row in nodes if "missing" in row["ruled out by"]]
    if not full:
        return ["no node could take it, whatever its room"]
    return [f"no node could take it: {full[0]['node']}, which has most room, {full[0]['ruled out by']}"]


def _against(task: int, gain: float, room: bool, rows: list[dict[str, Any]], chosen: _Chosen) -> str:
    """Say in one line why a task has no replica; with the exchange that comes nearest where budget or room decide."""
    better = [row for row in rows if row["ruled out by"] is None]
    if better:
        which = f"it in place of {better[0]['task']}"
        return f"{which} breaks no rule and would be worth {better[0][chosen.gain]:.6g} more"
    if gain <= NOISE:
        return "it has none because alone it would gain nothing"
    fits = chosen.fits(task)
    if fits and room:
        most = chosen.plan.options.get("max_changes")
        why = f"{chosen.plan.algorithm} did not find it" if most is None else f"--max-changes {most} stands against it"
        return f"budget and room allow it: {why}"
    reasons = [text for holds, text in ((fits, "the budget"), (room, "want of room")) if not holds]
    text = f"it has none because of {' and '.join(reasons)}"
    possible = [row for row in rows if not _impossible(row)]
    if not possible:
        return text
    return f"{text}; in place of {possible[0]['task']} it would be worth {_change(possible[0][chosen.gain])}"


def _impossible(row: Mapping[str, Any]) -> bool:
    return str(row["ruled out by"]).startswith(("OVER_BUDGET", "OVER_CAPACITY"))


def _change(change: float) -> str:
    return f"{abs(change):.6g} {'less' if change < 0.0 else 'more'}" if abs(change) > NOISE else "as much"


def _trees(task: int, chosen: _Chosen) -> list[str]:
    """Say how many MC-trees contain the task, in the heaviest case in which it fails; not with --then-recover."""
    if chosen.recovery is not None:
        return []
    problem = chosen.problem
    cases = [(case, k) for k, case in enumerate(problem.cases) if case.failed[task]]
    case, place = max(cases, key=lambda item: (item[0].weight, -item[1]))
    live = problem.live(problem.mask(chosen.node), chosen.node)[place]
    through, whole = trees_through(problem.graph, live, task), count_mc_trees(problem.graph, live)
    if task in chosen.node:
        return [f"in case {case.id} it completes {_count(through)} of {_count(whole)} live MC-trees"]
    return [f"in case {case.id} a replica would complete {_count(through)} MC-trees beside {_count(whole)} live ones"]


def _count(trees: int) -> str:
    return f"{trees:,}" if trees < _MANY else f"about 10^{len(str(trees)) - 1}"


def _instead(task: int, chosen: _Chosen) -> list[dict[str, Any]]:
    """Return the plan's value with another task's replica in the place of this one, the best first."""
    slope = _slopes(chosen.problem, {k: v for k, v in chosen.node.items() if k != task})
    open_to = np.flatnonzero(chosen.problem.fails)
    order = open_to[np.lexsort((open_to, -np.round(slope[open_to], 12)))].tolist()
    others = [other for other in order if other not in chosen.node][: chosen.scored]
    return _sorted([_row(other, other, *chosen.with_one(other, task), chosen) for other in others], chosen)


def _in_place_of(task: int, chosen: _Chosen) -> list[dict[str, Any]]:
    """Return the plan's value with this task's replica in the place of another one's, the best first."""
    losses = chosen.problem.losses(chosen.problem.mask(chosen.node))
    order = sorted(chosen.node, key=lambda other: (round(float(losses[other]), 12), other))[: chosen.scored]
    return _sorted([_row(other, task, *chosen.with_one(task, other), chosen) for other in order], chosen)


def _row(other: int, enters: int, node: dict[int, str | None], room: bool, chosen: _Chosen) -> dict[str, Any]:
    """Return the exchange with another task: what it is worth, and what rules it out, budget and room first."""
    problem = chosen.problem
    reached = chosen.worth(node)
    change = reached - chosen.value
    cost = float(problem.weight[list(node)].sum())
    ruled_out = None
    if chosen.limited and not problem.fits(cost):
        ruled_out = f"OVER_BUDGET: {cost:.6g} of {problem.budget:.6g}"
    elif not room:
        ruled_out = f"OVER_CAPACITY: no node could take a replica of {chosen.name(enters)}"
    elif reached <= chosen.value + NOISE:
        ruled_out = "worth no more" if abs(change) <= NOISE else "worth less"
    return {
        "task": chosen.name(other),
        chosen.metric: reached if chosen.recovery is None else -reached,
        chosen.gain: change,
        "ruled out by": ruled_out,
    }


def _sorted(rows: list[dict[str, Any]], chosen: _Chosen) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: -round(row[chosen.gain], 12))


def _displaced(rows: list[dict[str, Any]], chosen: _Chosen) -> list[str]:
    """Say which other choice comes nearest of those that budget and room allow, or that one is better."""
    better = [row for row in rows if row["ruled out by"] is None]
    if better:
        text = f"{better[0]['task']} in its place breaks no rule and would be worth {better[0][chosen.gain]:.6g} more"
        return [text]
    possible = [row for row in rows if not _impossible(row)]
    if not possible:
        return ["no other task could stand in its place, by budget and room"] if rows else []
    return [f"displaced: {possible[0]['task']}, which in its place would be worth {_change(possible[0][chosen.gain])}"]


def _slopes(problem: ReplicationProblem, node: NodeByTask) -> FloatArray:
    """Return by how much the value grows with what is intact of each failing task, shape (tasks,)."""
    total = np.zeros(problem.tasks)
    for case, live in zip(problem.cases, problem.live(problem.mask(node)), strict=True):
        slope = problem.model.by_task(problem.model.slope(live, problem.model.intact(live)), problem.tasks)
        total += case.weight * np.where(case.failed, slope, 0.0)
    return total


def _node(what: Selector, problem: Problem, chosen: _Chosen) -> Explanation:
    if problem.cluster is None:
        raise FtplanError(f"{what}: there is no cluster: give --cluster")
    node = problem.cluster.node(what.name)
    prepared, losses = chosen.prepared, chosen.problem.losses(chosen.problem.mask(chosen.node))
    if chosen.recovery is not None:
        for task in chosen.node:
            losses[task] = chosen.value - chosen.worth({k: v for k, v in chosen.node.items() if k != task})
    rows = [
        {
            "replica of": chosen.name(task),
            "primary": prepared.primary[task],
            "cores": float(prepared.cpu[task]),
            "state, MiB": float(prepared.memory_mb[task]),
            "worth": float(losses[task]),
        }
        for task in sorted(chosen.node)
        if chosen.node[task] == node.id
    ]
    homes = [task for task, home in enumerate(prepared.primary) if home == node.id]
    cores = float(prepared.cpu[homes].sum())
    note = f"{len(homes)} primaries take {cores:.6g} cores here, other work {node.used_cpu:.6g}, of {node.cpu:.6g}"
    columns = ("replica of", "primary", "cores", "state, MiB", "worth")
    return Explanation(str(what), f"{what}: the replicas that stand here", columns, tuple(rows), (note,), ())
