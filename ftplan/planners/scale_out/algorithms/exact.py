"""The scale-out that sustains most load under all limits, with the fewest cores, and a proof.

It starts from what fits into the free cores when chosen one after the other (:func:`filled`).
"""

from __future__ import annotations

from dataclasses import replace

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.choices import JobLevel, ScalingChoices, Sizes
from ftplan.planners.scale_out.algorithms.free_cores import FreeCores
from ftplan.planners.scale_out.algorithms.model import ChosenSizes, ScalingModel
from ftplan.planners.scale_out.algorithms.node_model import ScalingNodeModel
from ftplan.planners.scale_out.algorithms.outcome import above_quota, outcome, scaling
from ftplan.planners.scale_out.effects import extra_cpu
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem

#: Choices that no nodes can take, after which nodes become a part of the program from the start.
MAX_CUTS = 3
#: Shares of the time that is left for the program without nodes, and for the nodes of its choice.
TOGETHER, PLACED = 0.5, 0.2


def filled(choices: ScalingChoices, levels: list[list[JobLevel]], room: FreeCores) -> ChosenSizes:
    """Return a choice that fits: scale-ins, the level of each job by what it gains for its cores, then room for state.

    The highest level of a job that fits is searched by bisection. Cost O(jobs x log levels) placements.
    """
    smaller: Sizes = {}
    for i in sorted(choices.smaller, key=lambda i: (-room.freed({i: choices.smaller[i]}), i)):
        more = smaller | {i: choices.smaller[i]}
        smaller = more if room.placed(more, {}) is not None else smaller
    others: Sizes = {}

    def gain(job: int) -> tuple[float, int]:
        highest, lowest = levels[job][-1], levels[job][0]
        cores = sum(tasks * float(room.cpu[i]) for i, tasks in highest.sizes.items())
        gained = float(choices.problem.weight[job]) * (highest.share - lowest.share)
        return -gained / max(cores, room.total * 1e-12, 1e-300), job

    for job in sorted(range(len(levels)), key=gain):
        low, high = 0, len(levels[job]) - 1
        while low < high:
            middle = (low + high + 1) // 2
            fits = room.placed(smaller, others | levels[job][middle].sizes) is not None
            low, high = (middle, high) if fits else (low, middle - 1)
        others |= levels[job][low].sizes
    for i, tasks in choices.roomier.items():
        others = others | {i: tasks} if room.placed(smaller, others | {i: tasks}) is not None else others
    placed = room.placed(smaller, others)
    assert placed is not None  # each step was tried
    return ChosenSizes(smaller, others, placed, 1.0, False)


def exact(problem: ScalingProblem, search: SearchOptions) -> Result[Scaling]:
    """Give operators the fewest tasks with which their jobs sustain as much of their demand as can be.

    Every parallelism up to the most is tried, with ranges by load whose largest use is least ([Pinar2004]) or even
    ones. Where all that jobs could use fits into the free cores, that is the answer, without a solver. Otherwise one
    integer program chooses the level that each job sustains, with the fewest tasks for it, the operators that are
    scaled in, and the nodes of new tasks, in two waves; a second run takes the fewest cores, then the fewest changes.
    What all nodes together can take stands for them at first; they join the program where its choice does not fit.
    Operators change only where the level of their job needs it; fewer tasks than now only where these suffice, or where
    none do and with these the busiest is least busy.

    Guarantee: ``optimal``, or ``feasible`` with the proven gap at the time limit; ``least_extra_cpu`` of the answer is
    set where the fewest cores are proven, without those that only give room to state. More free cores, quota, nodes or
    tasks are never worse where it is optimal. Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``).
    Cost: milliseconds where all fits; exponential in the worst case.
    """
    budget = Budget.of(search)
    room, choices = FreeCores(problem), ScalingChoices(problem)
    why = above_quota(problem, room.total)
    if why is not None:
        return why
    wanted: Sizes = {i: tasks for level in choices.best for i, tasks in level.sizes.items()} | choices.roomier
    best = float(sum(weight * level.share for weight, level in zip(problem.weight, choices.best, strict=True)))
    placed = room.placed(choices.smaller, wanted)
    if placed is not None:
        chosen = ChosenSizes(choices.smaller, wanted, placed, best, True)
    else:
        chosen = _chosen(choices, room, search, budget)
    assert chosen.placed is not None
    answer = scaling(problem, choices.sizings, chosen.smaller | chosen.others, chosen.placed)
    needed = Scaling(tuple(item for item in answer.operators if item.operator not in choices.roomier))
    # Room for state takes cores that the load does without; where cores are short it may also decide who gets them.
    if placed is not None or (chosen.fewest and len(needed.operators) == len(answer.operators)):
        answer = replace(answer, least_extra_cpu=extra_cpu(problem, needed))
    return outcome(problem, choices.sizings, answer, min(best, chosen.bound), budget)


def _chosen(choices: ScalingChoices, room: FreeCores, search: SearchOptions, budget: Budget) -> ChosenSizes:
    """Return the best choice that fits, by the program without nodes where its choice finds some, else with them."""
    levels = choices.levels(room.most(choices.smaller))
    start, cuts, bound = filled(choices, levels, room), list[ChosenSizes](), 1.0
    nodes: ScalingNodeModel | None = None
    for _ in range(MAX_CUTS):
        together = budget.part(TOGETHER)
        chosen = ScalingModel(choices, levels, room, cuts).solved(search, together, start)
        if chosen is None:
            break
        bound = min(bound, chosen.bound)
        if chosen.placed is not None:
            budget.cut |= together.cut
            return _better(choices, chosen, start)
        nodes = nodes or ScalingNodeModel(choices, levels, room)
        placed, proven = nodes.nodes_of(chosen, search, budget.part(PLACED))
        if placed is not None:
            budget.cut |= together.cut
            return _better(choices, chosen._replace(placed=placed), start)
        if not proven:
            break
        cuts.append(chosen)
    exactly = ScalingNodeModel(choices, levels, room, cuts, bound).solved(search, budget, start)
    if exactly is None:
        budget.unfinished()
        return start._replace(bound=bound)
    return _better(choices, exactly._replace(bound=min(bound, exactly.bound)), start)


def _better(choices: ScalingChoices, chosen: ChosenSizes, start: ChosenSizes) -> ChosenSizes:
    """Return what was chosen, or the start where the clock left that the better one."""
    if choices.value(chosen.others) >= choices.value(start.others) * (1.0 - ROUNDING):
        return chosen
    return start._replace(bound=chosen.bound)
