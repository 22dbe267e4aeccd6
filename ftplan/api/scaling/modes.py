"""What each mode of a simulation does about bottlenecks, and when."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ftplan.api.scaling.load import RateCurve, batched
from ftplan.api.scaling.options import NONE, PLANNED, RESTART, STEADY, ScalingSimulationOptions
from ftplan.api.scaling.scene import ScalingScene
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import FuzzyRules, scores
from ftplan.planners.scale_out.bottlenecks.states import ScoreThresholds, timeline
from ftplan.planners.scale_out.problem import State
from ftplan.simulation.scaling.setting import Detection, Ranges, RestartSetting, ScalingSetting, SplitOrder, Technique

#: Where a plan's splits begin, as a share of the time, and seconds between those that free cores and the others.
AT, APART_S = 0.2, 10.0
#: Windows for which a score stays low before an operator has too many tasks.
HOLD = 3
#: What splits an operator whose plan does not say how.
DEFAULT_TECHNIQUE: Technique = "checkpoint"


def detection(rules: FuzzyRules, thresholds: ScoreThresholds, options: ScalingSimulationOptions) -> Detection:
    """Return how bottlenecks are detected: fuzzy scores and states [Mudassar2019, algorithm 1].

    Nobody acts on scores below the threshold of scaling in, as the paper's experiments did not.
    """

    def state(own: Sequence[float]) -> State:
        return timeline(own, thresholds, 0.0, HOLD).states[-1]

    return Detection(options.window_s, partial(scores, rules), state, options.rest_s)


def setting_of(
    scene: ScalingScene, mode: str, given: RateCurve, detects: Detection, options: ScalingSimulationOptions,
    every_s: float, run: int | None,
) -> ScalingSetting:  # fmt: skip  # what a run differs by, each by itself
    """Return what is simulated in a mode and a run; None is the run in which all is as expected."""
    random = None if run is None else np.random.default_rng((options.seed, run))
    technique = _techniques(scene, mode)
    orders = () if mode in (NONE, RESTART) else _orders(scene, technique, given, options, random)
    restart = None
    if mode == RESTART:
        at_s = options.restart_at_s
        if not at_s and (planned := _split_at(scene, given, options)) is not None:
            at_s = (planned,)
        restart = RestartSetting(
            options.storm_interval_s, options.storm_overhead_s, options.restart_time_s, options.reaction_s, at_s,
            tuple(scene.planned or ()),
        )  # fmt: skip
    return ScalingSetting(
        operators=scene.operators,
        load=batched(given, options, scene.usual_records_s, random, sum(item.parallelism for item in scene.operators)),
        ranges=_never if mode == NONE else scene.ranges,
        techniques=technique,
        until_s=given.until_s,
        every_s=every_s,
        split=scene.split,
        detection=detects,
        orders=orders,
        by_orders=bool(orders),
        restart=restart,
        intervals=scene.intervals,
    )


def _never(operator: int, parallelism: int) -> Ranges | None:
    return None


def _techniques(scene: ScalingScene, mode: str) -> dict[int, Technique]:
    """Return the technique of each operator with keyed state."""
    own: dict[int, Any] = {}
    for number, operator in enumerate(scene.operators):
        if operator.key_groups:
            planned = None if scene.planned is None or number not in scene.planned else scene.planned[number].technique
            own[number] = (planned or DEFAULT_TECHNIQUE) if mode in (PLANNED, NONE, RESTART) else mode
    return own


def _split_at(scene: ScalingScene, given: RateCurve, options: ScalingSimulationOptions) -> float | None:
    """Return when operators are split; None where their scores say so."""
    if options.split_at_s is not None:
        return options.split_at_s
    steady = (options.load or scene.default_load) == STEADY
    return AT * given.until_s if scene.planned is not None and steady else None


def _orders(
    scene: ScalingScene, technique: dict[int, Technique], given: RateCurve, options: ScalingSimulationOptions,
    random: np.random.Generator | None,
) -> tuple[SplitOrder, ...]:  # fmt: skip
    """Return the splits at given times: those that free cores first, then the others; each prepared in time."""
    at_s = _split_at(scene, given, options)
    if at_s is None:
        return ()
    planned = scene.planned or {}
    numbers = list(planned) or [number for number, operator in enumerate(scene.operators) if operator.scales]
    ready, ends_s = {}, [at_s]
    for number in numbers:
        cost = planned[number].foretold.get(technique.get(number)) if number in planned else None
        ready[number] = scene.split.setup_s if cost is None or cost.why_not is not None else cost.ready_s
        if number in planned and planned[number].first:
            ends_s.append(at_s + APART_S + (cost.pause_s if cost is not None and np.isfinite(cost.pause_s) else 0.0))
    orders = []
    for number in numbers:
        promote_s = at_s if number not in planned or planned[number].first else max(ends_s)
        earlier = 0.0 if random is None else random.uniform(0.0, scene.intervals.get(number, 0.0))
        orders.append(SplitOrder(number, max(promote_s - ready[number] - earlier, 0.0), promote_s))
    return tuple(orders)
