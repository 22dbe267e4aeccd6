"""How much of the state an incremental checkpoint holds, as far as loads by window tell."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray


def most_touched(
    records: FloatArray, state: FloatArray, whole: BoolArray, window_s: float, interval_s: float
) -> float | None:
    """Return the largest share of the state that a checkpoint can hold on average; None where there is no state.

    A checkpoint holds the key groups of which a record came in the interval before it. A record is in the checkpoints
    of one interval's time, and those of a window end within it or an interval later: so that n records in a window of
    length w are in those of min(n T, w + T) of the time. Intervals longer than a window are held against as many whole
    windows as fit. Of the keys within a key group nothing is known: checkpoints by key are smaller ([Kumbhare2015],
    fig. 7). Cost O(W K) for W windows and K key groups.

    Parameters
    ----------
    records
        (W, K) in each window.
    state
        (K,) bytes.
    whole
        (K,) whose checkpoints are full.
    """
    total = float(state.sum())
    if total <= 0.0 or len(records) == 0:
        return None
    together = min(max(int(interval_s // window_s), 1), len(records))
    starts = np.arange(0, len(records), together)
    lengths = np.diff(np.append(starts, len(records)))[:, None] * window_s
    blocks = np.add.reduceat(records, starts, axis=0)
    covered = np.minimum(blocks * interval_s, lengths + interval_s).sum(axis=0) / (len(records) * window_s)
    held = np.where(whole, 1.0, np.minimum(covered, 1.0))
    return min(float((held * state).sum()) / total, 1.0)
