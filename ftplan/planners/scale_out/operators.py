"""The operators of a scaling problem: what keeps their tasks busy, and how it divides over their key groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.topology import FloatArray, Operator
from ftplan.planners.deployed import Copies
from ftplan.planners.scale_out.demand.true_rates import tasks_kept_busy, throughput_percentages
from ftplan.planners.scale_out.demand.usage import OperatorUsage
from ftplan.planners.scale_out.effects import lacks_tasks
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.problem import ScalableOperator, State
from ftplan.planners.scale_out.room import ClusterRoom, copies_of, jobs_of, new_task_memory

#: Most tasks of an operator without key groups, where nothing says.
MOST_TASKS = 128


def scalable_operators(  # seven parameters: an operator is made of everything
    usage: OperatorUsage,
    options: ScaleOutOptions,
    place: ClusterRoom,
    cluster: Cluster | None,
    copies: Copies,
    state_bytes: Mapping[str, FloatArray],
    scored: Sequence[tuple[float, State]],
) -> tuple[ScalableOperator, ...]:
    """Return the operators of a scaling problem, in the order of the topology.

    Parameters
    ----------
    state_bytes
        (K,) of the key groups of keyed operators, by id.
    scored
        Score of each operator in the last window, and its state by then.
    """
    topology = usage.graph.topology
    job = jobs_of(topology).tolist()
    made = []
    for i, operator in enumerate(topology.operators):
        score, state = scored[i]
        demand = float(usage.sized_for[i])
        if state == "scale-in":  # whatever statistic is asked for, fewer tasks have to take the peak too
            demand = float(np.fmax(demand, usage.peak[i]))
        use, cpu = tasks_kept_busy(demand, usage.histories[i].true_rate), float(operator.cpu.mean())
        made.append(
            ScalableOperator(
                id=operator.id,
                job=job[i],
                parallelism=operator.parallelism,
                cpu=cpu,
                key_groups=operator.key_groups or 0,
                most=_most(operator, options.max_parallelism),
                use=use,
                group_use=use * usage.group_shares(i),
                state_bytes=state_bytes.get(operator.id, np.zeros(0)),
                task_memory=new_task_memory(cpu, place, options.task_memory),
                score=score,
                state=state,
                copies=copies_of(operator, copies, cluster),
            )
        )
    lacking = np.array([lacks_tasks(operator, options.target_utilisation) for operator in made], dtype=np.bool_)
    through = np.array([usage.throughput(i) for i in range(len(made))])
    percentages = throughput_percentages(usage.graph, lacking, through).tolist()
    return tuple(replace(item, throughput_percentage=p) for item, p in zip(made, percentages, strict=True))


def _most(operator: Operator, asked: int | None) -> int:
    """Return the largest parallelism of an operator: as asked, and no more than it has key groups; else 128."""
    limits = [limit for limit in (asked, operator.key_groups) if limit]
    return min(limits) if limits else MOST_TASKS
