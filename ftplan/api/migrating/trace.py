"""Adaptation over the load of the statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ftplan.api.migrating.options import MigrationSimulationOptions
from ftplan.api.migrating.result import MigrationSimulation
from ftplan.errors import FtplanError
from ftplan.model.problem import Problem


def simulate_trace(
    problem: Problem,
    plan: Any,
    options: MigrationSimulationOptions,
    progress: Callable[[str, float | None], None] | None,
) -> MigrationSimulation:
    """Simulate the adaptation of each period.

    Raises
    ------
    FtplanError
        Always.
    """
    raise FtplanError("--level trace is not built yet: use --level messages with a plan of kind rebalance")
