"""Simulated migrations as documents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ftplan.simulation.document import SimulationModel
from ftplan.simulation.migration.adaptation_document import AdaptationTraceModel
from ftplan.simulation.migration.move_messages import MigrationMessagesModel


class MigrationSimulationModel(SimulationModel):
    """Migrations: a plan's moves message by message, or adaptation over time."""

    kind: Literal["migration"] = Field(description="What was simulated")
    level: Literal["messages", "trace"] = Field(description="How: which of the two that follow is there")
    messages: MigrationMessagesModel | None = Field(None, description="The moves of a plan")
    trace: AdaptationTraceModel | None = Field(None, description="Adaptation over time")
