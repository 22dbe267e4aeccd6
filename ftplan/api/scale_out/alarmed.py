"""The alarming threshold of a scale-out where none is given: the best one that the statistics have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ftplan.api.scale_out.options import ScaleOutOptions
from ftplan.api.scale_out.problem import PreparedScaling
from ftplan.metrics.scaling_effects import largest_state
from ftplan.model.plan import Warn
from ftplan.model.topology import IntArray
from ftplan.model.units import MB
from ftplan.planners.scale_out.alarming import alarming_threshold

#: Digits behind the point of a threshold that was chosen; it is rounded down, so that it still is reached.
DIGITS = 9


def alarmed(
    prepared: PreparedScaling, options: ScaleOutOptions
) -> tuple[PreparedScaling, tuple[Mapping[str, Any], ...], tuple[Warn, ...]]:
    """Return the question with the alarming threshold that is asked for, or with the best one.

    Also what the thresholds that are worth a look would have meant in the statistics, and what there is to say.
    """
    if options.alarming != "auto":
        return prepared, (), ()
    low, promote = prepared.thresholds.scale_in, prepared.thresholds.promote
    guess = prepared.thresholds.alarming
    made = alarming_threshold(prepared.scores, low, promote, _setup_windows(prepared), options.ready, guess)
    threshold = math.floor(made.chosen.threshold * 10**DIGITS) / 10**DIGITS
    front = tuple(
        {"alarming": point.threshold, "ready": point.ready, "backup_share": point.backup_share} for point in made.front
    )
    return prepared.alarmed_at(threshold if threshold > low else made.chosen.threshold), front, made.warnings


def _setup_windows(prepared: PreparedScaling) -> IntArray:
    """Return how many windows it takes until a secondary of each operator is ready, (O,): it starts, and gets state."""
    setting = prepared.setting
    copies = np.array([largest_state(operator, None) for operator in prepared.problem.operators])
    seconds = setting.setup_s + copies / (setting.bandwidth_mb_s * MB)
    return np.ceil(seconds / prepared.window_s - 1e-9).astype(np.int64)
