"""The alarming threshold of a scale-out where none is given: the best one that the statistics have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.model.plan import Warn
from ftplan.planners.scale_out.algorithms.alarming import alarming_threshold
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.techniques.prepare import setup_seconds


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
    setup_windows = setup_seconds(prepared.setting, prepared.problem) / prepared.window_s
    made = alarming_threshold(prepared.scores, low, promote, setup_windows, options.ready, guess)
    front = tuple(
        {"alarming": point.threshold, "ready": point.ready, "backup_share": point.backup_share} for point in made.front
    )
    return prepared.alarmed_at(made.chosen.threshold), front, made.warnings
