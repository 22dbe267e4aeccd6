"""Why a task has an active replica, or none, and what stands on a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.api.answers import Explanation
from ftplan.api.replication_asked import asked_of, nodes_by_task
from ftplan.api.replication_figures import value
from ftplan.api.replication_problem import Prepared
from ftplan.errors import FtplanError
from ftplan.metrics.mc_trees import count_mc_trees, trees_through
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

#: Other choices that are scored, the most promising first.
SCORED = 40
#: More trees than this are given in powers of ten.
_MANY = 10**9


@dataclass(frozen=True, eq=False)
class _Chosen:
    """A plan as a question, with its replicas and what they are worth."""

    prepared: Prepared
    node: dict[int, str | None]
    worth: float
    budget: float | None  # None where the plan states none

    def name(self, task: int) -> str:
        return "{}/{}".format(*self.prepared.graph.name(task))

    def value(self, node: dict[int, str | None]) -> float:
        return value(self.prepared, self.prepared.measured, node)


def explain_replication(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain a task (``task:OP/I``) or what stands on a node (``node:ID``).

    A task: what the metric loses without its replica, or gains with one, how many MC-trees of live tasks contain it,
    and every other candidate for its place with what the plan would be worth then. Cost: :data:`SCORED` evaluations.

    Raises
    ------
    FtplanError
        If the selector is of another kind or names what is not there.
    """
    prepared = asked_of(plan, problem)
    node = nodes_by_task(plan, prepared.graph)
    limited = any(plan.options.get(name) is not None for name in ("budget", "budget_cpu", "budget_mb"))
    chosen = _Chosen(
        prepared, node, value(prepared, prepared.measured, node), prepared.problem.budget if limited else None
    )
    if what.kind == "task":
        return _task(what, chosen)
    if what.kind == "node":
        return _node(what, problem, chosen)
    raise FtplanError(f"{what}: a task replication explains task:OPERATOR/INDEX and node:ID")


def _task(what: Selector, chosen: _Chosen) -> Explanation:
    task = chosen.prepared.graph.number(what.name, int(what.index or 0))
    if not chosen.prepared.problem.fails[task]:
        raise FtplanError(f"{what}: does not fail in any case that the plan is for, so that a replica is of no use")
    has = task in chosen.node
    other = {k: v for k, v in chosen.node.items() if k != task} if has else {**chosen.node, task: None}
    reached = chosen.value(other)
    metric = chosen.prepared.problem.metric
    notes = []
    if has:
        place = "" if chosen.node[task] is None else f" on {chosen.node[task]}"
        drop = chosen.worth - reached
        notes.append(f"has a replica{place}: without it {metric} falls by {drop:.6g}, from {chosen.worth:.6g}")
    else:
        gain = reached - chosen.worth
        notes.append(f"has no replica: with one {metric} would grow by {gain:.6g}, from {chosen.worth:.6g}")
        notes += _cost(task, chosen)
    notes.append(_trees(task, chosen))
    rows = _instead(task, chosen) if has else _in_place_of(task, chosen)
    notes += _verdict(rows, chosen, has)
    title = "what could stand in its place" if has else "what it could stand in place of"
    columns = ("task", metric, "change", "ruled out by")
    return Explanation(str(what), f"{what}: {title}", columns, tuple(rows), tuple(notes), chosen.prepared.warnings)


def _cost(task: int, chosen: _Chosen) -> list[str]:
    problem = chosen.prepared.problem
    if chosen.budget is None:
        return []
    spent = float(problem.weight[list(chosen.node)].sum())
    left = chosen.budget - spent
    fits = "fits" if problem.fits(spent + float(problem.weight[task])) else "does not fit"
    return [f"it takes {float(problem.weight[task]):.6g} of the budget and {fits} into the {left:.6g} that are left"]


def _trees(task: int, chosen: _Chosen) -> str:
    """Say how many MC-trees contain the task, in the heaviest case in which it fails."""
    prepared = chosen.prepared
    cases = [(case, k) for k, case in enumerate(prepared.problem.cases) if case.failed[task]]
    case, place = max(cases, key=lambda item: (item[0].weight, -item[1]))
    replicated = np.zeros(prepared.graph.tasks, dtype=np.bool_)
    replicated[list(chosen.node)] = True
    live = prepared.live(replicated, [chosen.node.get(t) for t in range(prepared.graph.tasks)])[place]
    through, whole = trees_through(prepared.graph, live, task), count_mc_trees(prepared.graph, live)
    if task in chosen.node:
        return f"in case {case.id} it completes {_count(through)} of {_count(whole)} live MC-trees"
    return f"in case {case.id} a replica would complete {_count(through)} MC-trees beside {_count(whole)} live ones"


