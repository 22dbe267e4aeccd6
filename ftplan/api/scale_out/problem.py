"""From files to the question of a scale-out: how operators were used, what is demanded of them, where there is room."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.api.other_plans import checkpoint_copies
from ftplan.api.recovery_costs import GivenCosts
from ftplan.api.scale_out.forecasts import demand_forecasts
from ftplan.api.scale_out.operators import Usage, scalable_operators
from ftplan.api.scale_out.options import ScaleOutOptions
from ftplan.api.scale_out.room import job_weights, room, task_memory
from ftplan.api.scale_out.unknowns import unknown_warnings
from ftplan.errors import FtplanError
from ftplan.forecasting.forecast import Forecast
from ftplan.io.bottleneck_rules_file import load_bottleneck_rules
from ftplan.metrics.bottleneck_inputs import (
    OperatorHistory,
    histories,
    measured_groups,
    measured_tasks,
)
from ftplan.metrics.fuzzy_inference import DEFAULT_RULES, FuzzyRules, reachable, scores
from ftplan.metrics.operator_demand import look_back, measured_flows, operator_demand, sized_for
from ftplan.metrics.scaling_problem import ScalingLimits, ScalingProblem
from ftplan.metrics.scaling_states import Thresholds, Timeline, check_thresholds, timeline
from ftplan.metrics.stats_summary import trust_warnings
from ftplan.metrics.task_state import task_state
from ftplan.model.cluster import Cluster
from ftplan.model.plan import InputFile
from ftplan.model.problem import Problem, StatsTables
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, Topology

#: Seconds that new tasks take to start, where nothing says.
SETUP_S = 30.0
#: The alarming threshold with ``--alarming auto``, until it is known which is best.
ALARMING = 55.0


@dataclass(frozen=True, eq=False)
class PreparedScaling:
    """A scaling problem and what it was made of; everything by operator is in the problem's order, O operators.

    Attributes
    ----------
    histories
        How each operator was used, over W windows of ``window_s`` seconds.
    look_back
        The windows that sizes follow from.
    sized_for
        (O,) records/s that each operator is sized for, NaN where unknown.
    scores
        (W, O) score of the worst task of each operator in each window, NaN where unknown.
    reachable
        The outermost scores that the rules give.
    timelines
        States of each operator over the windows.
    forecasts
        How the demand on each operator goes on; None where none was asked for, or nothing is known of it.
    setup_s
        How long new tasks take to start.
    costs
        The recovery costs that were given.
    inputs
        Fingerprints of the files that were read beside the inputs.
    """

    problem: ScalingProblem
    graph: TaskGraph
    cluster: Cluster | None
    histories: tuple[OperatorHistory, ...]
    window_s: float
    look_back: slice
    sized_for: FloatArray
    rules: FuzzyRules
    thresholds: Thresholds
    reachable: tuple[float, float]
    scores: FloatArray
    timelines: tuple[Timeline, ...]
    forecasts: tuple[Forecast | None, ...]
    setup_s: float
    hold: int
    costs: GivenCosts
    inputs: tuple[InputFile, ...]

    @property
    def topology(self) -> Topology:
        """The topology."""
        return self.graph.topology

    def alarmed_at(self, alarming: float) -> PreparedScaling:
        """Return the same with another alarming threshold: ``--alarming auto``.

        Raises
        ------
        FtplanError
            If it is not between the others, or no score reaches it.
        """
        thresholds = self.thresholds._replace(alarming=alarming)
        check_thresholds(thresholds, self.reachable)
        lines = _timelines(self.scores, thresholds, self.setup_s / self.window_s, self.hold)
        operators = tuple(
            replace(operator, state=line.states[-1])
            for operator, line in zip(self.problem.operators, lines, strict=True)
        )
        return replace(self, thresholds=thresholds, timelines=lines, problem=replace(self.problem, operators=operators))


def prepare(problem: Problem, options: ScaleOutOptions) -> PreparedScaling:  # long: each step feeds the next
    """Build the problem of a scale-out from topology and statistics, and a cluster where there is one.

    With ``--alarming auto`` the alarming threshold is a guess, or the one between the others: who knows a better one
    says so by :meth:`PreparedScaling.alarmed_at`. Cost O(windows x tasks) in arrays.

    Raises
    ------
    FtplanError
        If an input is missing or does not fit another, a plan names what is not there, or scores never reach a
        threshold.
    """
    topology, stats = _needed(problem)
    graph, cluster, window_s = TaskGraph(topology), problem.cluster, stats.manifest.window_s
    window = look_back(stats.manifest.windows, window_s, options.look_back_s)
    place = room(topology, cluster)
    groups = measured_groups(graph, stats)
    measured = measured_tasks(graph, stats, groups)
    flows = measured_flows(graph, stats, measured, window)
    demand = operator_demand(graph, measured, flows.flows, window_s)
    held = task_memory(graph, place, options.task_memory)
    used = histories(graph, measured, demand.demand, window_s, window, options.task_capacity, held)
    foretold = demand_forecasts(demand, window_s, options.horizon_s, options.forecast)
    sized = sized_for(demand.demand, options.demand, window)
    ahead = np.array([np.nan if item is None else item.high.max() for item in foretold])
    sized = np.fmax(sized, ahead) * options.growth
    rules, rules_file = _rules(options)
    given = GivenCosts.of(options.costs)
    setup_s = _setup_s(options, given)
    scored = np.stack([_worst(scores(rules, item.inputs)) for item in used], axis=1)
    span, thresholds = reachable(rules), _thresholds(options)
    check_thresholds(thresholds, span)
    lines = _timelines(scored, thresholds, setup_s / window_s, options.hold)
    state = task_state(graph, stats)
    copies, copies_file = checkpoint_copies(options.checkpoints, topology, cluster)
    states = [line.states[-1] for line in lines]
    usage = Usage(graph, measured, groups, used, window, window_s, sized, scored[-1], states, state.by_group)
    made = scalable_operators(usage, options, place, copies, cluster)
    outputs = np.array([usage.output(i) for i in range(len(made))])
    order = list(graph.by_id)
    built = ScalingProblem(
        operators=tuple(made[i] for i in order),
        weight=job_weights(topology, np.array([item.job for item in made]), outputs),
        split="hash" if options.split == "hash" else "load",
        nodes=() if cluster is None else tuple(node.id for node in cluster.nodes),
        free=place.free,
        now=tuple(place.now[i] for i in order),
        limits=ScalingLimits(options.target_utilisation, options.free_cpu, options.quota),
        warnings=tuple(
            dict.fromkeys((
                *trust_warnings(stats.manifest),
                *unknown_warnings(graph, stats, measured, used, flows, cluster),
                *state.warnings,
                *given.warnings,
            ))
        ),
    )  # fmt: skip
    return PreparedScaling(
        problem=built,
        graph=graph,
        cluster=cluster,
        histories=tuple(used[i] for i in order),
        window_s=window_s,
        look_back=window,
        sized_for=sized[order],
        rules=rules,
        thresholds=thresholds,
        reachable=span,
        scores=scored[:, order],
        timelines=tuple(lines[i] for i in order),
        forecasts=tuple(foretold[i] for i in order),
        setup_s=setup_s,
        hold=options.hold,
        costs=given,
        inputs=tuple(file for file in (rules_file, copies_file, given.file) if file is not None),
    )


def _needed(problem: Problem) -> tuple[Topology, StatsTables]:
    for name in ("topology", "stats"):
        if getattr(problem, name) is None:
            raise FtplanError(f"a scale-out needs {name}: give --{name} (in Python {name}=...)")
    assert problem.topology is not None
    assert problem.stats is not None
    if problem.stats.manifest.windows < 1:
        raise FtplanError("a scale-out needs statistics over time: these have no windows")
    return problem.topology, problem.stats


def _rules(options: ScaleOutOptions) -> tuple[FuzzyRules, InputFile | None]:
    if options.rules is None:
        return DEFAULT_RULES, None
    loaded = load_bottleneck_rules(options.rules)
    return loaded.value, loaded.input


def _setup_s(options: ScaleOutOptions, given: GivenCosts) -> float:
    """Return how long new tasks take to start: as asked, else as fitted, else 30 s."""
    if options.setup_s is not None:
        return options.setup_s
    known = {} if given.costs is None else given.costs.estimates
    return known["restart_s"].value if "restart_s" in known else SETUP_S


def _thresholds(options: ScaleOutOptions) -> Thresholds:
    low, high = options.scale_in, options.promote
    alarming = options.alarming
    if alarming == "auto":
        alarming = ALARMING if low < ALARMING <= high else (low + high) / 2.0
    return Thresholds(low, float(alarming), high)


def _worst(task_scores: FloatArray) -> FloatArray:
    """Return the highest score over the tasks, (W,) from (W, T); NaN where none is known."""
    highest = np.where(np.isnan(task_scores), -np.inf, task_scores).max(axis=1)
    return np.where(np.isneginf(highest), np.nan, highest)


def _timelines(scored: FloatArray, thresholds: Thresholds, setup_windows: float, hold: int) -> tuple[Timeline, ...]:
    return tuple(timeline(column, thresholds, setup_windows, hold) for column in scored.T.tolist())
