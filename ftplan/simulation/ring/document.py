"""Simulated peer rings as documents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Positive, Rows
from ftplan.simulation.document import SimulatedFigureModel, SimulationModel


class RingTimingModel(FileModel):
    """How long the parts of the protocol take, in seconds."""

    interval_s: Positive = Field(description="Between checkpoints")
    checkpoint_s: NonNegative = Field(description="To make and send an incremental checkpoint")
    delay_s: NonNegative = Field(description="Most that a message is on the way")
    latency_bound_s: NonNegative = Field(description="L_n, what the protocol takes for the bound of delay and skew")
    skew_s: NonNegative = Field(description="Largest difference between the clocks of two mappers")
    keep_s: NonNegative = Field(description="Backups drop what is older than a checkpoint by more than this")
    heartbeat_s: Positive | None = Field(description="Between heartbeats; null: the checkpoint is the heartbeat")
    missed: Index = Field(description="Heartbeats missed until a node is taken for dead")
    grace_s: NonNegative = Field(description="Waited beyond these")
    detection_s: NonNegative | None = Field(description="From a failure to its detection; null: as heartbeats say")
    fixed_s: NonNegative = Field(description="From detection until replay begins")
    bandwidth: Positive = Field(description="Bytes per second of full copies between two nodes")
    provision_s: NonNegative = Field(description="Until a new node is there")


class SimulatedFailureModel(FileModel):
    """Nodes that stop at one moment."""

    at_s: NonNegative = Field(description="When")
    nodes: list[Id] = Field(description="Which")


class RingFiguresModel(FileModel):
    """The runs in a few numbers; null where there is nothing to tell. Times are of the longest take-over of a run."""

    detected_s: SimulatedFigureModel | None = Field(description="From a failure until the neighbour takes over")
    ready_s: SimulatedFigureModel | None = Field(description="Until it has processed again what it had kept")
    caught_up_s: SimulatedFigureModel | None = Field(description="Until it processes records as they come")
    restored_s: SimulatedFigureModel | None = Field(description="Until every copy is there again")
    moves: SimulatedFigureModel = Field(description="Moves of load, and nodes that joined or left")
    peak_queue_records: SimulatedFigureModel = Field(description="Most that waited at one node")
    peak_kept_records: SimulatedFigureModel = Field(description="Most that one node kept for others")
    copied_bytes: SimulatedFigureModel = Field(description="Full copies that were sent, without state that was lost")


class RingRecordsModel(FileModel):
    """What became of records, by run."""

    sent: SimulatedFigureModel = Field(description="By mappers")
    lost: SimulatedFigureModel = Field(description="Counted nowhere, though a copy should have been left")
    excused: SimulatedFigureModel = Field(description="Counted nowhere, since all who held them failed")
    twice: SimulatedFigureModel = Field(description="Counted again")
    replayed: SimulatedFigureModel = Field(description="Processed again by new owners, counted again or not")


class RingFaultModel(FileModel):
    """Records that are lost in a run."""

    run: Index = Field(description="From 0")
    what: str = Field(description="What is wrong with them")
    records: NonNegative = Field(description="How many")
    key_groups: Rows = Field(description="Of how many key groups")
    first: str = Field(description="The first of these, as OPERATOR/NUMBER")


class ForetoldChangeModel(FileModel):
    """What formulas say, at the mean age of a checkpoint."""

    replayed: NonNegative = Field(description="Records processed again")
    ready_s: NonNegative = Field(description="As of the change")
    caught_up_s: NonNegative | None = Field(description="As of the change; null: never")


class RingChangeModel(FileModel):
    """A change of the ring; times are seconds from its begin, null for what did not happen."""

    run: Index = Field(description="From 0")
    event: Literal["failure", "balance", "scale-out", "scale-in"] = Field(description="Why")
    node: Id = Field(description="Who takes key groups over")
    others: list[Id] = Field(description="From whom")
    begun_s: NonNegative = Field(description="When nodes failed, or a node asked or was told to leave")
    decided_s: NonNegative | None = Field(description="Until the ring was another")
    ready_s: NonNegative | None = Field(description="Until what was kept had been processed again")
    caught_up_s: NonNegative | None = Field(description="Until records were processed as they came")
    restored_s: NonNegative | None = Field(description="Until every copy was there again")
    given_up: bool = Field(description="Whether a failure came before all was prepared")
    key_groups: Rows = Field(description="That were taken over")
    replayed: NonNegative = Field(description="Records processed again")
    lost_key_groups: Rows = Field(description="Of which nobody had a copy left")
    predicted: ForetoldChangeModel | None = Field(description="What formulas say")


class RingNodeOverTimeModel(FileModel):
    """A node in each cell of time."""

    queue_records: list[NonNegative] = Field(description="Records that wait at its end")
    kept_records: list[NonNegative] = Field(description="Records that it keeps for others at its end")
    rate: list[NonNegative] = Field(description="Records per second that it processes as owner")
    busy: list[NonNegative] = Field(description="Share of time at work")


class RingNodeModel(FileModel):
    """A node that was on the ring at the begin or the end of the first run."""

    node: Id = Field(description="Node id")
    tokens_before: list[NonNegative] = Field(description="Its tokens at the begin")
    tokens: list[NonNegative] = Field(description="Its tokens at the end")
    failed: bool = Field(description="Whether it failed")
    over_time: RingNodeOverTimeModel = Field(description="In each cell of time")


class RingSimulationModel(SimulationModel):
    """A peer ring under load, its failures and its moves."""

    kind: Literal["ring"] = Field(description="What was simulated")
    runs: Rows = Field(description="Runs that were done")
    until_s: Positive = Field(description="When the input ended")
    replication: Index = Field(description="Backups of each key group")
    tick_s: Positive = Field(description="Seconds of input in a batch of a mapper")
    mappers: Index = Field(description="Mappers")
    pieces: Rows = Field(description="Places on the ring that are followed; key groups at one place move together")
    timing: RingTimingModel = Field(description="Of the protocol")
    failures: list[SimulatedFailureModel] = Field(description="What failed")
    summary: RingFiguresModel = Field(description="In a few numbers")
    records: RingRecordsModel = Field(description="What became of records")
    nothing_lost: bool = Field(description="Whether nothing is lost of which a copy should have been left, in all runs")
    faults: list[RingFaultModel] = Field(description="What is lost")
    changes: list[RingChangeModel] = Field(description="Changes of the ring, of all runs")
    time_s: list[Positive] = Field(description="When each cell of time ends")
    latency_s: list[NonNegative | None] = Field(
        description="From when records were sent until they counted, first run; null where none did"
    )
    nodes: list[RingNodeModel] = Field(description="Nodes in the first run")


MODEL = RingSimulationModel
