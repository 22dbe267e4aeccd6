"""What can be said of a simulated recovery in a few numbers."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.simulation.recovery.trace import QuerySeries, RecoverySummary, RecoveryTrace


def summarise(
    trace: RecoveryTrace, series: QuerySeries, priority: FloatArray, memory_bytes: float = np.inf
) -> RecoverySummary:
    """Return the summary of a recovery.

    Parameters
    ----------
    priority
        Of each query, in the order of ``series.query``, shape (queries,).
    memory_bytes
        For what tasks keep of their output; what is beyond it is spilled to disk.
    """
    raise NotImplementedError