def _count(trees: int) -> str:
    return f"{trees:,}" if trees < _MANY else f"about 10^{len(str(trees)) - 1}"


def _instead(task: int, chosen: _Chosen) -> list[dict[str, Any]]:
    """Return the plan's worth with another task's replica in the place of this one, the best first."""
    problem = chosen.prepared.problem
    rest = {k: v for k, v in chosen.node.items() if k != task}
    open_to = np.flatnonzero(problem.fails)
    slope = _slopes(chosen, rest)
    order = open_to[np.lexsort((open_to, -np.round(slope[open_to], 12)))].tolist()
    others = [other for other in order if other not in chosen.node][:SCORED]
    return _sorted([_row(other, {**rest, other: None}, chosen) for other in others])


def _in_place_of(task: int, chosen: _Chosen) -> list[dict[str, Any]]:
    """Return the plan's worth with this task's replica in the place of another one's, the best first."""
    losses = chosen.prepared.losses(_mask(chosen, chosen.node))
    order = sorted(chosen.node, key=lambda other: (round(float(losses[other]), 12), other))[:SCORED]
    rows = []
    for other in order:
        swapped = {k: v for k, v in chosen.node.items() if k != other}
        rows.append(_row(other, {**swapped, task: None}, chosen))
    return _sorted(rows)


def _row(other: int, node: dict[int, str | None], chosen: _Chosen) -> dict[str, Any]:
    problem = chosen.prepared.problem
    reached = chosen.value(node)
    cost = float(problem.weight[list(node)].sum())
    over = chosen.budget is not None and not problem.fits(cost)
    ruled_out = None
    if over:
        ruled_out = f"OVER_BUDGET: {cost:.6g} of {problem.budget:.6g}"
    elif reached <= chosen.worth + 1e-12:
        ruled_out = "worth no more" if abs(reached - chosen.worth) <= 1e-12 else "worth less"
    return {
        "task": chosen.name(other),
        problem.metric: reached,
        "change": reached - chosen.worth,
        "ruled out by": ruled_out,
    }


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: -round(row["change"], 12))


def _verdict(rows: list[dict[str, Any]], chosen: _Chosen, has: bool) -> list[str]:
    """Say which other choice comes nearest, or that one is better."""
    better = [row for row in rows if row["ruled out by"] is None]
    if better:
        which = f"{better[0]['task']} in its place" if has else f"it in place of {better[0]['task']}"
        return [f"{which} breaks no rule and would be worth {better[0]['change']:.6g} more"]
    if not rows:
        return []
    change = rows[0]["change"]
    worth = f"{abs(change):.6g} {'less' if change < 0.0 else 'more'}" if abs(change) > 1e-12 else "as much"
    if has:
        return [f"displaced: {rows[0]['task']}, which in its place would be worth {worth}"]
    return [f"displaced by {rows[0]['task']}: in its place it would be worth {worth}"]


def _slopes(chosen: _Chosen, node: dict[int, str | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
    prepared = chosen.prepared
    total = np.zeros(prepared.graph.tasks)
    for case, live in zip(prepared.problem.cases, prepared.live(_mask(chosen, node)), strict=True):
        slope = prepared.measured.slope(live, prepared.measured.intact(live))
        total += case.weight * np.where(case.failed, slope, 0.0)
    return total


def _mask(chosen: _Chosen, node: dict[int, str | None]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    replicated = np.zeros(chosen.prepared.graph.tasks, dtype=np.bool_)
    replicated[list(node)] = True
    return replicated


def _node(what: Selector, problem: Problem, chosen: _Chosen) -> Explanation:
    if problem.cluster is None:
        raise FtplanError(f"{what}: there is no cluster: give --cluster")
    node = problem.cluster.node(what.name)
    prepared = chosen.prepared
    losses = prepared.losses(_mask(chosen, chosen.node))
    rows = [
        {
            "replica of": chosen.name(task),
            "primary": prepared.primary[task],
            "cores": float(prepared.cpu[task]),
            "state, MB": float(prepared.memory_mb[task]),
            "worth": float(losses[task]),
        }
        for task in sorted(chosen.node)
        if chosen.node[task] == node.id
    ]
    homes = [task for task, home in enumerate(prepared.primary) if home == node.id]
    cores = float(prepared.cpu[homes].sum())
    note = f"{len(homes)} primaries take {cores:.6g} cores here, other work {node.used_cpu:.6g}, of {node.cpu:.6g}"
    columns = ("replica of", "primary", "cores", "state, MB", "worth")
    return Explanation(str(what), f"{what}: the replicas that stand here", columns, tuple(rows), (note,), ())
