"""From inputs to what is simulated: a plan's job, a measured one, one of a topology, or the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.api.scaling.measured_scene import scene_of_statistics
from ftplan.api.scaling.options import ScalingSimulationOptions
from ftplan.api.scaling.scene import ScalingScene, paper_topology, scene_of_topology
from ftplan.api.simulating.simulate import GivenPlan
from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.model.kinds import SCALE_OUT
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import DEFAULT_RULES, FuzzyRules, reachable
from ftplan.planners.scale_out.bottlenecks.rules_file import load_bottleneck_rules
from ftplan.planners.scale_out.bottlenecks.states import ScoreThresholds, check_thresholds
from ftplan.planners.scale_out.from_plan import figures_of, numbered, question_of
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling, prepare

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
class ScalingQuestion:
    """What is simulated, and what it was read from."""

    scene: ScalingScene
    rules: FuzzyRules
    thresholds: ScoreThresholds
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...] = ()


def question(problem: Problem, plan: Any, options: ScalingSimulationOptions) -> ScalingQuestion:
    """Return what is simulated.

    Raises
    ------
    FtplanError
        If an input is missing or does not fit, or no score reaches a threshold.
    """
    given = GivenPlan.of(plan, "plan", SCALE_OUT.name, COMMAND)
    if given.plan is not None:
        prepared = question_of(given.plan, problem, **_instead(options))
        figures = figures_of(given.plan, prepared, numbered(given.plan, prepared.problem))
        scene = scene_of_statistics(prepared, figures, options)
        return _measured(problem, prepared, scene, (given.file,) if given.file is not None else ())
    if problem.stats is not None:
        if problem.topology is None:
            raise FtplanError("--stats: without a topology nothing tells what feeds what: give --topology")
        prepared = prepare(problem, ScaleOutOptions.of(SCALE_OUT.command, _instead(options)))
        return _measured(problem, prepared, scene_of_statistics(prepared, None, options), ())
    return _unmeasured(problem, options)


def _measured(
    problem: Problem, prepared: PreparedScaling, scene: ScalingScene, files: tuple[InputFile, ...]
) -> ScalingQuestion:
    return ScalingQuestion(
        scene,
        prepared.rules,
        prepared.thresholds,
        (*problem.inputs, *prepared.inputs, *files),
        tuple(dict.fromkeys((*problem.warnings, *prepared.problem.warnings))),
    )


def _unmeasured(problem: Problem, options: ScalingSimulationOptions) -> ScalingQuestion:
    for name in MEASURED:
        if getattr(options, name) is not None:
            raise FtplanError(f"{flag(name)}: belongs to a job with statistics: give --stats")
    said: tuple[Warn, ...] = ()
    if problem.topology is None:
        problem, said = paper_topology(), (Warn("PAPER_JOB", "no topology is given: the paper's job is simulated"),)
    inputs = () if said else problem.inputs
    usual = ScaleOutOptions(**{name: value for name, value in _instead(options).items() if name in SCORES})
    rules, thresholds = DEFAULT_RULES, ScoreThresholds(usual.scale_in, usual.alarming, usual.promote)
    if options.rules is not None:
        loaded = load_bottleneck_rules(options.rules)
        rules, inputs = loaded.value, (*inputs, loaded.input)
    check_thresholds(thresholds, reachable(rules))
    return ScalingQuestion(
        scene_of_topology(problem, options), rules, thresholds, inputs, (*said, *(() if said else problem.warnings))
    )


def _instead(options: ScalingSimulationOptions) -> Mapping[str, Any]:
    return {name: value for name in INSTEAD if (value := getattr(options, name)) is not None}
