"""What is measured, on observations written down by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.model.topology import FloatArray
from ftplan.simulation.dataflow.job import Observed
from ftplan.simulation.recovery.outcome import QuerySeries, RecoveryOutcome, summarise
from ftplan.simulation.recovery.series import members_of, query_series
from tests.simulation.recovery.cases import chain, diamond, failure, fork, observed, setting


def trace_of(seen: Observed, job=None) -> RecoveryOutcome:  # type: ignore[no-untyped-def]
    made = setting("incremental", chain() if job is None else job, [failure([2])])
    return RecoveryOutcome(made, seen, (), np.full(made.job.tasks, np.nan))


def latencies(mean: list[float], before: int = 4) -> Observed:
    """One query with 20 records a second and these latencies, 0 for no output; the failure comes after *before*."""
    bins = len(mean)
    finished, total = np.zeros((bins, 3)), np.zeros((bins, 3))
    finished[:, 2] = [20.0 if item else 0.0 for item in mean]
    total[:, 2] = np.array(mean) * finished[:, 2]
    seen = observed(np.zeros((bins, 3)), latency_s=total, finished=finished, received=np.zeros((bins, 2), dtype=int))
    seen.start_s = -float(before)
    return seen


def test_relative_latency_is_that_of_the_paper() -> None:
    series = query_series(trace_of(latencies([2.0, 2.0, 2.0, 2.0, 0.0, 6.0, 3.0, 2.0])), slide_s=0.0)
    assert series.query.tolist() == [2]
    assert series.time_s.tolist() == [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(series.latency_s[:, 0], [2, 2, 2, 2, np.nan, 6, 3, 2])
    np.testing.assert_array_equal(series.relative_latency[:, 0], [1, 1, 1, 1, np.nan, 3, 1.5, 1])


def test_the_wait_for_a_window_is_added_to_both() -> None:
    series = query_series(trace_of(latencies([0.1] * 4 + [0.3])), slide_s=2.0)
    assert series.relative_latency[-1, 0] == pytest.approx(1.3 / 1.1)
    assert query_series(trace_of(latencies([0.1] * 4 + [0.3]))).relative_latency[-1, 0] == pytest.approx(2.8 / 2.6)


def test_available_is_the_mean_over_the_window() -> None:
    seen = latencies([2.0] * 4 + [0.0, 0.0, 0.0, 2.6, 2.6, 2.0, 2.0])
    short = query_series(trace_of(seen), window_s=1.0, slide_s=0.0).available[4:, 0]
    assert short.tolist() == [False, False, False, False, False, True, True]
    long = query_series(trace_of(seen), window_s=3.0, slide_s=0.0).available[4:, 0]
    # The means of what came out: 2, 2, nothing, 2.6, 2.6, 2.4, 2.2; the threshold is 2.4.
    assert long.tolist() == [True, True, False, False, False, False, True]
    loose = query_series(trace_of(seen), window_s=3.0, threshold=1.31, slide_s=0.0).available[4:, 0]
    assert loose.tolist() == [True, True, False, True, True, True, True]


def test_a_query_of_few_records_is_available_while_it_keeps_up() -> None:
    """A record in half a minute, and later a task that is stuck for 5 s; batches are half a second."""
    job = chain()
    seen = latencies([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    processed = np.array([2, 4, 6, 8, -1, 8, 8, 16])[:, None] * np.ones((1, 3), dtype=int) - 1
    trace = trace_of(replace(seen, processed=np.maximum(processed, -1)), replace(job, rate=job.rate / 600.0))
    expected = [True] * 4 + [False] * 3 + [True]
    assert query_series(trace, window_s=1.0).available[:, 0].tolist() == expected
    rare = replace(job, rate=job.rate / 1e6)
    never = trace_of(replace(latencies([0.0] * 8), processed=np.maximum(processed, -1)), rare)
    assert query_series(never, window_s=1.0).available[:, 0].tolist() == expected


def test_members_are_an_output_task_and_all_that_feeds_it() -> None:
    assert members_of(fork(), np.array([2, 3])).tolist() == [[1, 1], [1, 1], [1, 0], [0, 1]]
    assert members_of(diamond(), np.array([3])).tolist() == [[1], [1], [1], [1]]
    assert members_of(fork(), np.array([1, 3])).tolist() == [[1, 1], [1, 1], [0, 0], [0, 1]]


def test_queues_and_lag() -> None:
    """The chain reads 20 records a second, 10 a batch; a batch is half a second, a bin a second."""
    processed = np.array([[2, 2, 2], [3, 2, -1], [-1, -1, -1], [-1, 3, 1], [4, 4, 4]])
    received = np.array([[2, 2], [3, 2], [-1, -1], [5, 3], [4, 4]])
    seen = latencies([1.0, 0.0, 0.0, 0.0, 0.0], before=1)
    seen = replace(seen, processed=processed, received=received)
    series = query_series(trace_of(seen))
    # The log has 20, 40, 60, 80, 100 records. While the source is down, the 30 that it had read count.
    assert series.lag_records.tolist() == [0.0, 10.0, 30.0, 50.0, 60.0]
    waiting_later = [0.0, 10.0, 0.0, 20.0 + 20.0, 0.0]
    assert series.queue_records[:, 0].tolist() == [
        a + b for a, b in zip(series.lag_records, waiting_later, strict=True)
    ]


def test_lag_within_a_batch_is_even() -> None:
    seen = latencies([1.0] * 4, before=2)
    seen = replace(seen, bin_s=0.25, start_s=-0.5, processed=np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]))
    assert query_series(trace_of(seen)).lag_records.tolist() == [5.0, 0.0, 5.0, 10.0]


def test_buffers_hold_what_was_sent_since_the_last_checkpoint() -> None:
    """Of a record 100 bytes are kept; sources keep their logs, output tasks send nothing."""
    seen = latencies([1.0] * 4, before=1)
    processed = np.array([[2, 2, 2, 2], [4, 4, 3, 3], [5, 5, -1, 4], [6, -1, 5, 5]])
    seen = replace(
        seen,
        processed=processed,
        received=np.zeros((4, 3), dtype=int),
        trimmed=np.array([0, 2, 2, 2]),
        buffering=np.array([False, True, True, True]),
        latency_s=np.ones((4, 4)),
        finished=np.ones((4, 4)),
        duplicates=np.array([[0, 0, 0, 0], [0, 5, 2, 0], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=float),
    )
    trace = trace_of(seen, fork())
    series = query_series(trace)
    assert series.buffered_bytes.tolist() == [[0, 0], [4000, 4000], [6000, 6000], [0, 0]]  # 1 sends to 2 and to 3
    assert series.duplicates.tolist() == [[0, 0], [7, 5], [0, 1], [0, 0]]
    total = summarise(trace, series, np.ones(2), memory_bytes=1000.0)
    assert total.peak_buffer_bytes == 6000.0
    assert total.spilled_bytes == 5000.0
    assert total.duplicates == 8.0


def summary_series(available: list[list[bool]], lag: list[float], before: float) -> tuple[RecoveryOutcome, QuerySeries]:
    bins, queries = np.array(available).shape
    seen = observed(np.zeros((bins, 4)), received=np.zeros((bins, 3), dtype=int))
    seen.start_s = -before
    time_s: FloatArray = np.arange(1.0, bins + 1.0) - before
    nothing, none = np.zeros((bins, queries)), np.zeros(bins)
    kept = nothing, nothing, np.array(available), nothing, nothing, nothing, np.array(lag), none, none
    made = QuerySeries(np.array([2, 3]), time_s, *kept)
    return trace_of(seen, fork()), made


def test_a_summary_counts_the_seconds_after_the_failure() -> None:
    available = [[False, True], [True, True], [False, True], [False, True], [True, True], [False, True], [True, True]]
    trace, series = summary_series(available, [2.0, 4.0, 13.0, 23.0, 13.0, 3.0, 1.0], before=2.0)
    made = summarise(trace, series, np.array([3.0, 1.0]))
    assert made.down_s == (3.0, 0.0)
    assert made.back_s == (4.0, 0.0)
    assert made.first_back_s == made.last_back_s == 4.0
    assert made.priority_down_s == 9.0
    assert made.peak_lag_records == 23.0
    assert made.lag_record_s == 10.0 + 20.0 + 10.0


def test_a_bin_that_the_failure_cuts_counts_in_part() -> None:
    trace, series = summary_series([[True, True], [False, False], [False, False], [True, True]], [0.0] * 4, before=1.25)
    assert summarise(trace, series, np.ones(2)).down_s == (1.75, 1.75)
    assert summarise(trace, series, np.ones(2)).back_s == (1.75, 1.75)


@pytest.mark.parametrize("second", [True, False])
def test_a_query_that_is_not_back_has_no_time(second: bool) -> None:
    available = [[True, True], [False, False], [False, True], [False, second]]
    trace, series = summary_series(available, [0.0] * 4, before=1.0)
    made = summarise(trace, series, np.ones(2))
    assert made.back_s == (None, 1.0 if second else None)
    assert made.first_back_s == (1.0 if second else None)
    assert made.last_back_s is None
