"""Why an operator gets so many tasks, where a key group goes, and what comes to a node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import over
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.scale_out.from_plan import figures_of, numbered, operator_numbers, question_of
from ftplan.planners.scale_out.metrics import ScaledFigures, why_so_many
from ftplan.planners.scale_out.parallelism import OperatorSizing
from ftplan.planners.scale_out.problem import OperatorScaling, as_it_runs, required_tasks, task_state, task_use

#: Parallelisms that an explanation lists, from the smallest that could do on.
MAX_LISTED = 24
_TASKS = ("task", "key groups", "node", "utilisation", "state, bytes")
_SIZES = ("parallelism", "busiest task", "fullest task, bytes", "chosen", "ruled out by")
_OF_NODE = ("operator", "tasks now", "tasks afterwards", "cores now", "cores afterwards", "state afterwards, bytes")


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain ``operator:ID``, ``key-group:OP/N`` or ``node:ID``.

    An operator: its state and why, its new tasks, and what other parallelisms would do. A
    key group: the task that it goes to. A node: the tasks that come to it and go.

    Raises FtplanError if the selector is of another kind or names what is not there.
    """
    prepared = question_of(plan, problem)
    scaling = numbered(plan, prepared.problem)
    figures = figures_of(plan, prepared, scaling)
    numbers = operator_numbers(prepared.problem)
    if what.kind in ("operator", "key-group") and what.name not in numbers:
        raise FtplanError(f"{what}: there is no such operator")
    parts = {
        "operator": lambda: _operator(what, figures, numbers[what.name]),
        "key-group": lambda: _key_group(what, figures, numbers[what.name]),
        "node": lambda: _node(what, figures),
    }
    return explained(what, "a scale-out", parts)


def _operator(what: Selector, figures: ScaledFigures, number: int) -> Explanation:
    problem, operator = figures.problem, figures.problem.operators[number]
    item = figures.scaling.by_operator.get(number)
    after = item or as_it_runs(problem, number)
    title = f"{what}: stays at {operator.parallelism} tasks"
    if item is not None:
        title = f"{what}: from {operator.parallelism} to {item.parallelism} tasks"
        technique = figures.pauses[number].technique
        title += f" by {technique}" if technique else ""
    use = task_use(operator, after.parallelism, after.ranges)
    state = task_state(operator, after.parallelism, after.ranges)
    rows = tuple(
        dict(
            zip(
                _TASKS,
                (
                    task,
                    "{}–{}".format(*after.ranges[task]) if after.ranges else None,
                    problem.nodes[after.nodes[task]] if after.nodes else None,
                    float(use[task]),
                    float(state[task]) if operator.keyed else None,
                ),
                strict=True,
            )
        )
        for task in range(after.parallelism)
    )
    notes = (*_state(figures, number), why_so_many(figures, number), *_splits(figures, number))
    sizes = tuple(_sizes(figures, number, after))
    return Explanation(str(what), title, _TASKS, rows, notes, (), _SIZES, sizes)


def _state(figures: ScaledFigures, number: int) -> Iterator[str]:
    """Say which state an operator is in and since when, and what its score follows from."""
    prepared, operator = figures.prepared, figures.problem.operators[number]
    at, line = prepared.thresholds, prepared.timelines[number]
    score = "unknown" if math.isnan(operator.score) else f"{operator.score:.4g}"
    since = f" since window {line.events[-1].window}" if line.events else " in all windows"
    yield (
        f"{operator.state}{since}: score {score} in the last window (scale-in below {at.scale_in:g}, prepared from "
        f"{at.alarming:g}, promoted above {at.promote:g})"
    )
    last = prepared.histories[number].inputs[-1]
    if not np.isnan(last).all():
        worst = last[int(np.nanargmax(np.nanmax(last, axis=1)))]
        known = zip(("cpu", "memory", "data"), worst.tolist(), strict=True)
        said = ", ".join(f"{name} {'unknown' if math.isnan(value) else f'{value:.3g} %'}" for name, value in known)
        yield f"its busiest task in the last window: {said}"
    late = sum(event.late for event in line.events)
    if late:
        yield f"late starts: {late}, where the score went past {at.promote:g} before a secondary was set up"
    yield f"it lets through or obstructs {operator.throughput_percentage:.1%} of all output (Stela)"


