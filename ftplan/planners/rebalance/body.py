"""What a plan of kind rebalance holds."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative


class KeyGroupMoveModel(FileModel):
    """A key group that goes to another node."""

    phase: Index | None = Field(None, description="From 0; the moves of a phase begin together")
    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id = Field(alias="from", description="Node that has it")
    to: Id = Field(description="Node that gets it")
    protocol: str | None = Field(
        None, description="cpa, cpal, lazy or direct; recover or fetch: after the loss of its node"
    )
    latency_s: NonNegative | None = Field(None, description="Seconds for which it is paused, moved alone")
    completion_s: NonNegative | None = Field(None, description="Seconds until it is moved, alone")
    bytes: NonNegative | None = Field(None, description="What goes over the network for it")
    pause_s: NonNegative | None = Field(None, description="Seconds for which it is paused in its phase")
    reason: str | None = Field(None, description="Why by this protocol")


class CopiesAfterModel(FileModel):
    """Where the checkpoints of a key group lie afterwards."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    nodes: list[Id] = Field(description="One for each copy")


class PhaseModel(FileModel):
    """Moves that begin together; a phase begins when the one before has ended."""

    phase: Index = Field(description="From 0")
    moves: Index = Field(description="Key groups that move")
    bytes: NonNegative = Field(description="What goes over the network")
    duration_s: NonNegative = Field(description="Seconds from its begin until all are moved")
    longest_pause_s: NonNegative = Field(description="Longest pause of a key group")
    highest_utilisation: NonNegative | None = Field(
        None, description="Of any node, while both ends of low-latency moves are loaded; null: one has no capacity"
    )


class NewCopyModel(FileModel):
    """A checkpoint that is made anew, since its node is gone."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id = Field(alias="from", description="Node that it is made on")
    to: Id = Field(description="Node that gets it")
    bytes: NonNegative | None = Field(None, description="State to copy; null if unknown")


class RebalanceBody(FileModel):
    """What a plan of kind rebalance holds; one made by hand needs only the moves."""

    moves: list[KeyGroupMoveModel] = Field(description="In the order in which they are carried out")
    phases: list[PhaseModel] | None = Field(None, description="What each phase takes")
    checkpoints: list[CopiesAfterModel] | None = Field(None, description="Afterwards, of every key group")
    new_copies: list[NewCopyModel] | None = Field(None, description="Checkpoints that are made anew after all phases")
    add_nodes: list[Id] | None = Field(None, description="Nodes that are filled")
    remove_nodes: list[Id] | None = Field(None, description="Nodes that are drained")
    rollback: list[KeyGroupMoveModel] | None = Field(
        None, description="Moves that undo the plan, the last phase first; each phase of it can be undone alone"
    )


BODY = RebalanceBody
