"""The answer of a simulation of scaling: what each mode was like, and whether every record counted once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.bottlenecks.states import ScoreThresholds
from ftplan.simulation.answer import Document, Simulation, cells, figure
from ftplan.simulation.scaling.job import ScalingJob
from ftplan.simulation.scaling.load import RateCurve, integral
from ftplan.simulation.scaling.options import ScalingSimulationOptions
from ftplan.simulation.scaling.outcome import ScalingOutcome, SplitFigures


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
