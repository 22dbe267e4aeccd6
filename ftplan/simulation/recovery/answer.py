"""The answer of a simulated recovery: what each way to recover was like, and how they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.plan import InputFile, Warn, canonical_json
from ftplan.model.topology import FloatArray
from ftplan.simulation.answer import Document, figure, mean_interval, simulation_document
from ftplan.simulation.recovery.contenders import Contender
from ftplan.simulation.recovery.options import RecoverySimulationOptions
from ftplan.simulation.recovery.outcome import ControlEvent, RecoverySummary
from ftplan.simulation.recovery.runs import SimulatedRuns
from ftplan.simulation.recovery.scene import RecoveryScene

#: Figures of a recovery by name, the less the better.
FIGURES = (
    "priority_down_s",
    "first_back_s",
    "last_back_s",
    "peak_lag_records",
    "lag_record_s",
    "peak_queue_records",
    "peak_buffer_bytes",
    "spilled_bytes",
    "duplicates",
)


@dataclass(frozen=True, eq=False)
class RecoverySimulation:
    """What came out of a simulation, as its document has it; ``unmet`` is a limit that was asked for and not kept."""

    options: RecoverySimulationOptions
    files: Mapping[str, Any]  # options that take a file, as they are recorded
    runs: int
    checkpoint_interval_s: float
    until_s: float
    time_s: FloatArray
    recoveries: tuple[Document, ...]
    comparison: tuple[Document, ...]
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]

    @property
    def unmet(self) -> str | None:
        """Why the limit on priority x seconds down is not kept; None where it is, and without one."""
        limit = self.options.max_down
        mean = self.recoveries[0]["summary"]["priority_down_s"]["mean"]
        if limit is None or mean <= limit:
            return None
        return f"priority x seconds down are {mean:.6g}, above --max-down {limit:g}"

    def to_dict(self) -> Document:
        """Return the document, format ``ftplan/simulation``."""
        contents = {
            "runs": self.runs,
            "checkpoint_interval_s": self.checkpoint_interval_s,
            "until_s": self.until_s,
            "time_s": self.time_s.tolist(),
            "recoveries": list(self.recoveries),
            "comparison": list(self.comparison),
        }
        return simulation_document(self, "recovery", contents, self.files)

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each query of each recovery, without what is told over time."""
        import pandas as pd

        rows = [
            {"mode": item["mode"], "plan": item["plan"]}
            | {name: value for name, value in query.items() if not isinstance(value, list)}
            for item in self.recoveries
            for query in item["queries"]
        ]
        return pd.DataFrame(rows)


def recovery_document(contender: Contender, runs: SimulatedRuns, scene: RecoveryScene) -> Document:
    """Return what all runs of one way to recover say together; lists are means over the runs."""
    graph = scene.question.situation.graph
    summaries = runs.summaries
    queries = np.flatnonzero(scene.running.job.output)
    priority = graph.per_task("priority")
    over_time = runs.over_time._asdict()
    down_s = np.array([summary.down_s for summary in summaries])
    back_s = np.array([[np.nan if s is None else s for s in summary.back_s] for summary in summaries])
    not_back = np.isnan(back_s) & (down_s > 0.0)
    listed = []
    for column, query in enumerate(queries.tolist()):
        operator, index = graph.name(query)
        back = back_s[(down_s[:, column] > 0.0) & ~not_back[:, column], column]
        series = {name: _cells(values[:, column]) for name, values in over_time.items() if name != "lag_records"}
        listed.append(
            {
                "operator": operator,
                "index": index,
                "priority": float(priority[query]),
                "down_s": float(down_s[:, column].mean()),
                "back_s": float(back.mean()) if len(back) else None,
                "runs_down": int((down_s[:, column] > 0.0).sum()),
                "runs_not_back": int(not_back[:, column].sum()),
                **series,
            }
        )
    return {
        "mode": contender.mode,
        "plan": None if contender.schedule is None else contender.schedule.name,
        "algorithm": contender.algorithm if contender.schedule is None else None,
        "summary": {name: figure(values_of(summaries, name)) for name in FIGURES},
        "queries": listed,
        "lag_records": _cells(over_time["lag_records"]),
        "events": [_event(item, scene) for item in runs.events],
    }


def compared(recoveries: Sequence[Document], runs: Sequence[SimulatedRuns]) -> tuple[Document, ...]:
    """Return each recovery but the first against that."""
    first, *others = (of_one.summaries for of_one in runs)
    return tuple(
        {"mode": recovery["mode"], "plan": recovery["plan"], "differences": differences(first, other)}
        for recovery, other in zip(recoveries[1:], others, strict=True)
    )


def values_of(summaries: Sequence[RecoverySummary], name: str) -> FloatArray:
    """Return a figure of each run, NaN where it is not known; shape (runs,)."""
    values = (getattr(summary, name) for summary in summaries)
    return np.array([np.nan if value is None else float(value) for value in values])


def differences(first: Sequence[RecoverySummary], other: Sequence[RecoverySummary]) -> list[Document]:
    """Return by how much each figure of *other* is more than that of *first*, run by run on the same random numbers.

    The mean of the differences, its confidence limits by Student's t, and in how many runs *other* is less, equal and
    more. A figure that is not known in any run of both is left out.
    """
    rows = []
    for name in FIGURES:
        apart = values_of(other, name) - values_of(first, name)
        apart = apart[np.isfinite(apart)]
        if len(apart):
            mean, low, high = mean_interval(apart)
            counts = {"less": int((apart < 0).sum()), "equal": int((apart == 0).sum()), "more": int((apart > 0).sum())}
            rows.append({"figure": name, "mean": mean, "low": low, "high": high, **counts})
    return rows


def _cells(values: FloatArray) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _event(event: ControlEvent, scene: RecoveryScene) -> Document:
    return {
        "at_s": event.at_s,
        "what": event.what,
        "tasks": [scene.task_names[task] for task in event.tasks],
        "node": None if event.node is None else scene.nodes[event.node].id,
    }
