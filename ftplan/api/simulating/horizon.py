"""When simulations end where nobody says: once all queries are back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.api.simulating.options import LONGEST_S
from ftplan.api.simulating.runs import simulated, too_short
from ftplan.api.simulating.scene import Scene
from ftplan.api.simulating.settings import Contender
from ftplan.api.simulating.times import MOST_TIMES, resolution

#: Seconds from when the last query is back to the end.
REST_S = 60.0
#: Batches on streams that are simulated within a few seconds: no other process has to be able to end that.
QUICK = 20_000_000


def until_back(scene: Scene, contenders: Sequence[Contender], ends: float | None) -> Scene:
    """Return the scene with an end such that all queries are back by then, whoever recovers.

    Each contender is tried to the scene's own end, then twice as long while a query is not back, and so on, to
    :data:`MOST_TIMES` as long: in the one run that there is, or with all arrivals at their latest and the oldest
    checkpoint. What does not come back by then does not count. A scene that is told when to end stays as it is.

    Raises
    ------
    FtplanError
        If the time limit does not last for this.
    """
    if scene.options.until_s is not None:
        return scene
    tried, until_s, last_s = _worst(scene), scene.until_s, 0.0
    left = list(range(len(contenders)))
    while left and until_s <= min(MOST_TIMES * scene.until_s, LONGEST_S):
        tried = _ending(tried, until_s)
        limit = None if _batches(tried) * len(left) <= QUICK else ends
        runs = [run for runs in simulated(tried, contenders, left, limit) for run in runs]
        if len(runs) < len(left):
            raise too_short(scene)
        last_s = max([last_s, *(moment for run in runs for moment in run.summary.back_s if moment is not None)])
        left = [run.number for run in runs if _one_is_not_back(run.summary.down_s, run.summary.back_s)]
        until_s *= 2.0
    return _ending(scene, max(scene.until_s, float(np.ceil((last_s + REST_S) / 60.0) * 60.0)))


def _one_is_not_back(down_s: Sequence[float], back_s: Sequence[float | None]) -> bool:
    return any(moment is None and seconds > 0.0 for seconds, moment in zip(down_s, back_s, strict=True))


def _batches(scene: Scene) -> float:
    """Return how many batches tasks and streams get at most; before the failure lies a whole interval, or more."""
    job = scene.running.job
    return (job.tasks + len(job.sender)) * (scene.options.warm_up_s + scene.checkpoint_s + scene.until_s) / job.batch_s


def _worst(scene: Scene) -> Scene:
    """Return a scene of one run: as it is, or the slowest of several."""
    options = scene.options
    if options.runs == 1:
        return scene
    arrivals = tuple(replace(item, at_s=(item.at_s[1], item.at_s[1])) for item in scene.arrivals)
    age_s = scene.checkpoint_s if options.checkpoint_age_s is None else options.checkpoint_age_s
    return replace(scene, arrivals=arrivals, options=replace(options, runs=1, checkpoint_age_s=age_s))


def _ending(scene: Scene, until_s: float) -> Scene:
    return replace(scene, until_s=until_s, every_s=resolution(until_s, scene.options.every_s))
