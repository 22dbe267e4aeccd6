"""Scale-outs: parallelism and nodes where cores are short, tasks on their state, forecasts, policies of rescaling."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from ablation import Answer, Case, Part
from forecasts_unseen import curves, errors
from numpy.random import default_rng

from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.scale_out.algorithms.churn.choice import best_policies, rank, replayed
from ftplan.planners.scale_out.algorithms.churn.optimum import offline_optimum
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, DemandTrace, account
from ftplan.planners.scale_out.algorithms.exact import exact
from ftplan.planners.scale_out.algorithms.nodes import on_their_state
from ftplan.planners.scale_out.forecasting.methods import day_ahead
from ftplan.planners.scale_out.problem import ScalableOperator, ScalingLimits, ScalingProblem, extra_cpu, sustained_load
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement

#: Core-hours and core-seconds count so little beside the load that is sustained.
_CORES = 1e-4
_LIMITS = ChurnLimits(6, 0.05)


def _question(
    seed: int, operators: int, jobs: int, nodes: int, room: float, sizes: tuple[float, ...]
) -> ScalingProblem:
    """Operators that lack tasks, some to be scaled in, half of them keyed; *room* is what is free of what is needed."""
    random = default_rng([seed, operators, nodes])
    made, needed = [], 0.0
    for number in range(operators):
        groups = int(random.choice([0, 0, 32, 64]))
        tasks = int(random.integers(2, 7))
        cpu = float(random.choice(sizes))
        state = str(random.choice(["promoted", "promoted", "promoted", "prepared", "scale-in"]))
        use = tasks * float(random.uniform(0.1, 0.3) if state == "scale-in" else random.uniform(0.8, 2.5))
        share = random.lognormal(0.0, 0.4, groups) if groups else np.zeros(0)
        of_group = use * share / share.sum() if groups else share
        copies = tuple((int(random.integers(nodes)),) for _ in range(groups)) if nodes else ()
        needed += cpu * (use / 0.7) * (state != "scale-in")
        made.append(
            ScalableOperator(
                f"o{number:02}",
                number * jobs // operators,
                tasks,
                cpu,
                groups,
                groups or 64,
                use,
                of_group,
                1e8 * random.lognormal(0.0, 0.5, groups),
                np.inf,
                80.0,
                state,
                copies=copies,
            )
        )
    weight = random.integers(1, 5, jobs).astype(np.float64)
    if not nodes:
        return ScalingProblem(tuple(made), weight / weight.sum(), limits=ScalingLimits(free_cpu=room * needed))
    free = random.choice([0.25, 0.5, 0.5, 1.0, 1.5, 2.0, 3.0], nodes)
    free = np.round(free * room * needed / free.sum() * 4.0) / 4.0
    now = tuple(tuple(random.integers(0, nodes, item.parallelism).tolist()) for item in made)
    names = tuple(f"n{k}" for k in range(nodes))
    return ScalingProblem(tuple(made), weight / weight.sum(), nodes=names, free=free, now=now)


def _sustained(problem: ScalingProblem, seconds: float) -> Answer:
    result = exact(problem, SearchOptions(time_limit_s=60.0 + seconds, iterations=round(100.0 * seconds)))
    assert result.answer is not None
    value = sustained_load(problem, result.answer)
    cores = extra_cpu(problem, result.answer) / sum(item.cpu * item.parallelism for item in problem.operators)
    return Answer("max", value - _CORES * cores, result.bound)


def _in_place(problem: ScalingProblem, seconds: float) -> Answer:
    """State of which checkpoints lie on the nodes of its new tasks, in GB."""
    result = exact(problem, SearchOptions(time_limit_s=60.0 + seconds, iterations=round(100.0 * seconds)))
    assert result.answer is not None
    there = 0.0
    for item in on_their_state(problem, result.answer).operators:
        if problem.operators[item.operator].keyed:
            lying = TaskReplacement(problem, item).lying_state()
            there += float(lying[np.arange(item.parallelism), list(item.nodes)].sum())
    return Answer("max", there / 1e9)


def _traces() -> dict[str, DemandTrace]:
    """Days of real curves, in tasks of which 4 to 12 are kept busy, and a week made from a seed."""
    made = {}
    for name, series, window_s in curves():
        length = 288 if window_s < 1800.0 else 24
        part = series[: 8 * length]
        if window_s < 900.0:  # quarters of an hour
            part, window_s, length = part.reshape(-1, 3).max(axis=1), 900.0, 96
        demand = 10.0 * part / part.max()
        made[name] = DemandTrace(demand, np.arange(1.0, 15.0), np.arange(len(demand)) // length, window_s, 60.0, 6)
    random, time = default_rng(7), np.arange(96 * 7)
    demand = np.maximum(5.0 - 3.0 * np.cos(2.0 * np.pi * time / 96) + random.normal(0.0, 0.3, len(time)), 0.1)
    made["made"] = DemandTrace(demand, np.arange(1.0, 13.0), time // 96, 900.0, 1200.0, 4)
    return made


def _optimum(trace: DemandTrace, seconds: float) -> Answer:
    """Core-hours of the optimum, as many states as the seconds pay for."""
    found = offline_optimum(trace, _LIMITS, 1e8 * seconds)
    assert found.account is not None
    return Answer("min", found.account.task_s / 3600.0, found.bound / 3600.0)


def _unseen(trace: DemandTrace, seconds: float) -> Answer:
    """Core-hours of the best policy on time that it has not seen; late windows above the limit count ten times."""
    length = len(trace.demand)
    known = int(np.searchsorted(trace.day, (int(trace.day[-1]) + 2) // 2))
    foretell = partial(day_ahead, season=trace.day_windows, window_s=trace.window_s)
    found = best_policies(trace.part(0, known), _LIMITS, foretell, Budget(max(20.0 * seconds, 30.0)))
    best = min(found.values(), key=rank)
    schedule = replayed(trace, _LIMITS, best.policy, foretell)
    entry = account(trace.part(known, length, int(schedule[known - 1])), schedule[known:])
    late = max(entry.late / (length - known) - _LIMITS.overloaded, 0.0)
    return Answer("min", entry.task_s / 3600.0 * (1.0 + 10.0 * late))


def _off(series: np.ndarray, window_s: float, hours: int, _: float) -> Answer:
    return Answer("min", errors(series, window_s, hours, "auto")[1])


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    made: dict[str, Case] = {}
    some, many = (1.0, 2.0), (0.25, 0.5, 1.0, 1.5, 2.0)
    for seed, operators, jobs, nodes, room, sizes in (
        (0, 8, 2, 0, 0.4, many), (1, 30, 6, 0, 0.4, many), (0, 6, 2, 6, 0.5, some), (1, 8, 3, 8, 0.7, many),
        (2, 8, 3, 20, 0.4, many), (3, 12, 4, 20, 0.8, many), (4, 20, 5, 40, 0.3, many), (5, 20, 5, 40, 0.6, many),
        (6, 30, 10, 100, 0.4, many), (7, 50, 10, 400, 0.4, many), (8, 12, 4, 60, 0.5, (1.5, 2.0)),
        (9, 12, 12, 30, 0.5, (0.7, 1.1, 1.3)),
    ):  # fmt: skip
        problem = _question(seed, operators, jobs, nodes, room, sizes)
        made[f"{operators} operators, {nodes} nodes, {room}"] = partial(_sustained, problem)
    for seed, operators, nodes in ((1, 6, 8), (2, 12, 20), (3, 20, 60)):
        problem = _question(seed, operators, 3, nodes, 1.5, some)
        made[f"state of {operators} operators on {nodes} nodes"] = partial(_in_place, problem)
    for name, trace in _traces().items():
        made[f"optimum, {name}"] = partial(_optimum, trace)
        made[f"policy, {name}"] = partial(_unseen, trace)
    for name, series, window_s in curves():
        for hours in (1, 6):
            made[f"forecast {hours} h, {name}"] = partial(_off, series[:4_000], window_s, hours)
    return made


def _far_off(_: np.ndarray, origins: np.ndarray, horizon: int, **__: Any) -> np.ndarray:
    return np.full((len(origins), horizon), 1e18)


def _nothing(*_: Any, **__: Any) -> None:
    return None


_ALGORITHMS = "ftplan.planners.scale_out.algorithms"
_CHURN = f"{_ALGORITHMS}.churn"
_FORECASTING = "ftplan.planners.scale_out.forecasting"
_METHODS = f"{_FORECASTING}.methods"
PARTS = (
    Part("integer program", {f"{_ALGORITHMS}.exact:ScalingModel.solved": _nothing}),
    Part("what all nodes take together", {f"{_ALGORITHMS}.exact:ScalingModel._nodes_together": _nothing}),
    Part("tasks on their state", {"ablations.scale_out:on_their_state": lambda _, scaling: scaling}),
    Part("overloads counted", {f"{_CHURN}.optimum:MOST_BYTES": 0.0}),
    Part("plans for the day", {f"{_CHURN}.choice:planned_states": lambda *_: np.inf}),
    Part("thresholds on what is predicted", {f"{_CHURN}.choice:HORIZON_S": (0.0,)}),
    Part("one horizon of two", {f"{_CHURN}.choice:HORIZON_S": (0.0, 1800.0)}),
    Part("rescales kept for more tasks", {f"{_CHURN}.choice:RESERVE": (0,)}),
    Part("lines of trends through more windows", {f"{_METHODS}:LINES": (12,), f"{_FORECASTING}.forecast:LINES": (12,)}),
    Part("trends damped less", {f"{_FORECASTING}.forecast:DAMPINGS": (0.9,)}),
    Part("yesterday, what differs fading", {f"{_FORECASTING}.forecast:day_ahead": _far_off}),
    Part("exponential smoothing", {f"{_FORECASTING}.forecast:installed": lambda: False}),
)
