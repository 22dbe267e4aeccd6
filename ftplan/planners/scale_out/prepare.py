"""From files to the question of a scale-out: how operators were used, what is demanded of them, where there is room."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.io.options.fields import windows_in
from ftplan.model.cluster import Cluster
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray, Topology
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import FuzzyRules, reachable, scores
from ftplan.planners.scale_out.bottlenecks.histories import (
    OperatorHistory,
    ScoreThresholds,
    Timeline,
    check_thresholds,
    timeline,
)
from ftplan.planners.scale_out.bottlenecks.rules_file import load_bottleneck_rules, shipped_rules
from ftplan.planners.scale_out.demand.operator_demand import OperatorFlow
from ftplan.planners.scale_out.demand.usage import OperatorUsage, operator_usage, scalable_operators
from ftplan.planners.scale_out.forecasting.forecast import Forecast
from ftplan.planners.scale_out.kind import KIND
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.problem import ScalableOperator, ScalingLimits, ScalingProblem
from ftplan.planners.scale_out.room import ClusterRoom, by_id, job_weights, room, slots_of, task_memory
from ftplan.planners.scale_out.techniques.costs import TechniqueSetting
from ftplan.planners.scale_out.techniques.prepare import leads, setup_seconds, technique_setting
from ftplan.planners.scale_out.unknowns import partitioning_warnings, unknown_warnings
from ftplan.planners.situation import Situation, situation_of

#: The alarming threshold with ``--alarming auto``, until it is known which is best.
ALARMING = 55.0


@dataclass(frozen=True, eq=False)
class PreparedScaling:
    """A scaling problem and what it was made of; everything by operator is in the problem's order, O operators."""

    problem: ScalingProblem
    topology: Topology  # its operators stand in the problem's order, by id
    cluster: Cluster | None
    histories: tuple[OperatorHistory, ...]  # how each operator was used, over W windows of ``window_s`` seconds
    window_s: float
    sized_for: FloatArray  # (O,) records/s that each operator is sized for, NaN where unknown
    flows: tuple[OperatorFlow, ...]  # what goes from operator to operator for each record that the former processes
    #: How the demand on each operator goes on; None where none was asked for, or nothing is known of it
    forecasts: tuple[Forecast | None, ...]
    rules: FuzzyRules
    reachable: tuple[float, float]  # the outermost scores that the rules give
    thresholds: ScoreThresholds
    scores: FloatArray  # (W, O) score of the worst task of each operator in each window, NaN where unknown
    timelines: tuple[Timeline, ...]  # states of each operator over the windows
    hold: int  # windows for which a score stays low before tasks go
    costs: GivenCosts  # the recovery costs that were asked for
    setting: TechniqueSetting  # what replacing tasks costs by
    inputs: tuple[InputFile, ...]  # fingerprints of the files that were read beside the inputs

    def alarmed_at(self, alarming: float) -> PreparedScaling:
        """Return the same with another alarming threshold: ``--alarming auto``.

        Raises FtplanError if it is not between the others, or no score reaches it.
        """
        thresholds = self.thresholds._replace(alarming=alarming)
        check_thresholds(thresholds, self.reachable)
        setup_windows = setup_seconds(self.setting, self.problem) / self.window_s
        lines = _timelines(self.scores, thresholds, setup_windows, self.hold)
        pairs = zip(self.problem.operators, lines, strict=True)
        operators = tuple(replace(operator, state=line.states[-1]) for operator, line in pairs)
        return replace(
            self,
            problem=replace(self.problem, operators=operators),
            thresholds=thresholds,
            timelines=lines,
            setting=replace(self.setting, lead_s=leads(lines, self.window_s)),
        )


