"""The moves of a plan, message by message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ftplan.api.migrating.options import MigrationSimulationOptions
from ftplan.api.migrating.result import MigrationSimulation
from ftplan.errors import FtplanError
from ftplan.model.problem import Problem


def simulate_messages(
    problem: Problem,
    plan: Any,
    options: MigrationSimulationOptions,
    progress: Callable[[str, float | None], None] | None,
) -> MigrationSimulation:
    """Simulate the moves of a plan, phase by phase.

    Raises
    ------
    FtplanError
        If there is no plan, or it does not fit.
    """
    raise FtplanError("--level messages is not built yet")
