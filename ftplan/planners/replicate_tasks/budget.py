"""How much replication may cost: a number or a share of the tasks, cores, memory, or whatever reaches a target."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import FloatArray

Unit = Literal["tasks", "cores", "mb"]


@dataclass(frozen=True, slots=True)
class ReplicationBudget:
    """A limit in some unit: a number, or a share of all tasks (rounded down); with a target all tasks may be used.

    With a target, the unit is what the plan takes least of.
    """

    unit: Unit
    number: float | None = None
    share: Fraction | None = None
    target: float | None = None

    @property
    def measure(self) -> str:
        """What the objective of a target is called."""
        return next(name for name, unit in LEAST.items() if unit == self.unit)

    def limit(self, tasks: int, weights: FloatArray) -> float:
        """Return the budget in its unit; *tasks* is the number of all tasks, *weights* what their replicas take."""
        if self.share is not None:
            return float(math.floor(self.share * tasks))
        return float(weights.sum()) if self.number is None else self.number

    def weights(self, cpu: FloatArray, memory_mb: FloatArray) -> FloatArray:
        """Return what each task's replica takes of the budget, shape (tasks,).

        The memory of a replica is the state that it holds; one without state takes none.

        Raises :class:`FtplanError` if memory is limited and no task has any state.
        """
        if self.unit == "tasks":
            return np.ones(len(cpu))
        if self.unit == "cores":
            return cpu
        if not memory_mb.any():
            raise FtplanError("MB of replicas: no task has state: give state_bytes in the topology, or statistics")
        return memory_mb


#: What a target may be reached with least of, by the unit in which that is counted; so is the objective called.
LEAST: dict[str, Unit] = {"replicas": "tasks", "cores": "cores", "mb": "mb"}
#: A replica of every task.
ALL = ReplicationBudget("tasks")


def parse_budget(
    budget: Any, budget_cpu: Any, budget_mb: Any, target: Any, *, least: str = "replicas"
) -> ReplicationBudget:
    """Return the one budget that was given, of values that are in range.

    *budget* is a number of replicas, or a text such as ``12`` or ``30%``; *budget_cpu* and *budget_mb* are cores and
    units of 2^20 bytes that all may take; *target* is the value in (0, 1] that the fewest shall reach, fewest of
    *least*: ``replicas``, ``cores`` or ``mb``.

    Raises :class:`FtplanError` if none or several are given, or a text means nothing.
    """
    flags = {"--budget": budget, "--budget-cpu": budget_cpu, "--budget-mb": budget_mb, "--target": target}
    given = [flag for flag, value in flags.items() if value is not None]
    if not given:
        raise FtplanError(
            "how many replicas may there be? give --budget N or --budget 30%, --budget-cpu CORES, --budget-mb MB, or "
            "--target 0.9 for the fewest that reach it"
        )
    if len(given) > 1:
        raise FtplanError(f"{' and '.join(given)}: give one of them")
    if target is not None:
        return ReplicationBudget(LEAST[least], target=float(target))
    if budget_cpu is not None:
        return ReplicationBudget("cores", number=float(budget_cpu))
    if budget_mb is not None:
        return ReplicationBudget("mb", number=float(budget_mb))
    return _tasks(budget)


def _tasks(budget: Any) -> ReplicationBudget:
    """Return a number of replicas, or a share of all tasks."""
    text = str(budget).strip()
    share = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*%", text)
    if share is not None and Fraction(share[1]) <= 100:
        return ReplicationBudget("tasks", share=Fraction(share[1]) / 100)
    if re.fullmatch(r"[0-9]+(\.0)?", text) is None:
        raise FtplanError(f"--budget: {budget!r} is neither a number of replicas, such as 12, nor a share, such as 30%")
    return ReplicationBudget("tasks", number=float(text))
