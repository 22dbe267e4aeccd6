"""The part of a summary on churn: how policies would have rescaled, beside the optimum that knows all demand."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.scale_out.algorithms.churn.choice import (
    TARGET,
    PlannedPolicy,
    RescalingPolicy,
    best_policies,
    rank,
    replayed,
)
from ftplan.planners.scale_out.algorithms.churn.optimum import (
    MOST_STATES,
    OfflineOptimum,
    offline_optimum,
    timely_schedule,
)
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account
from ftplan.planners.scale_out.forecasting.methods import DAY_S, day_ahead, windows_a_day
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.parallelism import OperatorSizing
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import ScalableOperator, ScalingProblem
from ftplan.planners.scale_out.techniques.prepare import setup_time

#: Operators that are looked at: those whose demand takes most cores.
OPERATORS = 5
#: Share of an operator's time for the choice of its policies, of what is left for each optimum, and how many states of
#: an optimum a second is enough for.
CHOSEN, EACH, STATES_A_SECOND = 0.5, 0.25, 1e8
#: Seconds that a timely schedule takes for each state, about.
TIMELY_S = 5e-6


def churn(prepared: PreparedScaling, options: ScaleOutOptions, budget: Budget) -> dict[str, Any] | None:
    """Return what rescaling costs each operator by the best policy and at best; None where it is not asked for.

    Operators share the time alike, those that take most cores come first; the ones for which there is none are
    ``left_out``, and ``budget.cut`` tells that the clock ended some part of it.

    A policy is chosen on the first part of the statistics, whole days where there are two or more, and judged on the
    rest, which it has not seen. Each operator is judged for itself.
    """
    if options.max_rescales_per_day is None:
        return None
    limits = ChurnLimits(options.max_rescales_per_day, options.max_overloaded)
    rescale_s = setup_time(options.rescale_time_s, prepared.costs)
    traces = demand_traces(prepared, rescale_s)
    foretold = options.forecast != "none"
    said: list[dict[str, Any]] = []
    left_out: list[str] = []
    for number, (operator, trace) in enumerate(traces):
        share = budget.part(1.0 / (len(traces) - number))
        try:
            said.append({"operator": operator.id, **judged(trace, limits, operator.cpu, foretold, share)})
        except OutOfTime:
            left_out.append(operator.id)
        budget.cut |= share.cut
    return {
        "max_rescales_per_day": limits.rescales_per_day,
        "max_overloaded": limits.overloaded,
        "rescale_time_s": rescale_s,
        "operators": sorted(said, key=lambda item: str(item["operator"])),
        "left_out": sorted(left_out),
    }


def demand_traces(prepared: PreparedScaling, rescale_s: float) -> list[tuple[ScalableOperator, DemandTrace]]:
    """Return the operators whose demand takes most cores, these first, with it over time in tasks that it keeps busy.

    Those whose demand is unknown in a window, or that one task is enough for all the time, are left out.
    """
    traces = []
    for operator, history in zip(prepared.problem.operators, prepared.histories, strict=True):
        needed = history.needed
        if np.isnan(history.demand).any() or not needed.max(initial=0.0) > 0.0:
            continue
        capacity = _capacity(prepared.problem, operator, float(needed.max()))
        if len(capacity) < 2:
            continue
        start = min(operator.parallelism, len(capacity))
        day = (np.arange(len(needed)) * prepared.window_s // DAY_S).astype(np.int64)
        traces.append((operator, DemandTrace(needed, capacity, day, prepared.window_s, rescale_s, start)))
    return sorted(traces, key=lambda item: (-item[0].cpu * float(item[1].demand.sum()), item[0].id))[:OPERATORS]


def _capacity(problem: ScalingProblem, operator: ScalableOperator, peak: float) -> FloatArray:
    """Return the demand that 1, 2, ... tasks take, in tasks: less than their number where key groups divide unevenly.

    Up to as many as any policy asks for, or run now. 0 where tasks do not hold their state.
    """
    sizing = OperatorSizing(operator, problem.split, problem.limits.target)
    capacity: list[float] = []
    for tasks in range(1, max(sizing.most, operator.parallelism) + 1):
        size = sizing.at(tasks) if tasks <= sizing.most else None
        busiest = 0.0 if size is None else size.highest
        known = tasks if operator.use <= 0.0 or (size is not None and busiest <= 0.0) else None
        capacity.append(float(known) if known else operator.use / busiest if busiest > 0.0 else 0.0)
        if tasks >= operator.parallelism and max(capacity) >= peak / TARGET[0]:
            break
    return np.array(capacity)


def judged(trace: DemandTrace, limits: ChurnLimits, cpu: float, foretold: bool, budget: Budget) -> dict[str, Any]:
    """Return what the best policy of a trace does on the part that it was chosen on and on the rest.

    ``distance`` is the share by which its core-hours exceed the bound of the optimum, None where there is none, or
    where the policy breaks a limit: then it may take less. The optimum forgets what an overloaded window leaves over;
    ``timely_core_hours`` are those of a schedule that knows all demand and does not, None where none is known.
    """
    windows, known = len(trace.demand), _split(trace)
    a_day = windows_a_day(trace.window_s)
    season = a_day if windows > a_day else 0
    foretell = partial(day_ahead, season=season, window_s=trace.window_s) if foretold else None
    past = trace.part(0, known)
    figures = _Figures(limits, cpu, budget)

    def both(schedule: IntArray) -> dict[str, Any]:
        rest = trace.part(known, windows, int(schedule[known - 1]))
        unseen = figures("unseen", rest, schedule[known:]) if windows > known else None
        return {"history": figures("history", past, schedule[:known]), "unseen": unseen}

    chosen = budget.part(CHOSEN)
    best = sorted(best_policies(past, limits, foretell, chosen).items(), key=lambda item: rank(item[1]))
    budget.cut |= chosen.cut
    rows: list[dict[str, Any]] = []
    for method, answer in best:
        if rows and budget.over():
            break
        schedule = replayed(trace, limits, answer.policy, foretell)
        rows.append({"method": method, "policy": stated(answer.policy, trace.window_s), **both(schedule)})
    return {
        "windows": {"history": known, "unseen": windows - known},
        **rows[0],
        "others": rows[1:],
        "as_it_is": both(np.full(windows, trace.start)),
    }


def _split(trace: DemandTrace) -> int:
    """Return how many windows a policy is chosen on: half of the whole days, else half of the windows."""
    days = int(trace.day[-1]) + 1
    if days >= 2:
        return int(np.searchsorted(trace.day, (days + 1) // 2))
    return max(1, len(trace.demand) // 2)


class _Figures:
    """Accounts in core-hours and shares, beside the optimum from the same tasks at the beginning."""

    def __init__(self, limits: ChurnLimits, cpu: float, budget: Budget) -> None:
        self.limits, self.hours, self.budget = limits, cpu / 3600.0, budget
        self._optima: dict[tuple[str, int], OfflineOptimum] = {}
        self._timely: dict[str, ChurnAccount | None] = {}

    def __call__(self, part: str, trace: DemandTrace, schedule: IntArray) -> dict[str, Any]:
        key, windows = (part, trace.start), len(trace.demand)
        if key not in self._optima:
            states = min(MOST_STATES, self.budget.left_s * EACH * STATES_A_SECOND)
            self._optima[key] = offline_optimum(trace, self.limits, states)
            self.budget.cut |= not self._optima[key].proven and states < MOST_STATES
        if part not in self._timely:
            self._timely[part] = self._in_time(trace)
        best, in_time, entry = self._optima[key], self._timely[part], account(trace, schedule)
        keeps = entry.keeps(self.limits, trace, late=True)
        at_best = None
        if best.account is not None:
            at_best = {
                "core_hours": best.account.task_s * self.hours,
                "bound": best.bound * self.hours,
                "proven": best.proven,
                "overloaded": best.account.overloaded / windows,
                "rescales": best.account.rescales,
                "timely_core_hours": None if in_time is None else in_time.task_s * self.hours,
            }
        return {
            "core_hours": entry.task_s * self.hours,
            "overloaded": entry.overloaded / windows,
            "late": entry.late / windows,
            "rescales": entry.rescales,
            "rescales_per_day": entry.rescales_per_day,
            "keeps_limits": keeps,
            "distance": entry.task_s / best.bound - 1.0 if keeps and at_best is not None else None,
            "optimum": at_best,
            "least_overloaded": best.least_overloaded / windows,
        }

    def _in_time(self, trace: DemandTrace) -> ChurnAccount | None:
        """Return what a schedule takes that knows all demand and leaves nothing over, from the first tasks asked."""
        states = len(trace.demand) * trace.most * (self.limits.rescales(trace) + 1)
        timely = timely_schedule(trace, self.limits) if self.budget.pays(states * TIMELY_S) else None
        return None if timely is None else timely[1]


def stated(policy: RescalingPolicy, window_s: float) -> dict[str, float | int]:
    """Return what a policy says, lengths in seconds."""
    if isinstance(policy, PlannedPolicy):
        return {
            "margin": policy.margin,
            "overload_price_task_s": policy.price,
            "planned_every_s": policy.every * window_s,
        }
    return {
        "scale_out_above": policy.scale_out,
        "target": policy.target,
        "scale_in_below": round(policy.scale_in, 6),
        "hold_s": policy.hold * window_s,
        "horizon_s": policy.horizon * window_s,
        "kept_for_scale_out": policy.reserve,
    }
