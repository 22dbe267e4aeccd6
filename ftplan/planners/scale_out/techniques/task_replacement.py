"""The new tasks of one operator and the old ones: their use and state, where it lies, and the links that it crosses.

Shapes: P new tasks, K key groups, N nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.scale_out.problem import OperatorScaling, ScalableOperator, ScalingProblem, over_ranges, task_use


@dataclass(frozen=True, eq=False)
class TaskReplacement:
    """A keyed operator whose tasks are replaced."""

    problem: ScalingProblem
    scaling: OperatorScaling

    @property
    def operator(self) -> ScalableOperator:
        """The operator."""
        return self.problem.operators[self.scaling.operator]

    @cached_property
    def old_ranges(self) -> tuple[tuple[int, int], ...]:
        """First and last key group of each task now."""
        return even_ranges(self.operator.key_groups, self.operator.parallelism)

    @property
    def old_nodes(self) -> tuple[int, ...]:
        """Node of each task now, () where it is not known."""
        return self.problem.now[self.scaling.operator] if self.problem.now else ()

    @cached_property
    def use(self) -> FloatArray:
        """Use of each new task, (P,)."""
        return task_use(self.operator, self.scaling.parallelism, self.scaling.ranges)

    @cached_property
    def state(self) -> FloatArray:
        """State of each new task in bytes, (P,)."""
        return self.by_new_task(self.operator.state_bytes)

    @cached_property
    def old_state(self) -> FloatArray:
        """State of each old task in bytes."""
        return self.by_old_task(self.operator.state_bytes)

    @cached_property
    def home(self) -> IntArray:
        """Node of each key group now, (K,), -1 where it is not known."""
        return _by_group(self.old_nodes, self.old_ranges)

    @cached_property
    def target(self) -> IntArray:
        """Node of each key group afterwards, (K,), -1 without a cluster."""
        return _by_group(self.scaling.nodes, self.scaling.ranges)

    @cached_property
    def stays(self) -> BoolArray:
        """Whether each key group stays on its node, (K,); none without nodes."""
        return np.asarray((self.home == self.target) & (self.target >= 0))

    @cached_property
    def covered(self) -> BoolArray:
        """Whether a checkpoint of each key group lies on its node afterwards, (K,); none without nodes."""
        copies = self.operator.copies or ((),) * self.operator.key_groups
        return np.array([node in held for node, held in zip(self.target.tolist(), copies, strict=True)], dtype=np.bool_)

    def lying_state(self) -> FloatArray:
        """Return the bytes of each new task's state that lie on each node, (P, N): as checkpoints, else as it is now.

        Where state is not known each key group counts as one byte.
        """
        operator, nodes = self.operator, len(self.problem.nodes)
        lies = operator.copies if any(operator.copies) else [(node,) for node in self.home.tolist() if node >= 0]
        state = operator.state_bytes if operator.state_bytes.any() else np.ones(operator.key_groups)
        group = np.repeat(np.arange(len(lies)), [len(held) for held in lies])
        where = np.array([node for held in lies for node in held], dtype=np.int64)
        task = np.repeat(np.arange(self.scaling.parallelism), [last - first + 1 for first, last in self.scaling.ranges])
        lying = np.zeros((self.scaling.parallelism, nodes))
        np.add.at(lying, (task[group], where), state[group])
        return lying

    def by_new_task(self, values: FloatArray) -> FloatArray:
        """Return the sum of values (K,) over the key groups of each new task, (P,)."""
        return over_ranges(values, self.scaling.ranges)

    def by_old_task(self, values: FloatArray) -> FloatArray:
        """Return the sum of values (K,) over the key groups of each old task."""
        return over_ranges(values, self.old_ranges)


def over_links(amount: FloatArray, nodes: tuple[int, ...], speed: float) -> FloatArray:
    """Return the seconds until what goes to or from each task is over the link of its node, in shape of *amount*.

    Tasks on one node share its link, in any order, so that the last of them waits for the sum; each task has a link of
    its own where *nodes* is (). *speed* is in bytes per second.
    """
    if not nodes:
        return np.asarray(amount / speed)
    where = np.array(nodes, dtype=np.int64)
    return np.asarray(np.bincount(where, amount)[where] / speed)


def _by_group(nodes: tuple[int, ...], ranges: tuple[tuple[int, int], ...]) -> IntArray:
    """Return the node of each key group by those of the tasks, (K,), -1 where there are none."""
    known = nodes or (-1,) * len(ranges)
    return np.repeat(np.array(known, dtype=np.int64), [last - first + 1 for first, last in ranges])
