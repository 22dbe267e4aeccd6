"""The question of a scale-out: how many tasks each operator gets, which key ranges, and on which nodes.

Use is in tasks: a use of 1 keeps one task busy all the time. Shapes: O operators, J jobs, K key groups of one
operator, W windows, N nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray

State = Literal["normal", "prepared", "promoted", "scale-in"]
Split = Literal["load", "hash"]


@dataclass(frozen=True, eq=False)
class ScalableOperator:
    """One operator, as it runs and as it is to be sized.

    Attributes
    ----------
    job
        Which job it belongs to: a connected part of the topology.
    cpu
        Cores that each of its tasks reserves.
    key_groups
        0 without keyed state: then its input divides evenly over any number of tasks.
    most
        Largest parallelism that may be given to it.
    use
        How many tasks the demand that it is sized for would keep busy: demand over the true rate of a task
        [Kalavri2018]; 0 where neither is known.
    group_use
        (K,) the same by key group, sums to ``use``; shape (0,) without keyed state.
    state_bytes
        (K,) state by key group, 0 where unknown.
    task_memory
        Bytes of state that one task may hold, inf where unknown.
    score, state
        What the fuzzy inference says of its worst task in the last window, and the state that it is in by then.
    throughput_percentage
        Share of all output that it obstructs or lets through, Stela's effective throughput percentage [Xu2016].
    copies
        (K,) nodes that hold a checkpoint of each key group, ascending; () without.
    """

    id: str
    job: int
    parallelism: int
    cpu: float
    key_groups: int
    most: int
    use: float
    group_use: FloatArray
    state_bytes: FloatArray
    task_memory: float
    score: float
    state: State
    throughput_percentage: float = 0.0
    copies: tuple[tuple[int, ...], ...] = ()

    @property
    def keyed(self) -> bool:
        """Whether it has keyed state, which goes with its key groups."""
        return self.key_groups > 0


class OperatorScaling(NamedTuple):
    """What an operator gets: tasks, the first and last key group of each, and the node of each; by number.

    ``ranges`` is empty without keyed state, ``nodes`` without a cluster.
    """

    operator: int
    parallelism: int
    ranges: tuple[tuple[int, int], ...]
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scaling:
    """Operators whose tasks are replaced, in the order in which that is done. Operators that stay are not in it.

    ``least_extra_cpu`` is a proven bound: whatever sustains as much load as can be reserves so many cores more than
    now, at least, where only operators change that the load needs or that are scaled in; None where it is not known.
    """

    operators: tuple[OperatorScaling, ...] = ()
    least_extra_cpu: float | None = None

    @cached_property
    def by_operator(self) -> dict[int, OperatorScaling]:
        """The scaling of each operator that has one."""
        return {item.operator: item for item in self.operators}


@dataclass(frozen=True, slots=True)
class ScalingLimits:
    """What is asked for; None is no limit.

    Attributes
    ----------
    target
        Utilisation that no task exceeds at the demand that operators are sized for.
    free_cpu
        Cores that new tasks may take while the old ones still run.
    quota
        Cores of all tasks of all jobs together, at any time.
    """

    target: float = 0.7
    free_cpu: float | None = None
    quota: float | None = None


@dataclass(frozen=True, eq=False)
class ScalingProblem:
    """O operators of J jobs, in (operator id) order; nodes in natural order of their ids, none without a cluster.

    New tasks run beside the old ones until they take over: those of operators that are scaled in first, then, when
    the old tasks of these are gone, all others. Both times they must fit into what is free.
    """

    operators: tuple[ScalableOperator, ...]
    weight: FloatArray  # (J,) share of each job in the value of all output, sums to 1
    split: Split = "load"
    nodes: tuple[str, ...] = ()  # (N,) ids
    free: FloatArray = field(default_factory=lambda: np.zeros(0))  # (N,) cores for new tasks
    now: tuple[tuple[int, ...], ...] = ()  # (O,) node of each task now
    limits: ScalingLimits = ScalingLimits()
    warnings: tuple[Warn, ...] = field(default=())

    @cached_property
    def jobs(self) -> tuple[IntArray, ...]:
        """(J,) operators of each job."""
        job = np.array([item.job for item in self.operators], dtype=np.int64)
        return tuple(np.flatnonzero(job == j) for j in range(len(self.weight)))
