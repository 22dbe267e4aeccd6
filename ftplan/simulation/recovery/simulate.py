"""From inputs and options to the answer of a simulated recovery: all modes and plans, until all queries are back.

The answer says what each way to recover was like, and how they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray
from ftplan.planners.deployed import recorded
from ftplan.simulation.answer import Document, Simulation, cells, figure, mean_interval
from ftplan.simulation.recovery.contenders import Contender
from ftplan.simulation.recovery.document import RecoveryFiguresModel
from ftplan.simulation.recovery.options import LONGEST_S, RecoverySimulationOptions
from ftplan.simulation.recovery.outcome import ControlEvent, RecoverySummary
from ftplan.simulation.recovery.runs import SimulatedRuns, all_runs, cell_ends, simulated
from ftplan.simulation.recovery.scene import RecoveryScene, scene_of
from ftplan.simulation.recovery.schedules import GivenSchedule
from ftplan.simulation.recovery.times import MOST_TIMES
from ftplan.simulation.registry import Report
from ftplan.simulation.run import deadline, too_short
from ftplan.simulation.scene import GivenPlan, resolution

#: Figures of a recovery by name, the less the better.
FIGURES = tuple(RecoveryFiguresModel.model_fields)


class RecoverySimulation(Simulation):
    """What came out of a simulation; unmet is a limit that was asked for and not kept."""

    kind = "recovery"
    options: RecoverySimulationOptions

    @property
    def recoveries(self) -> list[Document]:
        """What each mode and plan was like."""
        return list(self.body["recoveries"])

    @property
    def unmet(self) -> str | None:
        """Why the limit on priority x seconds down is not kept; None where it is, and without one."""
        limit = self.options.max_down
        mean = self.recoveries[0]["summary"]["priority_down_s"]["mean"]
        if limit is None or mean <= limit:
            return None
        return f"priority x seconds down are {mean:.6g}, above --max-down {limit:g}"

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
        series = {name: cells(values[:, column]) for name, values in over_time.items() if name != "lag_records"}
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
        "plan": contender.schedule.name,
        "algorithm": contender.schedule.algorithm,
        "summary": {name: figure(values_of(summaries, name)) for name in FIGURES},
        "queries": listed,
        "lag_records": cells(over_time["lag_records"]),
        "events": [_event(item, scene) for item in runs.events],
    }


def compared(recoveries: Sequence[Document], runs: Sequence[SimulatedRuns]) -> list[Document]:
    """Return each recovery but the first against that."""
    first, *others = (of_one.summaries for of_one in runs)
    return [
        {"mode": recovery["mode"], "plan": recovery["plan"], "differences": differences(first, other)}
        for recovery, other in zip(recoveries[1:], others, strict=True)
    ]


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


def _event(event: ControlEvent, scene: RecoveryScene) -> Document:
    return {
        "at_s": event.at_s,
        "what": event.what,
        "tasks": [scene.task_names[task] for task in event.tasks],
        "node": None if event.node is None else scene.nodes[event.node].id,
    }


COMMAND = "simulate recovery"
#: Seconds from when the last query is back to the end.
REST_S = 60.0
#: Runs that are tried, and how much longer those may take that are not.
FIRST, MARGIN = 5, 1.25
#: Batches on streams that are simulated within a few seconds: no other process has to be able to end that.
QUICK = 20_000_000


def simulate(
    problem: Problem, plan: Any, request: RecoverySimulationOptions, progress: Report | None
) -> RecoverySimulation:
    """Simulate a failure and the recovery from it, batch by batch: all modes and plans meet the same random numbers.

    *plan*: a recovery schedule; None: one is made for the times at which nodes are expected.

    Raises FtplanError if an input is missing or does not fit, nothing fails, or the job would not keep up with its
    input.
    """
    plans = [
        GivenPlan.of(source, role, RECOVERY_SCHEDULE.name, COMMAND)
        for source, role in ((plan, "plan"), (request.against, "against"))
    ]
    scene = scene_of(problem, plans[0].plan, request)
    contenders, ends = _contenders(scene, plans), deadline(request.time_limit_s)
    scene = until_back(scene, contenders, ends)
    by_contender = all_runs(scene, contenders, progress, ends)
    documents = [recovery_document(one, runs, scene) for one, runs in zip(contenders, by_contender, strict=True)]
    done = len(by_contender[0].summaries)
    warnings = [*_of_runs(contenders, by_contender, request.runs), *_not_back(documents, done, scene.until_s)]
    return RecoverySimulation(
        options=scene.options,
        files=scene.files | {"against": recorded(request.against, plans[1].path)},
        body={
            "runs": done,
            "checkpoint_interval_s": scene.checkpoint_s,
            "until_s": scene.until_s,
            "time_s": cell_ends(scene).tolist(),
            "recoveries": documents,
            "comparison": compared(documents, by_contender),
        },
        inputs=(*scene.inputs, *(item.file for item in plans if item.file is not None)),
        warnings=tuple(dict.fromkeys((*scene.warnings, *warnings))),
    )


def _contenders(scene: RecoveryScene, plans: Sequence[GivenPlan]) -> list[Contender]:
    """Return each mode with each plan, the first plan first; one is made where none is given."""
    first, other = (None if item.plan is None else GivenSchedule.of(item.plan, item.name, scene) for item in plans)
    schedules = [GivenSchedule.made(scene, scene.options.algorithm) if first is None else first]
    schedules += [] if other is None else [other]
    return [Contender(mode, schedule) for mode in scene.options.modes for schedule in schedules]


def _of_runs(contenders: Sequence[Contender], by_contender: Sequence[SimulatedRuns], runs: int) -> Iterator[Warn]:
    """Say what is wrong with plans, and which runs are missing."""
    for one in contenders:
        yield from one.schedule.warnings
    done = len(by_contender[0].summaries)
    if done < runs:
        yield Warn("RUNS_CUT", f"the time limit left out {runs - done:,} of {runs:,} runs")


def _not_back(recoveries: Sequence[Mapping[str, Any]], runs: int, until_s: float) -> Iterator[Warn]:
    """Say which recoveries had not ended when their simulation did."""
    for recovery in recoveries:
        count = sum(query["runs_not_back"] > 0 for query in recovery["queries"])
        if count:
            most = max(query["runs_not_back"] for query in recovery["queries"])
            queries = "1 query is" if count == 1 else f"{count:,} queries are"
            where = "" if runs == 1 else f" in up to {most:,} of {runs:,} runs"
            text = f"{recovery['mode']}: {queries} not back at {until_s:g} s{where}: --until simulates longer"
            yield Warn("NOT_BACK", text)


def until_back(scene: RecoveryScene, contenders: Sequence[Contender], ends: float | None) -> RecoveryScene:
    """Return the scene with an end such that all queries are back by then, whoever recovers.

    Each contender is tried to the scene's own end, then twice as long while a query is not back, and so on, to
    :data:`MOST_TIMES` as long: in all runs, or the first :data:`FIRST` (one under a time limit); others get a quarter
    more. What does not come back by then does not count. A scene that is told when to end stays as it is.

    Raises FtplanError if the time limit does not last for this.
    """
    if scene.options.until_s is not None:
        return scene
    most = scene.options.runs if scene.options.time_limit_s is None else 1
    runs, many = min(most, FIRST), len(contenders)
    tried, until_s, last_s = scene, scene.until_s, 0.0
    left = set(range(many))
    while left and until_s <= min(MOST_TIMES * scene.until_s, LONGEST_S):
        tried = _ending(tried, until_s)
        numbers = [run * many + which for run in range(runs) for which in sorted(left)]
        limit = None if _batches(tried) * len(numbers) <= QUICK else ends
        done = [one for several in simulated(tried, contenders, numbers, limit) for one in several]
        if len(done) < len(numbers):
            raise too_short(scene.options.time_limit_s)
        last_s = max([last_s, *(moment for one in done for moment in one.summary.back_s if moment is not None)])
        left = {one.number % many for one in done if _one_is_not_back(one.summary.down_s, one.summary.back_s)}
        until_s *= 2.0
    margin = 1.0 if runs == scene.options.runs else MARGIN
    return _ending(scene, max(scene.until_s, float(np.ceil((margin * last_s + REST_S) / 60.0) * 60.0)))


def _one_is_not_back(down_s: Sequence[float], back_s: Sequence[float | None]) -> bool:
    return any(moment is None and seconds > 0.0 for seconds, moment in zip(down_s, back_s, strict=True))


def _batches(scene: RecoveryScene) -> float:
    """Return how many batches tasks and streams get at most; before the failure lies a whole interval, or more."""
    job = scene.running.job
    return (job.tasks + len(job.sender)) * (scene.options.warm_up_s + scene.checkpoint_s + scene.until_s) / job.batch_s


def _ending(scene: RecoveryScene, until_s: float) -> RecoveryScene:
    return replace(scene, until_s=until_s, every_s=resolution(until_s, scene.options.every_s))
