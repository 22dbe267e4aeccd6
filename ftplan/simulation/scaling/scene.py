"""From inputs to a scene: the job of a plan, of statistics or of a topology; and how bottlenecks are found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.model.kinds import SCALE_OUT
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import FuzzyRules, reachable
from ftplan.planners.scale_out.bottlenecks.histories import ScoreThresholds, check_thresholds
from ftplan.planners.scale_out.bottlenecks.rules_file import load_bottleneck_rules, shipped_rules
from ftplan.planners.scale_out.from_plan import figures_of, numbered, question_of
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling, prepare
from ftplan.planners.scale_out.problem import OperatorScaling, ScalableOperator
from ftplan.planners.scale_out.techniques.costs import technique_costs
from ftplan.simulation.scaling.job import PlannedSplit, ScalingJob, job_of_topology, most_tasks, paper_topology
from ftplan.simulation.scaling.load import RateCurve
from ftplan.simulation.scaling.options import STATISTICS, STEADY, ScalingSimulationOptions
from ftplan.simulation.scaling.setting import PARTS, SimulatedOperator, SplitSetting
from ftplan.simulation.scene import GivenPlan

COMMAND = "simulate scaling"
#: Options of scale-outs that a simulation has too, and which then win over the plan's.
INSTEAD = (
    "alarming", "promote", "rules", "task_memory", "max_parallelism", "setup_s", "checkpoint_interval_s", "bandwidth",
    "costs",
)  # fmt: skip
#: Those of them that are scores.
SCORES = ("alarming", "promote")
#: Options that a job without statistics cannot have.
MEASURED = ("costs",)


@dataclass(frozen=True, eq=False)
class ScalingScene:
    """What all modes and runs have in common: the job, how bottlenecks are found, and what it was read from."""

    job: ScalingJob
    rules: FuzzyRules
    thresholds: ScoreThresholds
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...] = ()


def scene_of(problem: Problem, plan: Any, options: ScalingSimulationOptions) -> ScalingScene:
    """Return what is simulated.

    Raises FtplanError if an input is missing or does not fit, or no score reaches a threshold.
    """
    given = GivenPlan.of(plan, "plan", SCALE_OUT.name, COMMAND)
    if given.plan is not None:
        prepared = question_of(given.plan, problem, **_instead(options))
        figures = figures_of(given.plan, prepared, numbered(given.plan, prepared.problem))
        job = job_of_statistics(prepared, figures, options)
        return _measured(problem, prepared, job, (given.file,) if given.file is not None else ())
    if problem.stats is not None:
        if problem.topology is None:
            raise FtplanError("--stats: without a topology nothing tells what feeds what: give --topology")
        prepared = prepare(problem, ScaleOutOptions.of(SCALE_OUT.name, _instead(options)))
        return _measured(problem, prepared, job_of_statistics(prepared, None, options), ())
    return _unmeasured(problem, options)


def _measured(
    problem: Problem, prepared: PreparedScaling, job: ScalingJob, files: tuple[InputFile, ...]
) -> ScalingScene:
    return ScalingScene(
        job,
        prepared.rules,
        prepared.thresholds,
        (*problem.inputs, *prepared.inputs, *files),
        tuple(dict.fromkeys((*problem.warnings, *prepared.problem.warnings))),
    )


def _unmeasured(problem: Problem, options: ScalingSimulationOptions) -> ScalingScene:
    for name in MEASURED:
        if getattr(options, name) is not None:
            raise FtplanError(f"{flag(name)}: belongs to a job with statistics: give --stats")
    paper: tuple[Warn, ...] = ()
    if problem.topology is None:
        problem, paper = paper_topology(), (Warn("PAPER_JOB", "no topology is given: the paper's job is simulated"),)
    inputs = () if paper else problem.inputs
    scores = ScaleOutOptions(**{name: value for name, value in _instead(options).items() if name in SCORES})
    rules, thresholds = shipped_rules(), ScoreThresholds(scores.scale_in, scores.alarming, scores.promote)
    if options.rules is not None:
        loaded = load_bottleneck_rules(options.rules)
        rules, inputs = loaded.value, (*inputs, loaded.input)
    check_thresholds(thresholds, reachable(rules))
    return ScalingScene(
        job_of_topology(problem, options), rules, thresholds, inputs, (*paper, *(() if paper else problem.warnings))
    )


def _instead(options: ScalingSimulationOptions) -> Mapping[str, Any]:
    return {name: value for name in INSTEAD if (value := getattr(options, name)) is not None}


def job_of_statistics(
    prepared: PreparedScaling, figures: ScaledFigures | None, options: ScalingSimulationOptions
) -> ScalingJob:
    """Return a job whose load is 1 where operators get what they are sized for.

    *figures*: the plan's splits and what they cost; None without a plan.

    Raises FtplanError if nothing is known of what the sources offer.
    """
    graph = TaskGraph(prepared.topology)
    number = {position: rank for rank, position in enumerate(graph.order)}
    splits = {} if figures is None else {item.operator: item for item in figures.scaling.operators}
    made = []
    for position in graph.order:
        inputs = tuple(sorted({number[edge.source] for edge in graph.in_edges[position]}))
        operator = prepared.problem.operators[position]
        records_s = float(np.nan_to_num(prepared.sized_for[position]))
        output = prepared.topology.operators[position].output
        made.append(_operator(operator, inputs, output, records_s, splits.get(position)))
    if not sum(item.records_s for item in made if not item.inputs) > 0.0:
        raise FtplanError("stats: nothing tells how much the sources put out: a simulation needs tasks.parquet for it")
    setting = prepared.setting
    intervals = np.broadcast_to(np.asarray(setting.interval_s, dtype=np.float64), (len(made),))
    order = list(graph.order)
    return ScalingJob(
        operators=tuple(made),
        split=SplitSetting(setting.setup_s, setting.bandwidth_mb_s * MB, delay_s=setting.delay_s),
        intervals={number[position]: float(intervals[position]) for position in order},
        planned=None if figures is None else _planned(prepared, figures, number),
        most=tuple(most_tasks(item, options) for item in made),
        default_load=STATISTICS if figures is None else STEADY,
        measured=_measured_load(prepared, order),
    )


def _operator(
    item: ScalableOperator, inputs: tuple[int, ...], output: bool, records_s: float, split: OperatorScaling | None
) -> SimulatedOperator:
    keyed = item.keyed
    return SimulatedOperator(
        id=item.id,
        parallelism=item.parallelism,
        cpu=item.cpu,
        use=item.group_use if keyed else np.array([item.use]),
        records_s=records_s,
        inputs=inputs,
        output=output,
        key_groups=item.key_groups,
        state_bytes=item.state_bytes if keyed else None,
        task_memory=item.task_memory,
        scales=bool(inputs) or split is not None,
        missing=_missing(item, split) if keyed and split is not None else None,
    )


def _missing(item: ScalableOperator, split: OperatorScaling) -> FloatArray:
    """Return the state of the key groups without a checkpoint on the node of their new task, (K,)."""
    missing = item.state_bytes.copy()
    for (first, last), node in zip(split.ranges, split.nodes, strict=False):
        for group in range(first, last + 1):
            if item.copies and node in item.copies[group]:
                missing[group] = 0.0
    return missing


def _planned(prepared: PreparedScaling, figures: ScaledFigures, number: Mapping[int, int]) -> dict[int, PlannedSplit]:
    """Return the plan's splits, with what each technique is predicted to take where it is prepared in time."""
    setting = replace(prepared.setting, lead_s=math.nan)
    made = {}
    for item in figures.scaling.operators:
        operator, own = prepared.problem.operators[item.operator], figures.costs[item.operator]
        made[number[item.operator]] = PlannedSplit(
            ranges=item.ranges or even_ranges(PARTS, item.parallelism),
            technique=None if own is None else own.technique,  # type: ignore[arg-type]  # one of the three, by the plan
            first=item.parallelism < operator.parallelism,
            predicted={cost.technique: cost for cost in technique_costs(prepared.problem, item, setting)},
        )
    return made


def _measured_load(prepared: PreparedScaling, order: list[int]) -> RateCurve | None:
    """Return the demand on all sources by window, as a multiple of what they are sized for; None where unknown."""
    graph = TaskGraph(prepared.topology)
    sources = [position for position in order if not graph.in_edges[position]]
    demand = np.sum([np.nan_to_num(prepared.histories[position].demand) for position in sources], axis=0)
    usual = float(np.nansum(prepared.sized_for[sources]))
    if not (usual > 0.0 and demand.any()):
        return None
    at_s = prepared.window_s * np.arange(float(len(demand)))
    return RateCurve(at_s, demand / usual, prepared.window_s * len(demand))
