"""What the cost of replacing tasks depends on, beside the tasks. Shapes: O operators of a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.defaults import DELAY_S


class OperatorSetting(NamedTuple):
    """The fields of :class:`TechniqueSetting` for one operator; *input_bytes* a second come into it."""

    lead_s: float
    interval_s: float
    regular: bool
    input_bytes: float
    queue_s: float

    def lead(self, ready_s: float) -> float:
        """Return how long before the promotion it is prepared, by a technique that takes so long."""
        return ready_s if math.isnan(self.lead_s) else self.lead_s


@dataclass(frozen=True, eq=False)
class TechniqueSetting:
    """What the cost of replacing tasks depends on: numbers, or arrays of shape (O,), one value for each operator.

    Attributes
    ----------
    setup_s
        Seconds that new tasks take to start, without state.
    bandwidth_mb_s
        Into and out of a node, or of each task without a cluster, in units of 2^20 bytes per second.
    lead_s
        Seconds from when an operator is prepared until it is promoted or normal again. 0 where it went straight past
        the promotion; NaN where nothing presses, so that it is prepared exactly as long before as that takes.
    interval_s
        Between checkpoints of an operator that is prepared.
    regular
        Whether it makes checkpoints at that interval in any case, so that they cost nothing extra.
    rate, record_bytes
        Records per second into the operator, and the size of one, for what is sent again from upstream buffers.
    serialisation_mb_s
        At which state is serialised, and read again.
    delay_s
        Of a message.
    queue_s
        Time that a message waits in the input queue of a new task: C of [Madsen2015].
    remote
        Checkpoints lie in a store that is as far from every node.
    """

    setup_s: float
    bandwidth_mb_s: float
    lead_s: ArrayLike = math.nan
    interval_s: ArrayLike = 60.0
    regular: ArrayLike = False
    rate: ArrayLike = 0.0
    record_bytes: ArrayLike = 0.0
    serialisation_mb_s: float = math.inf
    delay_s: float = DELAY_S
    queue_s: ArrayLike = DELAY_S
    remote: bool = False

    def of(self, operator: int, pressed: bool) -> OperatorSetting:
        """Return the values for one operator, by number; *pressed* is whether its promotion may come too early."""

        def value(given: ArrayLike) -> float:
            array = np.asarray(given, dtype=np.float64)
            return float(array if array.ndim == 0 else array[operator])

        return OperatorSetting(
            value(self.lead_s) if pressed else math.nan,
            value(self.interval_s),
            value(self.regular) > 0.0,
            value(self.rate) * value(self.record_bytes),
            value(self.queue_s),
        )
