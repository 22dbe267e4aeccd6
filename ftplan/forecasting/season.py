"""The daily pattern of a series of windows."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray

DAY_S = 86400.0
#: Standard deviations by which the correlation with yesterday must differ from chance: 90 %, two-sided.
SIGNIFICANT = 1.645


def windows_a_day(window_s: float) -> int:
    """Return how many windows of *window_s* seconds make a day, 0 where a day is shorter than two windows."""
    return round(DAY_S / window_s) if window_s * 2.0 <= DAY_S else 0


def repeats(series: FloatArray, season: int) -> bool:
    """Return whether a series (W,) repeats every *season* windows; needs two whole seasons, cost O(W log W).

    The autocorrelation at the season, tested with Bartlett's limit, as [Makridakis2020] decide it. The means of the
    seasons are taken out before: a drift over days is no pattern.
    """
    windows = len(series)
    if season < 2 or windows < 2 * season:
        return False
    day = np.arange(windows - 1, -1, -1) // season  # counted from the end; the first may be a part of one
    counts = np.bincount(day)
    level = series - (np.bincount(day, weights=series) / counts)[day]
    spread = float(level @ level)
    if spread <= 1e-18 * float(series @ series):
        return False
    correlations = _autocorrelations(level, season) / spread
    limit = SIGNIFICANT * np.sqrt((1.0 + 2.0 * float(np.sum(correlations[1:season] ** 2))) / windows)
    return bool(correlations[season] > limit)


def _autocorrelations(series: FloatArray, most: int) -> FloatArray:
    """Return the sums of products of a series with itself, 0 to *most* windows later."""
    size = 1 << (len(series) + most).bit_length()
    transformed = np.fft.rfft(series, size)
    return np.asarray(np.fft.irfft(transformed * transformed.conj(), size)[: most + 1])
