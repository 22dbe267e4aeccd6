"""What statistics say of the operators of a job: how they were used, what is demanded of them, and how that goes on.

The operators of a scaling problem follow from it: what keeps their tasks busy, and how that divides over key groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.machine_limits import GB, VARIABLE, available_bytes
from ftplan.model.measures.measured_tasks import MeasuredGroups, MeasuredTasks, measured_groups, measured_tasks
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, Operator, Topology
from ftplan.planners.scale_out.bottlenecks.histories import OperatorHistory, histories
from ftplan.planners.scale_out.demand.operator_demand import (
    MeasuredFlows,
    demand_statistic,
    look_back,
    measured_flows,
    operator_demand,
    steady,
    tasks_kept_busy,
    throughput_percentages,
)
from ftplan.planners.scale_out.forecasting.forecast import SUPPORTED, Forecast, forecast
from ftplan.planners.scale_out.forecasting.methods import windows_a_day
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.problem import ScalableOperator, State, lacks_tasks
from ftplan.planners.scale_out.room import ClusterRoom, copies_of, jobs_of, new_task_memory, slots_of
from ftplan.planners.situation import Situation

#: How many windows ahead demand is foretold at most: paths of all origins are kept.
MOST_AHEAD = 20_000
#: Most tasks of an operator without key groups, where nothing says.
MOST_TASKS = 128
#: Bytes of a task or key group in a window, at the peak.
CELL = 150.0


@dataclass(frozen=True, eq=False)
class OperatorUsage:
    """What is known of O operators by their position in the topology, over W windows of ``window_s`` seconds."""

    graph: TaskGraph
    window_s: float
    measured: MeasuredTasks
    groups: Mapping[str, MeasuredGroups]  # statistics of the key groups of operators that have any, by id
    flows: MeasuredFlows
    histories: tuple[OperatorHistory, ...]
    look_back: slice  # the windows that sizes follow from
    #: How the demand on each operator goes on; None where none was asked for, or nothing is known of it
    forecasts: tuple[Forecast | None, ...]
    capped: tuple[Warn, ...]  # that forecasts do not go as far as was asked for
    #: (O,) records/s that each is sized for, NaN where unknown: the demand of the look-back or what is foretold,
    #: whichever is more, times the growth
    sized_for: FloatArray
    #: (O,) the highest demand of the look-back, times the growth: what operators that are scaled in keep
    peak: FloatArray

    def throughput(self, position: int) -> float:
        """Return what an operator processed in the look-back, in records/s."""
        return self._per_second(self.measured.processed, position)

    def output(self, position: int) -> float:
        """Return what an operator writes at the demand that it is sized for, in records/s; what it reads if unknown."""
        processed, wrote = self.throughput(position), self._per_second(self.measured.records_out, position)
        demand = float(np.nan_to_num(self.sized_for[position]))
        return demand * wrote / processed if wrote > 0.0 and processed > 0.0 else demand

    def group_shares(self, position: int) -> FloatArray:
        """Return the share of each key group in the load of its operator, (K,), sums to 1; (0,) without keyed state.

        Where the statistics have no key groups, the records of a task divide evenly over its key groups.
        """
        operator = self.graph.topology.operators[position]
        count = operator.key_groups or 0
        if not count:
            return np.zeros(0)
        if operator.id in self.groups:
            load = self.groups[operator.id].load(self.look_back)
        else:
            owner = operator.task_of_key_groups()
            records = np.nansum(self.measured.processed[self.look_back, self.graph.slice_of(position)], axis=0)
            load = records[owner] / np.bincount(owner, minlength=operator.parallelism)[owner]
        total = float(load.sum())
        return np.asarray(load / total) if total > 0.0 else np.full(count, 1.0 / count)

    def _per_second(self, values: FloatArray, position: int) -> float:
        """Return the mean of a measured column (W, T) over the look-back, all tasks of an operator together."""
        some = values[self.look_back, self.graph.slice_of(position)]
        return float(np.nansum(some)) / (len(some) * self.window_s)


def operator_usage(situation: Situation, options: ScaleOutOptions, task_memory: FloatArray) -> OperatorUsage:
    """Return what statistics say of each operator; *task_memory* (T,) are the bytes that each task may hold.

    Raises FtplanError if the statistics do not fit the topology, or are too short for the forecast.
    """
    stats = situation.required_stats
    graph, groups, measured = _read(situation.topology, stats)
    window_s = stats.manifest.window_s
    window = look_back(stats.manifest.windows, window_s, options.look_back_s)
    flows = measured_flows(graph, stats, measured, window)
    demand = operator_demand(graph, measured, flows.flows, window_s)
    used = histories(graph, measured, demand, window_s, window, options.task_capacity, task_memory)
    offered = steady(demand, window_s)
    horizon, capped = supported_horizon(stats.manifest.windows, window_s, options.horizon_s, options.forecast)
    ahead = demand_forecasts(offered, window_s, horizon, options.forecast)
    highest = np.array([np.nan if item is None else item.high.max() for item in ahead])
    sized = np.fmax(demand_statistic(offered, options.demand, window), highest) * options.growth
    peak = demand_statistic(offered, "peak", window) * options.growth
    return OperatorUsage(graph, window_s, measured, groups, flows, used, window, ahead, capped, sized, peak)


@lru_cache(maxsize=1)  # a plan is judged by the tables that it was made from
def _read(topology: Topology, stats: StatsTables) -> tuple[TaskGraph, Mapping[str, MeasuredGroups], MeasuredTasks]:
    graph, windows = TaskGraph(topology), stats.manifest.windows
    groups_in_all = sum(operator.key_groups or 0 for operator in topology.keyed_operators)
    needed, available = CELL * windows * (graph.tasks + groups_in_all), available_bytes()
    if needed > available:
        raise FtplanError(
            f"{graph.tasks:,} tasks and {groups_in_all:,} key groups over {windows:,} windows need about "
            f"{needed / GB:.1f} GiB and {available / GB:.1f} GiB are available: compute the statistics with longer "
            f"windows, or set {VARIABLE} to what may be used"
        )
    groups = measured_groups(graph, stats)
    return graph, groups, measured_tasks(graph, stats, groups)


def scalable_operators(
    usage: OperatorUsage,
    options: ScaleOutOptions,
    situation: Situation,
    place: ClusterRoom,
    scored: Sequence[tuple[float, State]],
) -> tuple[ScalableOperator, ...]:
    """Return the operators of a scaling problem, in the order of the topology.

    *scored*: score of each operator in the last window, and its state by then.
    """
    topology, copies = usage.graph.topology, situation.copies
    state_bytes = situation.state.by_group
    job = jobs_of(topology).tolist()
    made = []
    for i, operator in enumerate(topology.operators):
        score, state = scored[i]
        demand = float(usage.sized_for[i])
        if state == "scale-in":  # whatever statistic is asked for, fewer tasks have to take the peak too
            demand = float(np.fmax(demand, usage.peak[i]))
        use, cpu = tasks_kept_busy(demand, usage.histories[i].true_rate), float(operator.cpu.mean())
        most, most_by = _most(operator, options.max_parallelism, slots_of(place))
        memory = new_task_memory(cpu, place, options.task_memory)
        made.append(
            ScalableOperator(
                id=operator.id,
                job=job[i],
                parallelism=operator.parallelism,
                cpu=cpu,
                key_groups=operator.key_groups or 0,
                most=most,
                most_by=most_by,
                use=use,
                group_use=use * usage.group_shares(i),
                state_bytes=state_bytes.get(operator.id, np.zeros(0)),
                task_memory=memory.bytes,
                task_memory_by=memory.by,
                score=score,
                state=state,
                copies=copies_of(operator, copies, situation.cluster),
                slot_group=(operator.labels or {}).get("slot_sharing_group", ""),
            )
        )
    lacking = np.array([lacks_tasks(operator, options.target_utilisation) for operator in made], dtype=np.bool_)
    through = np.array([usage.throughput(i) for i in range(len(made))])
    percentages = throughput_percentages(usage.graph, lacking, through).tolist()
    return tuple(replace(item, throughput_percentage=p) for item, p in zip(made, percentages, strict=True))


def _most(operator: Operator, asked: int | None, slots: float) -> tuple[int, str]:
    """Return the largest parallelism of an operator, and what limits it: 128 where nothing does."""
    most = asked or (MOST_TASKS if operator.key_groups is None and math.isinf(slots) else math.inf)
    limits = {"max-parallelism": most, "key-groups": operator.key_groups or math.inf, "slots": slots}
    by = min(limits, key=limits.__getitem__)
    return int(limits[by]), by


def supported_horizon(windows: int, window_s: float, horizon_s: float, method: str) -> tuple[int, tuple[Warn, ...]]:
    """Return how many windows ahead demand is forecast, 0 for not at all, and a warning where --horizon is further.

    That is a sixth of the windows of the statistics at most: beyond it nothing judges a forecast.
    """
    asked, supported = math.ceil(horizon_s / window_s - 1e-9), min(windows // SUPPORTED, MOST_AHEAD)
    if method == "none" or asked <= supported:
        return 0 if method == "none" else asked, ()
    said = f"demand is forecast {supported * window_s:g} s ahead instead" if supported else "demand is not forecast"
    text = f"{said}, --horizon is {horizon_s:g} s: statistics of {windows * window_s:g} s judge a forecast over a sixth"
    return supported, (Warn("HORIZON_CAPPED", f"{text} of that; measure for longer"),)


def demand_forecasts(demand: FloatArray, window_s: float, horizon: int, method: str) -> tuple[Forecast | None, ...]:
    """Return a forecast of the demand on each operator, (O, W) in records/s; None where nothing is known of it.

    *horizon*: windows, 0 for no forecasts. Operators whose demand is the same but for a factor, as all after one
    source, have one forecast times theirs.

    Raises FtplanError if the statistics are too short for the method.
    """
    if horizon < 1:
        return (None,) * len(demand)
    season = windows_a_day(window_s)
    told: list[Forecast | None] = []
    for series in demand:
        most = 0.0 if np.isnan(series).any() else float(series.max())
        if not most > 0.0:
            told.append(None)
            continue
        shape = np.round(series / most, 12)  # equal where only a factor differs
        told.append(_times(_forecast_of_series(shape.tobytes(), horizon, season, method), most))
    return tuple(told)


@lru_cache(maxsize=1024)  # of operators after one source, and of a plan that is judged
def _forecast_of_series(series: bytes, horizon: int, season: int, method: str) -> Forecast:
    return forecast(np.frombuffer(series), horizon, season, method)


def _times(item: Forecast, factor: float) -> Forecast:
    scaled = {name: getattr(item, name) * factor for name in ("mean", "low", "high", "paths")}
    return item._replace(**scaled)
