"""The optimum of a small topology: every union of MC-trees that fits ([SuZhou2016], algorithm 1)."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.replica_placement import in_place
from ftplan.planners.replicate_tasks.algorithms.search.enumeration import best_of
from ftplan.planners.replicate_tasks.mc_trees import Choices, listed
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Different MC-trees, as far as they fail, that are planned.
TREES = 2_000
#: Plans held at once.
PLANS = 200_000
#: Steps of all assignments of replicas to nodes.
STEPS = 200_000
#: Fidelities that differ by less are equal.
EQUAL = 1e-12
WAY_OUT = "use exact, or structure-aware for a good plan without the proof"


def dynamic_programming(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose replicas of the largest expected fidelity, proven by going through all unions of MC-trees that fit.

    A plan is a set of tasks; each MC-tree in turn extends all plans so far. In each failure case a tree needs replicas
    of its failed tasks only. Of plans of equal fidelity the one of least cost is taken, then of fewest and of first
    tasks, so that no cheaper plan is as good (theorem 1).

    Cost: at most 2^M plans for M different trees. Guarantee: optimal.

    References: [SuZhou2016], section IV-A, algorithm 1.

    Raises :class:`FtplanError` if there are more than :data:`TREES` trees or :data:`PLANS` plans, if it takes more than
    :data:`STEPS` steps to assign replicas to nodes, or if the time limit is reached.
    """
    # Departures from the listing. It raises the usage one replica at a time and looks for trees that cost exactly the
    # rest: here plans grow tree by tree, so that costs need not be whole numbers. It changes the set that it walks:
    # here a snapshot is walked. It removes plans that can grow no more before it picks the best one, and so returns
    # nothing where the budget exceeds all tasks: here every plan stays. Trees over substreams that weigh nothing are
    # left out, since theorem 1 would not hold with them. A plan that another tree still fits into is never the best.
    budget = Budget.of(options)
    try:
        items = _items(problem, budget)
        plans = _plans(problem, items, budget)
        if problem.hosts is not None or problem.max_changes is not None:
            return _on_nodes(problem, plans, budget)
        whole = [plan for plan in plans if not _extends(items, plan, plans, budget)]
        values = _values(problem, whole, budget)
    except OutOfTime:
        text = f"dynamic-programming stops after {options.time_limit_s:g} s for {problem.graph.tasks} tasks: {WAY_OUT}"
        raise FtplanError(text) from None
    tied = [whole[k] for k in np.flatnonzero(values >= values.max() - EQUAL).tolist()]
    best = min(tied, key=lambda plan: (plans[plan], plan.bit_count(), _tasks(plan)))
    replicated = problem.mask(_tasks(best))
    return Result("optimal", Replication(replicated), ("budget",), bound=problem.value(replicated))


def _on_nodes(problem: ReplicationProblem, plans: dict[int, float], budget: Budget) -> Result[Replication]:
    """Return the plan of most value on its nodes, where some may not find room for all replicas.

    Where changes are limited, each plan may also keep what is in place.
    """
    sets = [problem.mask(_tasks(plan)) for plan in plans]
    if problem.max_changes is not None:
        kept = in_place(problem).replicated
        sets += [together for some in sets if problem.fits(problem.cost(together := some | kept))]
    node, complete = best_of(problem, sets, STEPS, budget)
    if not complete:
        raise FtplanError(f"dynamic-programming goes through {STEPS:,} assignments to nodes, there are more: {WAY_OUT}")
    bound = None if problem.max_changes is not None else problem.value_at(node)
    return Result("feasible" if bound is None else "optimal", Replication.on(problem, node), ("budget",), bound=bound)


def _items(problem: ReplicationProblem, budget: Budget) -> list[int]:
    """Return what each tree needs replicas of in each case, as bit masks, each once, smallest first."""
    model = problem.model
    choices = _choices(model)
    roots = model.outputs[model.weight > 0.0].tolist()
    masks: dict[int, None] = {}
    failing = [sum(1 << t for t in np.flatnonzero(case.failed).tolist()) for case in problem.cases if case.weight > 0.0]
    for count, tree in enumerate(listed(roots, choices)):
        budget.check()
        mask = sum(1 << t for t in tree)
        masks.update(dict.fromkeys(mask & failed for failed in failing))
        if count >= 10 * TREES or len(masks) > TREES:
            raise FtplanError(f"dynamic-programming plans up to {TREES:,} MC-trees, there are more: {WAY_OUT}")
    return sorted((mask for mask in masks if mask), key=lambda mask: (mask.bit_count(), _tasks(mask)))


def _plans(problem: ReplicationProblem, items: list[int], budget: Budget) -> dict[int, float]:
    """Return the cost of every union of trees that fits."""
    plans = {0: 0.0}
    weight = problem.weight.tolist()
    for done, item in enumerate(items):
        for plan, cost in list(plans.items()):
            budget.check()
            union = plan | item
            total = cost + sum(weight[t] for t in _tasks(item & ~plan))
            if union not in plans and problem.fits(total):
                plans[union] = total
        if len(plans) > PLANS:
            raise FtplanError(
                f"dynamic-programming holds up to {PLANS:,} plans for {problem.graph.tasks} tasks: {len(plans):,} "
                f"after {done + 1} of {len(items)} MC-trees: {WAY_OUT}"
            )
    return plans


def _extends(items: list[int], plan: int, plans: dict[int, float], budget: Budget) -> bool:
    """Return whether another tree fits beside a plan."""
    budget.check()
    return any(item & ~plan and plan | item in plans for item in items)


def _values(problem: ReplicationProblem, plans: list[int], budget: Budget) -> FloatArray:
    """Return the expected fidelity of each plan."""
    values = np.empty(len(plans))
    for k, plan in enumerate(plans):
        budget.check()
        values[k] = problem.value(problem.mask(_tasks(plan)))
    return values


def _tasks(plan: int) -> tuple[int, ...]:
    """Return the tasks of a bit mask, ascending."""
    tasks = []
    while plan:
        low = plan & -plan
        tasks.append(low.bit_length() - 1)
        plan ^= low
    return tuple(tasks)


def _choices(model: FidelityModel) -> Choices:
    """Return the senders of each slot of each task that weigh something."""
    slots: dict[int, list[list[int]]] = defaultdict(list)
    for level in model.levels:
        senders: list[list[int]] = [[] for _ in range(level.slots)]
        for sender, slot in zip(*(a[level.weight > 0.0].tolist() for a in (level.sender, level.slot)), strict=True):
            senders[slot].append(sender)
        for gathering, slot in zip(level.spread.tolist(), level.spread_slot.tolist(), strict=True):
            senders[slot] += level.gathered[(level.gathering == gathering) & (level.gather_weight > 0.0)].tolist()
        ends = [*level.first[1:].tolist(), level.slots]
        for task, first, end in zip(level.task.tolist(), level.first.tolist(), ends, strict=True):
            slots[task] = [sorted(set(some)) for some in itertools.islice(senders, first, end)]
    return lambda task: slots.get(task, [])
