"""A short forecast, for ``ftplan doctor``."""

from __future__ import annotations


def smoothing() -> str:
    """Fit exponential smoothing to a few numbers."""
    import numpy as np
    import statsmodels

    from ftplan.planners.scale_out.forecasting.smoothing import smoothed

    series = np.array([10.0 + k % 4 for k in range(24)])
    if not np.isfinite(smoothed(series, 4, 20).ahead(np.array([20]), 4)).all():
        raise ArithmeticError("the forecast is no number")
    return f"statsmodels {statsmodels.__version__}"
