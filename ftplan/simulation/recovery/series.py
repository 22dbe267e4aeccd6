"""Queries over time: latency, availability, queues, buffers, duplicates, and the lag of the sources."""

from __future__ import annotations

from ftplan.simulation.recovery.trace import QuerySeries, RecoveryTrace


def query_series(trace: RecoveryTrace, window_s: float = 10.0, threshold: float = 1.2) -> QuerySeries:
    """Return what each query was like over time.

    A query is available while the mean of its relative latency over the last *window_s* seconds (Δ_T) is below
    *threshold* (Θ) and it had output in them ([SuZhouTR], section 7.2).

    Raises
    ------
    FtplanError
        If a task cannot keep up with its input, so that there is no latency to compare with.
    """
    raise NotImplementedError
