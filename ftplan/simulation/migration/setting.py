"""What the simulation of a migration is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class RecordTiming(NamedTuple):
    """A record that an upstream instance makes: seconds after its last one, on the way, and waiting at a node."""

    gap_s: float
    delay_s: float
    queue_s: float


class MessageTiming(NamedTuple):
    """How long a message of the protocol is on the way, and, unless it is fast, waits at its receiver."""

    delay_s: float
    queue_s: float


@dataclass(frozen=True, eq=False)
class MoveSetting:
    """One key group and how it moves."""

    protocol: str  # A key of :data:`ftplan.simulation.migration.protocols.PROTOCOLS`
    #: ``source``, ``target``: nodes, by number
    source: int
    target: int
    upstreams: int  # upstream instances
    #: Yields the records of an upstream instance, by number; the same ones each time
    records: Callable[[int], Iterator[RecordTiming]]
    waiting: Callable[[], MessageTiming]  # draws what one message of the protocol takes
    #: ``record_time_s``, ``record_bytes``: of one record at a node and in a buffer
    record_time_s: float
    record_bytes: float = 0.0
    state_bytes: float = 0.0  # of the group
    #: ``age_s``, ``interval_s``: of the newest checkpoint when the move is ordered, and until the next one
    age_s: float = 0.0
    interval_s: float = np.inf
    #: ``bytes_s``, ``serialisation_s``: bytes per second of a transfer; and of writing state down, or reading it
    bytes_s: float = np.inf
    serialisation_s: float = np.inf
    restart_s: float = 0.0  # until a node that turns a checkpoint into state works
    detection_s: float = 0.0  # until it is noticed that the old node is gone, for protocols that come after its loss
    #: Whether, with cpal, the new node works off what waits there before it is synchronised with the old one; the
    #: listing of algorithm 2 has it synchronised at once
    catch_up_first: bool = True
    warm_up_s: float = 0.0  # seconds of records before the last checkpoint
    tail: int = 3  # records of each upstream instance after the move
    #: Of all upstream instances together: there are no more when a move has not come to its end by then
    most_records: float = np.inf