def _splits(figures: ScaledFigures, number: int) -> Iterator[str]:
    """Say what each technique would cost."""
    for cost in figures.options.get(number, ()):
        if cost.technique is None:
            yield f"no state: new tasks start beside the old ones, {cost.extra_core_s:.4g} core-s"
        elif cost.why_not is not None:
            yield f"{cost.technique}: {cost.why_not}"
        else:
            yield f"{cost.technique}: pause {cost.pause_s:.4g} s, {cost.extra_core_s:.4g} extra core-s"


def _sizes(figures: ScaledFigures, number: int, chosen: OperatorScaling) -> Iterator[dict[str, Any]]:
    """Yield what parallelisms would do with the best ranges of the plan's split, and what rules them out."""
    problem, operator = figures.problem, figures.problem.operators[number]
    target = problem.limits.target
    sizing = OperatorSizing(operator, problem.split, target)
    low = max(1, min(chosen.parallelism, required_tasks(operator, target)) - 2)
    for tasks in range(low, min(sizing.most, low + MAX_LISTED - 1) + 1):
        taken = tasks == chosen.parallelism
        ranges = chosen.ranges if taken else _ranges(sizing, tasks)
        busiest = float(task_use(operator, tasks, ranges).max())
        fullest = float(task_state(operator, tasks, ranges).max())
        limits = (("target", over(busiest, target)), ("task-memory", over(fullest, operator.task_memory)))
        wrong = ", ".join(name for name, is_so in limits if is_so)
        values = (tasks, busiest, fullest if operator.keyed else None, taken, wrong or None)
        yield dict(zip(_SIZES, values, strict=True))


def _ranges(sizing: OperatorSizing, tasks: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a parallelism; those of even number where tasks do not hold their state with any."""
    if sizing.at(tasks) is None:
        return even_ranges(sizing.operator.key_groups, tasks)
    return sizing.ranges(tasks)


def _key_group(what: Selector, figures: ScaledFigures, number: int) -> Explanation:
    problem, operator = figures.problem, figures.problem.operators[number]
    group = int(what.index or 0)
    if not group < operator.key_groups:
        raise FtplanError(f"{what}: {operator.id} has {operator.key_groups} key groups")
    rows = []
    for when, item in (("now", as_it_runs(problem, number)), ("afterwards", figures.scaling.by_operator.get(number))):
        if item is None:
            continue
        task = next(t for t, (first, last) in enumerate(item.ranges) if first <= group <= last)
        use = float(task_use(operator, item.parallelism, item.ranges)[task])
        node = problem.nodes[item.nodes[task]] if item.nodes else None
        rows.append(
            {"": when, "task": task, "key groups": "{}–{}".format(*item.ranges[task]), "node": node, "utilisation": use}
        )
    share, target = float(operator.group_use[group]), problem.limits.target
    notes = [
        f"alone it keeps a task {share:.3g} busy at the demand, state {float(operator.state_bytes[group]):,.0f} bytes"
    ]
    if over(share, target):
        notes.append(f"that is above {target:g}: no parallelism helps, its key has to be split by the job itself")
    copies = ", ".join(problem.nodes[node] for node in operator.copies[group]) if operator.copies else ""
    notes += [f"checkpoints on {copies}"] if copies else []
    title = f"{what}: with task {rows[-1]['task']}" + (" as now" if len(rows) == 1 else " afterwards")
    return Explanation(
        str(what), title, ("", "task", "key groups", "node", "utilisation"), tuple(rows), tuple(notes), ()
    )


def _node(what: Selector, figures: ScaledFigures) -> Explanation:
    problem = figures.problem
    if what.name not in problem.nodes:
        raise FtplanError(f"{what}: the cluster has no such node" if problem.nodes else f"{what}: there is no cluster")
    node, rows = problem.nodes.index(what.name), []
    for number, operator in enumerate(problem.operators):
        now, item = as_it_runs(problem, number), figures.scaling.by_operator.get(number)
        after = item or now
        counts = [list(some.nodes).count(node) for some in (now, after)]
        if not any(counts):
            continue
        state = task_state(operator, after.parallelism, after.ranges)
        held = sum(float(size) for size, place in zip(state, after.nodes, strict=True) if place == node)
        values = (operator.id, *counts, *(count * operator.cpu for count in counts), held if operator.keyed else None)
        row: dict[str, Any] = dict(zip(_OF_NODE, values, strict=True))
        rows.append(row)
    before, then = (sum(row[name] for row in rows) for name in ("tasks now", "tasks afterwards"))
    notes = (f"{float(problem.free[node]):.6g} cores are free for new tasks while the old ones still run",)
    return Explanation(
        str(what), f"{what}: {before:,} tasks now, {then:,} afterwards", _OF_NODE, tuple(rows), notes, ()
    )
