"""The operators of a scaling problem: what keeps their tasks busy, and how it divides over their key groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.api.other_plans import Copies
from ftplan.api.scale_out.options import ScaleOutOptions
from ftplan.api.scale_out.room import Room, copies_of, jobs_of, new_task_memory
from ftplan.metrics.bottleneck_inputs import MeasuredGroups, MeasuredTasks, OperatorHistory
from ftplan.metrics.scaling_effects import lacks_tasks
from ftplan.metrics.scaling_problem import ScalableOperator, State
from ftplan.metrics.throughput_percentage import throughput_percentages
from ftplan.model.cluster import Cluster
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, Operator

#: Most tasks of an operator without key groups, where nothing says.
MOST_TASKS = 128


@dataclass(frozen=True, eq=False)
class Usage:
    """What is known of O operators by their position in the topology.

    Attributes
    ----------
    window
        The windows that sizes follow from.
    sized_for
        (O,) records/s that each is sized for, NaN where unknown.
    scores, states
        Score in the last window, and the state by then.
    state_bytes
        Of the key groups of keyed operators, by id.
    """

    graph: TaskGraph
    measured: MeasuredTasks
    groups: Mapping[str, MeasuredGroups]
    histories: Sequence[OperatorHistory]
    window: slice
    window_s: float
    sized_for: FloatArray
    scores: FloatArray
    states: Sequence[State]
    state_bytes: Mapping[str, FloatArray]

    def per_second(self, values: FloatArray, position: int) -> float:
        """Return the mean of a measured column (W, T) over the tasks of an operator together, per second."""
        some = values[self.window, self.graph.slice_of(position)]
        return float(np.nansum(some)) / (len(some) * self.window_s)

    def output(self, position: int) -> float:
        """Return what an operator writes at the demand that it is sized for, in records/s; what it reads if unknown."""
        processed, wrote = (self.per_second(v, position) for v in (self.measured.processed, self.measured.records_out))
        demand = float(np.nan_to_num(self.sized_for[position]))
        return demand * wrote / processed if wrote > 0.0 and processed > 0.0 else demand


def scalable_operators(
    usage: Usage, options: ScaleOutOptions, place: Room, copies: Copies, cluster: Cluster | None
) -> tuple[ScalableOperator, ...]:
    """Return the operators of a scaling problem, by position in the topology."""
    graph = usage.graph
    job = jobs_of(graph.topology, graph.by_id)
    made = []
    for i, operator in enumerate(graph.topology.operators):
        use, cpu = _use(usage.sized_for[i], usage.histories[i].true_rate), float(operator.cpu.mean())
        made.append(
            ScalableOperator(
                id=operator.id,
                job=int(job[i]),
                parallelism=operator.parallelism,
                cpu=cpu,
                key_groups=operator.key_groups or 0,
                most=_most(operator, options.max_parallelism),
                use=use,
                group_use=use * _shares(operator, usage, i),
                state_bytes=usage.state_bytes.get(operator.id, np.zeros(0)),
                task_memory=new_task_memory(cpu, place, options.task_memory),
                score=float(usage.scores[i]),
                state=usage.states[i],
                copies=copies_of(operator, copies, cluster),
            )
        )
    lacking = np.array([lacks_tasks(operator, options.target_utilisation) for operator in made], dtype=np.bool_)
    through = np.array([usage.per_second(usage.measured.processed, i) for i in range(len(made))])
    percentages = throughput_percentages(graph, lacking, through).tolist()
    return tuple(replace(item, throughput_percentage=p) for item, p in zip(made, percentages, strict=True))


def _use(demand: float, true_rate: float) -> float:
    """Return how many tasks a demand keeps busy, 0 where it or the true rate is unknown."""
    use = float(demand / true_rate) if true_rate > 0.0 else 0.0
    return use if math.isfinite(use) else 0.0


def _most(operator: Operator, asked: int | None) -> int:
    """Return the largest parallelism of an operator: as asked, and no more than it has key groups; else 128."""
    limits = [limit for limit in (asked, operator.key_groups) if limit]
    return min(limits) if limits else MOST_TASKS


def _shares(operator: Operator, usage: Usage, position: int) -> FloatArray:
    """Return the share of each key group in the load of its operator, (K,), sums to 1; (0,) without keyed state.

    Where the statistics have no key groups, the records of a task divide evenly over its key groups.
    """
    count = operator.key_groups or 0
    if not count:
        return np.zeros(0)
    if operator.id in usage.groups:
        load = usage.groups[operator.id].load(usage.window)
    else:
        owner = operator.task_of_key_groups()
        records = np.nansum(usage.measured.processed[usage.window, usage.graph.slice_of(position)], axis=0)
        load = records[owner] / np.bincount(owner, minlength=operator.parallelism)[owner]
    total = float(load.sum())
    return np.asarray(load / total) if total > 0.0 else np.full(count, 1.0 / count)
