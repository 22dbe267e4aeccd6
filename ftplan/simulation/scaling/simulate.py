"""From inputs and options to the answer of simulated scaling: what each mode does about bottlenecks, in all runs.

The answer says what each was like, and whether every record counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import FuzzyRules, scores
from ftplan.planners.scale_out.bottlenecks.histories import ScoreThresholds, timeline
from ftplan.planners.scale_out.problem import State
from ftplan.simulation.answer import Document, Simulation, cells, figure
from ftplan.simulation.registry import Report
from ftplan.simulation.scaling.job import ScalingJob
from ftplan.simulation.scaling.load import RateCurve, batched, curve, integral
from ftplan.simulation.scaling.options import NONE, PLANNED, RESTART, STEADY, ScalingSimulationOptions
from ftplan.simulation.scaling.run import ScalingOutcome, SplitFigures, run_scaling
from ftplan.simulation.scaling.scene import scene_of
from ftplan.simulation.scaling.setting import Detection, Ranges, RestartSetting, ScalingSetting, SplitOrder, Technique
from ftplan.simulation.scene import resolution


class ScalingSimulation(Simulation):
    """What came out of a simulation of scaling."""

    kind = "scaling"

    @property
    def unmet(self) -> str | None:
        """What is not exactly-once, None where nothing is."""
        faults = [(mode["mode"], fault) for mode in self.body["modes"] for fault in mode["faults"]]
        if not faults:
            return None
        mode, first = faults[0]
        batches = "1 batch" if first["batches"] == 1 else f"{first['batches']:,} batches"
        return f"not exactly once: {mode}: {first['operator']}: {batches} {first['what']}, the first {first['first']}"

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each mode and cell of time."""
        return self._frame("mode", self.body["modes"])


def body(
    job: ScalingJob, thresholds: ScoreThresholds, curve: RateCurve, every_s: float, options: ScalingSimulationOptions,
    modes: Sequence[Document],
) -> Document:  # fmt: skip
    """Return what the document holds beside what all documents do."""
    bins = int(curve.until_s / every_s + 1e-9)
    ends = every_s * np.arange(bins + 1.0)
    return {
        "runs": options.runs,
        "until_s": curve.until_s,
        "time_s": ends[1:].tolist(),
        "rate": (np.diff(integral(curve, ends)) * job.usual_records_s / every_s).tolist(),
        "window_s": options.window_s,
        "thresholds": thresholds._asdict(),
        "modes": list(modes),
    }


def mode_document(mode: str, job: ScalingJob, outcomes: Sequence[ScalingOutcome]) -> Document:
    """Return what all runs of a mode say together; lists over time are means over the runs, splits those of the first.

    A fault is told of every run.
    """
    first = outcomes[0]
    names = [operator.id for operator in job.operators]
    faults = [
        {**fault._asdict(), "operator": names[fault.operator], "run": run}
        for run, outcome in enumerate(outcomes)
        for fault in outcome.faults
    ]  # fmt: skip
    return {
        "mode": mode,
        "summary": {name: figure(np.array([_FIGURES[name](outcome) for outcome in outcomes])) for name in _FIGURES},
        "exactly_once": not faults,
        "faults": faults,
        "splits": [_split(item, names, job) for item in first.splits],
        "over_time": {
            "latency_s": _mean([outcome.latency_s for outcome in outcomes]),
            "throughput": _mean([outcome.throughput for outcome in outcomes]),
            "queue_records": _mean([outcome.queue.sum(axis=1) for outcome in outcomes]),
            "executors": _mean([outcome.most_executors.sum(axis=1).astype(np.float64) for outcome in outcomes]),
        },
        "operators": [
            {
                "operator": name,
                "queue_records": _mean([outcome.queue[:, number] for outcome in outcomes]),
                "executors": _mean([outcome.most_executors[:, number].astype(np.float64) for outcome in outcomes]),
                "scores": cells(first.scores[:, number]),
                "states": [
                    {"at_s": at_s, "state": state} for at_s, operator, state in first.changes if operator == number
                ],
            }
            for number, name in enumerate(names)
        ],
    }