def prepare(problem: Problem, options: ScaleOutOptions) -> PreparedScaling:
    """Build the problem of a scale-out from topology and statistics, and a cluster where there is one.

    With ``--alarming auto`` the alarming threshold is a guess, or the one between the others: who knows a better one
    says so by :meth:`PreparedScaling.alarmed_at`. Cost O(windows x tasks) in arrays.

    Raises FtplanError if an input is missing or does not fit another, a plan names what is not there, or scores never
    reach a threshold.
    """
    situation = _situation(problem, options)
    place = room(situation.topology, situation.cluster)
    usage = operator_usage(situation, options, task_memory(situation.stated_graph, place, options.task_memory))
    rules, rules_file = _rules(options)
    setting, assumed = technique_setting(options, situation, usage)
    span, thresholds = reachable(rules), _thresholds(options)
    check_thresholds(thresholds, span)
    hold = windows_in(options.hold, usage.window_s)
    scored = np.stack([_worst(scores(rules, item.inputs)) for item in usage.histories], axis=1)
    at_once = _timelines(scored, thresholds, np.zeros(scored.shape[1]), hold)
    ends = [(score, line.states[-1]) for score, line in zip(scored[-1].tolist(), at_once, strict=True)]
    operators = scalable_operators(usage, options, situation, place, ends)
    built = _problem(options, situation, usage, place, operators, assumed)
    # states do not depend on how long a set-up takes, which starts come too late does
    lines = _timelines(scored, thresholds, setup_seconds(setting, built) / usage.window_s, hold)
    return PreparedScaling(
        problem=built,
        topology=situation.topology,
        cluster=situation.cluster,
        histories=usage.histories,
        window_s=usage.window_s,
        sized_for=usage.sized_for,
        flows=usage.flows.flows,
        forecasts=usage.forecasts,
        rules=rules,
        reachable=span,
        thresholds=thresholds,
        scores=scored,
        timelines=lines,
        hold=hold,
        costs=situation.recovery,
        setting=replace(setting, lead_s=leads(lines, usage.window_s)),
        inputs=(*(() if rules_file is None else (rules_file,)), *situation.files),
    )


def _situation(problem: Problem, options: ScaleOutOptions) -> Situation:
    """Return the inputs, operators by id."""
    situation = situation_of(problem, options, "a scale-out", KIND.needs)
    if situation.required_stats.manifest.windows < 1:
        raise FtplanError("a scale-out needs statistics over time: these have no windows")
    return replace(situation, topology=by_id(situation.topology))


def _problem(
    options: ScaleOutOptions,
    situation: Situation,
    usage: OperatorUsage,
    place: ClusterRoom,
    operators: tuple[ScalableOperator, ...],
    assumed: tuple[Warn, ...],
) -> ScalingProblem:
    """Return what planners are asked, with what is not known of it and *assumed*."""
    cluster, topology = situation.cluster, situation.topology
    built = ScalingProblem(
        operators=operators,
        weight=job_weights(topology, np.array([usage.output(i) for i in range(len(operators))])),
        split="hash" if options.split == "hash" else "load",
        nodes=() if cluster is None else tuple(node.id for node in cluster.nodes),
        free=place.free,
        now=place.now,
        slots=slots_of(place),
        node_slots=place.slots,
        limits=ScalingLimits(options.target_utilisation, options.free_cpu, options.quota),
    )
    warnings = (
        *unknown_warnings(usage, situation.required_stats, cluster),
        *situation.state.warnings,
        *situation.recovery.warnings,
        *assumed,
        *usage.capped,
        *(warning for item in usage.forecasts if item is not None for warning in item.warnings),
        *partitioning_warnings(built, topology),
    )
    return replace(built, warnings=tuple(dict.fromkeys(warnings)))


def _rules(options: ScaleOutOptions) -> tuple[FuzzyRules, InputFile | None]:
    if options.rules is None:
        return shipped_rules(), None
    loaded = load_bottleneck_rules(options.rules)
    return loaded.value, loaded.input


def _thresholds(options: ScaleOutOptions) -> ScoreThresholds:
    low, high = options.scale_in, options.promote
    alarming = options.alarming
    if alarming == "auto":
        alarming = ALARMING if low < ALARMING <= high else (low + high) / 2.0
    return ScoreThresholds(low, float(alarming), high)


def _worst(task_scores: FloatArray) -> FloatArray:
    """Return the highest score over the tasks, (W,) from (W, T); NaN where none is known."""
    highest = np.where(np.isnan(task_scores), -np.inf, task_scores).max(axis=1)
    return np.where(np.isneginf(highest), np.nan, highest)


def _timelines(
    scored: FloatArray, thresholds: ScoreThresholds, setup_windows: FloatArray, hold: int
) -> tuple[Timeline, ...]:
    """Return the states of each operator, whose secondaries are ready after so many windows, (O,)."""
    columns = zip(scored.T.tolist(), setup_windows.tolist(), strict=True)
    return tuple(timeline(column, thresholds, windows, hold) for column, windows in columns)
