"""The whole repair by ``priority-time``: what each bound, start, search and model of it is worth.

Topologies with shared tasks, as those of recovery_priority_time.py, from a dozen tasks to 500; production Storm
topologies that lost a rack where FTPLAN_STORM_TOPOLOGIES names their folder; the storm example; repairs in which more
fails later, running queries may be paused, or tasks may be split over nodes. Limits are seconds of the processor.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ftplan.compiled import called_often, seconds_apart
from ftplan.planners import budget as clock


def processor_s() -> float:
    """Return the seconds of the processor that this process has had, compilation apart."""
    return time.process_time() - seconds_apart()


clock.now = processor_s  # before planners import it: what else runs here takes no time from a case

from ablation import Answer, Case, Part  # noqa: E402
from recovery_priority_time import sparse  # noqa: E402
from recovery_storm import topology_of  # noqa: E402
from whole_repair_storm import lost_rack  # noqa: E402

from ftplan.model.failure import FailureEvent  # noqa: E402
from ftplan.planners import registry  # noqa: E402
from ftplan.planners.recovery_schedule.problem import RecoveryObjective, RecoveryOptions, RecoveryProblem  # noqa: E402
from tests.planners.recovery_schedule.algorithms.burst_cases import random_burst  # noqa: E402
from tests.planners.recovery_schedule.algorithms.pausing_cases import running_repair  # noqa: E402

RECOVERY = "ftplan.planners.recovery_schedule.algorithms"


def answer(problem: RecoveryProblem, options: RecoveryOptions, seconds: float) -> Answer:
    """Plan and return what comes of it."""
    from ftplan.model.measures.fidelity import fidelity_model
    from ftplan.model.rates import rates
    from ftplan.planners.recovery_schedule.algorithms.schedule.construction import nothing_recovered
    from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of, priority_time_of

    planner = registry.load(registry.row("recovery-schedule", "auto"))
    result = planner(problem, replace(options, time_limit_s=seconds))
    schedule = nothing_recovered(problem) if result.answer is None else result.answer
    if options.objective == "priority-time":
        return Answer("min", priority_time_of(schedule, problem), result.bound)
    model = fidelity_model(problem.graph, rates(problem.graph))
    return Answer("max", fidelity_time_of(schedule, problem, model), result.bound)


def failing_later(problem: RecoveryProblem, *hosts: int) -> RecoveryProblem:
    """Return a repair in which hosts that are there fail again, one after the other."""
    import numpy as np

    none = np.zeros(0, dtype=np.int64)
    last_s = problem.arrivals[-1].at_s
    events = [
        FailureEvent((k + 1) / (len(hosts) + 1) * last_s, "node", frozenset([str(problem.hosts[host].id)]), none)
        for k, host in enumerate(hosts)
    ]
    return replace(problem, failures=tuple(events))


def storm_racks(ranks: tuple[int, ...]) -> dict[str, Callable[[], RecoveryProblem]]:
    """Return lost racks of production topologies, by their rank in the number of tasks; nothing without the folder."""
    folder = os.environ.get("FTPLAN_STORM_TOPOLOGIES")
    if folder is None:
        return {}
    read = [topology_of(path, i) for i, path in enumerate(sorted(Path(folder).glob("*.json"))[:40])]
    large = sorted((t for t in read if t is not None), key=lambda t: (-t.task_count, t.name or ""))
    return {f"rack of {large[rank].task_count} tasks": partial(lost_rack, large[rank], rank) for rank in ranks}


def compile_searches() -> None:
    """Compile what a limit of some seconds would not pay for."""
    with called_often():
        for lanes in (0, 1):
            for objective in ("priority-time", "fidelity-time"):
                answer(sparse(120, 0.5, 0, lanes), RecoveryOptions(objective, iterations=1), 60.0)


def cases() -> dict[str, Case]:
    compile_searches()
    shapes = ((5, 0.3, 1), (5, 0.6, 4), (10, 0.6, 1), (20, 0.3, 1), (20, 0.6, 0), (50, 0.6, 1), (50, 0.3, 4))
    problems: dict[str, Callable[[], RecoveryProblem]] = {
        f"{queries} queries, {share:.0%} of the cores, {lanes} restores": partial(sparse, queries, share, 1, lanes)
        for queries, share, lanes in (*shapes, (200, 0.6, 0), (200, 0.3, 1))
    }
    problems |= {f"{name}, 1 restores": rack for name, rack in storm_racks((2, 12)).items()}
    racks = list(storm_racks((6,)).values())
    problems |= {f"burst {seed}": partial(random_burst, seed, 8) for seed in (2, 5)}
    problems |= {f"pauses {seed}": partial(running_repair, seed) for seed in (3,)}
    if racks:
        problems["rack, later failures"] = lambda: failing_later(racks[0](), 0, 3)
        problems["rack, pauses"] = lambda: replace(racks[0](), may_pause=True)
    return planned(problems, "priority-time", ((20, 0), (100, 0)))


def planned(
    problems: dict[str, Callable[[], RecoveryProblem]], objective: RecoveryObjective, split: tuple[tuple[int, int], ...]
) -> dict[str, Case]:
    """Return the cases of problems, of split tasks for (queries, restores at once), and of one without prefetch."""

    def case(build: Callable[[], RecoveryProblem], options: RecoveryOptions) -> Case:
        return lambda seconds: answer(build(), options, seconds)

    plain = RecoveryOptions(objective=objective)
    made = {name: case(build, plain) for name, build in problems.items()}
    for queries, lanes in split:
        build = partial(sparse, queries, 0.6, 1, lanes)
        made[f"{queries} queries, split"] = case(build, replace(plain, parallel_recovery=True))
    made["20 queries, no prefetch"] = case(partial(sparse, 20, 0.6, 2, 1), replace(plain, prefetch=False))
    return made


def no_steps_alone(problem: Any, incumbent: Any, most: Any, budget: Any, seed: int) -> Any:
    """Stand in for bounds of single steps."""
    return most


def no_program(problem: Any, incumbent: Any, *rest: Any) -> Any:
    """Stand in for the program of all steps."""
    return incumbent, None, False


def no_model(instance: Any, start: Any, *rest: Any) -> Any:
    """Stand in for the interval model."""
    return start, None, False


def nothing(*rest: Any) -> None:
    """Stand in for what finds nothing."""


REPAIR, BOUNDS, HORIZON = f"{RECOVERY}.repair", f"{RECOVERY}.repair.bounds", f"{RECOVERY}.horizon"
NO_SINGLE = {f"{REPAIR}.repair_bound:single_machine_bounds": lambda repair, stairs, *rest: stairs}
NO_AGGREGATED = {f"{REPAIR}.repair_bound:aggregated_bound": lambda repair, stairs, *rest: (stairs.lost, stairs)}
NO_EXPANDED = {f"{REPAIR}.repair_bound:time_expanded_bound": lambda repair, stairs, *rest: stairs.lost}
NO_EXCHANGE = {f"{BOUNDS}.step_function:EXCHANGE": ()}
PARTS = (
    Part("bound: single machine", NO_SINGLE),
    Part("bound: aggregated", NO_AGGREGATED),
    Part("bounds: single machine and aggregated", NO_SINGLE | NO_AGGREGATED),
    Part("bound: time-expanded", NO_EXPANDED),
    Part("interval model", {f"{REPAIR}.objectives:solve_intervals": no_model}),
    Part("search of orders", {f"{REPAIR}.objectives:search_orders": lambda instance, start, budget, seed: start}),
    Part("search of orders: start in sums", {f"{REPAIR}.search.order_search:MANY": 10**9}),
    Part("bound: exchange rates of cores and restores", NO_EXCHANGE),
    Part("bound: times priced in groups", {f"{BOUNDS}.step_function:GROUPS": 1}),
    Part("aggregated bound: single steps", {f"{BOUNDS}.aggregated:single_step_bounds": no_steps_alone}),
    Part("aggregated bound: all steps together", {f"{BOUNDS}.aggregated:solve_time_indexed": no_program}),
    Part("time-expanded: guide", {f"{BOUNDS}.time_expanded:GUIDE": 0.0}),
    Part("orders tried in full", {f"{REPAIR}.whole_repair:tried_orders": nothing}),
    Part("plan from the last failure on", {f"{REPAIR}.whole_repair:FollowingPolicy": nothing}),
    Part("pauses: single changes", {f"{REPAIR}.pausing:MOST_TRIED": 0}),
    Part("pauses: bound of their own", {f"{REPAIR}.objectives:loss_with_pauses": nothing}),
    Part("split: horizon's policy", {f"{RECOVERY}.by_objective:_split": lambda *rest: []}),
    Part("split: ruin and recreate", {f"{HORIZON}.priority_time:ruin_and_recreate": lambda problem, step, *rest: step}),
    Part("split: single steps", {f"{HORIZON}.priority_time:single_step_bounds": no_steps_alone}),
    Part("split: program of all steps", {f"{HORIZON}.priority_time:solve_time_indexed": no_program}),
)