def _pause(outcome: ScalingOutcome) -> float:
    return max((item.pause_s for item in outcome.splits if item.pause_s is not None), default=np.nan)


#: Figures of a run.
_FIGURES: Mapping[str, Callable[[ScalingOutcome], float]] = {
    "mean_latency_s": lambda outcome: float(np.nanmean(outcome.batch_latency_s)),
    "longest_latency_s": lambda outcome: float(np.nanmax(outcome.batch_latency_s)),
    "throughput": lambda outcome: float(outcome.throughput.mean()),
    "peak_queue_records": lambda outcome: float(outcome.queue.sum(axis=1).max(initial=0.0)),
    "longest_pause_s": _pause,
    "core_s": lambda outcome: outcome.core_s,
    "most_executors": lambda outcome: float(outcome.most_executors.sum(axis=1).max(initial=0)),
    "late_starts": lambda outcome: float(sum(item.late for item in outcome.splits)),
    "replayed": lambda outcome: sum(item.replayed for item in outcome.splits),
}


def _split(item: SplitFigures, names: Sequence[str], job: ScalingJob) -> Document:
    planned = None if job.planned is None else job.planned.get(item.operator)
    cost = None if planned is None else planned.predicted.get(item.technique)
    predicted = None
    if cost is not None and np.isfinite(cost.pause_s):
        predicted = {"pause_s": cost.pause_s, "extra_core_s": cost.extra_core_s}
    return {**item._asdict(), "operator": names[item.operator], "predicted": predicted}


def _mean(values: Sequence[FloatArray]) -> list[float | None]:
    stacked = np.array(values)
    known = np.isfinite(stacked)
    count = known.sum(axis=0)
    mean = np.divide(np.where(known, stacked, 0.0).sum(axis=0), count, out=np.full(len(count), np.nan), where=count > 0)
    return cells(mean)


#: Where a plan's splits begin, as a share of the time, and seconds between those that free cores and the others.
AT, APART_S = 0.2, 10.0
#: Windows for which a score stays low before an operator has too many tasks.
HOLD = 3
#: What splits an operator whose plan does not say how.
DEFAULT_TECHNIQUE: Technique = "checkpoint"
#: Modes where nobody asks for any, with a plan and without.
WITH_PLAN, WITHOUT_PLAN = (NONE, PLANNED), (NONE, RESTART, "checkpoint", "active-backup")


def simulate(
    problem: Problem, plan: Any, request: ScalingSimulationOptions, progress: Report | None
) -> ScalingSimulation:
    """Simulate a job whose load changes, and operators that are split when they become bottlenecks.

    *plan*: a scale-out, operators are split as it says; None: twice the tasks, of a topology with statistics or not,
    or without all of them of the job of the paper's experiment.

    Raises FtplanError if an input is missing or does not fit.
    """
    modes = request.mode or (WITHOUT_PLAN if plan is None else WITH_PLAN)
    if plan is None and PLANNED in modes:
        raise FtplanError(f"--mode: {PLANNED} is as PLAN says, and none is given")
    scene = scene_of(problem, plan, request)
    job = scene.job
    over_time = curve(request, job.default_load, job.usual_records_s, job.measured)
    every_s = resolution(over_time.until_s, request.every_s)
    detects = detection(scene.rules, scene.thresholds, request)
    documents = []
    for number, mode in enumerate(modes):
        outcomes = []
        for run in range(request.runs):
            drawn = None if request.runs == 1 else run
            outcomes.append(run_scaling(setting_of(job, mode, over_time, detects, request, every_s, drawn)))
            if progress is not None:
                share = (number * request.runs + run + 1) / (len(modes) * request.runs)
                progress(f"{mode}, run {run + 1:,} of {request.runs:,}", share)
        documents.append(mode_document(mode, job, outcomes))
    contents = body(job, scene.thresholds, over_time, every_s, request, documents)
    return ScalingSimulation(request, contents, scene.inputs, scene.warnings)


