"""When simulations end where nobody says: once all queries are back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.simulation.recovery.contenders import Contender
from ftplan.simulation.recovery.options import LONGEST_S
from ftplan.simulation.recovery.runs import simulated, too_short
from ftplan.simulation.recovery.scene import Scene
from ftplan.simulation.recovery.times import MOST_TIMES, resolution

#: Seconds from when the last query is back to the end.
REST_S = 60.0
#: Runs that are tried, and how much longer those may take that are not.
FIRST, MARGIN = 5, 1.25
#: Batches on streams that are simulated within a few seconds: no other process has to be able to end that.
QUICK = 20_000_000


def until_back(scene: Scene, contenders: Sequence[Contender], ends: float | None) -> Scene:
    """Return the scene with an end such that all queries are back by then, whoever recovers.

    Each contender is tried to the scene's own end, then twice as long while a query is not back, and so on, to
    :data:`MOST_TIMES` as long: in all runs, or the first :data:`FIRST` (one under a time limit); others get a quarter
    more. What does not come back by then does not count. A scene that is told when to end stays as it is.

    Raises
    ------
    FtplanError
        If the time limit does not last for this.
    """
    if scene.options.until_s is not None:
        return scene
    asked = scene.options.runs if scene.options.time_limit_s is None else 1
    runs, many = min(asked, FIRST), len(contenders)
    tried, until_s, last_s = scene, scene.until_s, 0.0
    left = set(range(many))
    while left and until_s <= min(MOST_TIMES * scene.until_s, LONGEST_S):
        tried = _ending(tried, until_s)
        numbers = [run * many + which for run in range(runs) for which in sorted(left)]
        limit = None if _batches(tried) * len(numbers) <= QUICK else ends
        done = [one for several in simulated(tried, contenders, numbers, limit) for one in several]
        if len(done) < len(numbers):
            raise too_short(scene)
        last_s = max([last_s, *(moment for one in done for moment in one.summary.back_s if moment is not None)])
        left = {one.number % many for one in done if _one_is_not_back(one.summary.down_s, one.summary.back_s)}
        until_s *= 2.0
    margin = 1.0 if runs == scene.options.runs else MARGIN
    return _ending(scene, max(scene.until_s, float(np.ceil((margin * last_s + REST_S) / 60.0) * 60.0)))


def _one_is_not_back(down_s: Sequence[float], back_s: Sequence[float | None]) -> bool:
    return any(moment is None and seconds > 0.0 for seconds, moment in zip(down_s, back_s, strict=True))


def _batches(scene: Scene) -> float:
    """Return how many batches tasks and streams get at most; before the failure lies a whole interval, or more."""
    job = scene.running.job
    return (job.tasks + len(job.sender)) * (scene.options.warm_up_s + scene.checkpoint_s + scene.until_s) / job.batch_s


def _ending(scene: Scene, until_s: float) -> Scene:
    return replace(scene, until_s=until_s, every_s=resolution(until_s, scene.options.every_s))
