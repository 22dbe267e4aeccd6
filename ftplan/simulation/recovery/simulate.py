"""From inputs and options to the answer of a simulated recovery: all modes and plans, until all queries are back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.deployed import recorded
from ftplan.simulation.recovery.answer import RecoverySimulation, compared, recovery_document
from ftplan.simulation.recovery.contenders import Contender
from ftplan.simulation.recovery.options import LONGEST_S, RecoverySimulationOptions
from ftplan.simulation.recovery.runs import SimulatedRuns, all_runs, cell_ends, simulated
from ftplan.simulation.recovery.scene import RecoveryScene, scene_of
from ftplan.simulation.recovery.schedules import GivenSchedule
from ftplan.simulation.recovery.times import MOST_TIMES
from ftplan.simulation.registry import Report
from ftplan.simulation.run import deadline, too_short
from ftplan.simulation.scene import GivenPlan, resolution

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

    *plan*: a recovery schedule; None: one is made at each failure and arrival of each run.

    Raises
    ------
    FtplanError
        If an input is missing or does not fit, nothing fails, or the job would not keep up with its input.
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
    """Return each mode with each plan, the first plan first."""
    first, other = (None if item.plan is None else GivenSchedule.of(item.plan, item.name, scene) for item in plans)
    schedules = [first] if other is None else [first, other]
    algorithm = scene.options.algorithm or registry.row(RECOVERY_SCHEDULE.name, None).name
    return [Contender(mode, schedule, algorithm) for mode in scene.options.modes for schedule in schedules]


def _of_runs(contenders: Sequence[Contender], by_contender: Sequence[SimulatedRuns], runs: int) -> Iterator[Warn]:
    """Say what is wrong with plans that were given, what was said when plans were made, and which runs are missing."""
    for one in contenders:
        yield from one.schedule.warnings if one.schedule is not None else ()
    for own in by_contender:
        yield from own.warnings
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

    Raises
    ------
    FtplanError
        If the time limit does not last for this.
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