def detection(rules: FuzzyRules, thresholds: ScoreThresholds, options: ScalingSimulationOptions) -> Detection:
    """Return how bottlenecks are detected: fuzzy scores and states [Mudassar2019, algorithm 1].

    Nobody acts on scores below the threshold of scaling in, as the paper's experiments did not.
    """

    def state(own: Sequence[float]) -> State:
        return timeline(own, thresholds, 0.0, HOLD).states[-1]

    return Detection(options.window_s, partial(scores, rules), state, options.rest_s)


def setting_of(
    job: ScalingJob, mode: str, given: RateCurve, detects: Detection, options: ScalingSimulationOptions,
    every_s: float, run: int | None,
) -> ScalingSetting:  # fmt: skip  # what a run differs by, each by itself
    """Return what is simulated in a mode and a run; None is the run in which all is as expected."""
    random = None if run is None else np.random.default_rng((options.seed, run))
    technique = _techniques(job, mode)
    orders = () if mode in (NONE, RESTART) else _orders(job, technique, given, options, random)
    restart = None
    if mode == RESTART:
        at_s = options.restart_at_s
        if not at_s and (planned := _split_at(job, given, options)) is not None:
            at_s = (planned,)
        restart = RestartSetting(
            options.storm_interval_s, options.storm_overhead_s, options.restart_time_s, options.reaction_s, at_s,
            tuple(job.planned or ()),
        )  # fmt: skip
    return ScalingSetting(
        operators=job.operators,
        load=batched(given, options, job.usual_records_s, random, sum(item.parallelism for item in job.operators)),
        ranges=_never if mode == NONE else job.ranges,
        techniques=technique,
        until_s=given.until_s,
        every_s=every_s,
        split=job.split,
        detection=detects,
        orders=orders,
        by_orders=bool(orders),
        restart=restart,
        intervals=job.intervals,
    )


def _never(operator: int, parallelism: int) -> Ranges | None:
    return None


def _techniques(job: ScalingJob, mode: str) -> dict[int, Technique]:
    """Return the technique of each operator with keyed state."""
    own: dict[int, Any] = {}
    for number, operator in enumerate(job.operators):
        if operator.key_groups:
            planned = None if job.planned is None or number not in job.planned else job.planned[number].technique
            own[number] = (planned or DEFAULT_TECHNIQUE) if mode in (PLANNED, NONE, RESTART) else mode
    return own


def _split_at(job: ScalingJob, given: RateCurve, options: ScalingSimulationOptions) -> float | None:
    """Return when operators are split; None where their scores say so."""
    if options.split_at_s is not None:
        return options.split_at_s
    steady = (options.load or job.default_load) == STEADY
    return AT * given.until_s if job.planned is not None and steady else None


def _orders(
    job: ScalingJob, technique: dict[int, Technique], given: RateCurve, options: ScalingSimulationOptions,
    random: np.random.Generator | None,
) -> tuple[SplitOrder, ...]:  # fmt: skip
    """Return the splits at given times: those that free cores first, then the others; each prepared in time."""
    at_s = _split_at(job, given, options)
    if at_s is None:
        return ()
    planned = job.planned or {}
    numbers = list(planned) or [number for number, operator in enumerate(job.operators) if operator.scales]
    ready, ends_s = {}, [at_s]
    for number in numbers:
        cost = planned[number].predicted.get(technique.get(number)) if number in planned else None
        ready[number] = job.split.setup_s if cost is None or cost.why_not is not None else cost.ready_s
        if number in planned and planned[number].first:
            ends_s.append(at_s + APART_S + (cost.pause_s if cost is not None and np.isfinite(cost.pause_s) else 0.0))
    orders = []
    for number in numbers:
        promote_s = at_s if number not in planned or planned[number].first else max(ends_s)
        earlier = 0.0 if random is None else random.uniform(0.0, job.intervals.get(number, 0.0))
        orders.append(SplitOrder(number, max(promote_s - ready[number] - earlier, 0.0), promote_s))
    return tuple(orders)
