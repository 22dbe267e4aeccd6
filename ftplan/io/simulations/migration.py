"""Simulated migrations as documents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ftplan.io.simulations.adaptation import AdaptationTraceModel
from ftplan.io.simulations.document import SimulationModel
from ftplan.io.simulations.move_messages import MigrationMessagesModel


class MigrationSimulationModel(SimulationModel):
    """Migrations: a plan's moves message by message, or adaptation over time."""

    kind: Literal["migration"] = Field(description="What was simulated")
    level: Literal["messages", "trace"] = Field(description="How: which of the two that follow is there")
    messages: MigrationMessagesModel | None = Field(None, description="The moves of a plan")
    trace: AdaptationTraceModel | None = Field(None, description="Adaptation over time")
