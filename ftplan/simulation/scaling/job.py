"""The job that is simulated, and how its operators may be split; here from a topology, or as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.presets import TOPOLOGIES
from ftplan.generators.topology import topology as random_topology
from ftplan.io.loading import load
from ftplan.io.model_entries import topology_entry
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.problem import Problem
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Operator
from ftplan.model.units import MB
from ftplan.planners.scale_out.techniques.costs import TechniqueCost
from ftplan.simulation.scaling.load import RateCurve
from ftplan.simulation.scaling.options import DOUBLING, ScalingSimulationOptions
from ftplan.simulation.scaling.setting import Ranges, SimulatedOperator, SplitSetting, Technique

#: The paper's job, where no other is given.
PRESET = "scale-out-figure-10"
#: What is assumed where nothing says.
SETUP_S, INTERVAL_S, BANDWIDTH_MB_S, DELAY_S = 30.0, 60.0, 100.0, 0.001
#: How many times as busy as at first the other operators may become before they are bottlenecks themselves.
ROOM = 8.0


@dataclass(frozen=True, eq=False)
class PlannedSplit:
    """How a plan splits an operator, and what formulas foretell of it, by technique.

    ``first``: it gives up tasks, which is done before others get theirs.
    """

    ranges: Ranges
    technique: Technique | None
    first: bool
    predicted: Mapping[str | None, TechniqueCost]


@dataclass(frozen=True, eq=False)
class ScalingJob:
    """A job, and how its operators may be split."""

    operators: tuple[SimulatedOperator, ...]  # in topological order
    split: SplitSetting
    intervals: Mapping[int, float]
    #: By operator that the plan changes; None without a plan: then all that may be split are doubled
    planned: Mapping[int, PlannedSplit] | None
    most: tuple[int, ...]  # largest parallelism of each operator
    default_load: str  # what the input is where nobody says
    measured: RateCurve | None = None  # input of all sources over time in the statistics; None without

    @property
    def usual_records_s(self) -> float:
        """Records per second of all sources at a load of 1."""
        return sum(item.records_s for item in self.operators if not item.inputs)

    def ranges(self, operator: int, parallelism: int) -> Ranges | None:
        """Return the ranges that an operator is split into: the plan's, once, else twice as many even ones."""
        item = self.operators[operator]
        if self.planned is not None:
            known = self.planned.get(operator)
            return known.ranges if known is not None and parallelism == item.parallelism else None
        tasks = min(2 * parallelism, self.most[operator])
        return even_ranges(item.parts, tasks) if item.scales and tasks > parallelism else None


def paper_topology() -> Problem:
    """Return the topology of the paper's experiment: spouts, stateless executors, and stateful ones."""
    document = topology_entry(random_topology(TopologyKnobs(**TOPOLOGIES[PRESET].knobs)))
    for operator in document["operators"][:-1]:  # the generator gives state to all that is fed
        operator.pop("key_groups", None)
        operator["state_bytes"] = 0
    return load(topology=document)


def job_of_topology(problem: Problem, options: ScalingSimulationOptions) -> ScalingJob:
    """Return a job without statistics: rates and times as the topology says, or as they are assumed.

    Raises FtplanError if there is no source, or none that emits anything.
    """
    topology = problem.topology
    assert topology is not None
    graph = TaskGraph(topology)
    flow = rates(graph)
    order = [int(position) for position in graph.order]
    number = {position: rank for rank, position in enumerate(order)}
    inputs = {position: sorted({number[edge.source] for edge in graph.in_edges[position]}) for position in order}
    if not any(topology.operators[position].key_groups for position in order):
        raise FtplanError("topology: no operator has key_groups, so that none is split: give it to those with state")
    made = []
    for position in order:
        tasks, operator = graph.slice_of(position), topology.operators[position]
        records_s = float((flow.into if inputs[position] else flow.out)[tasks].sum())
        made.append(_assumed(operator, tuple(inputs[position]), records_s, options))
    if not sum(item.records_s for item in made if not item.inputs) > 0.0:
        raise FtplanError("topology: no source emits anything: give the sources rate_out above 0")
    interval = {rank: topology.operators[position].checkpoint.interval_s for rank, position in enumerate(order)}
    return ScalingJob(
        operators=tuple(made),
        split=SplitSetting(
            SETUP_S if options.setup_s is None else options.setup_s,
            (options.bandwidth or BANDWIDTH_MB_S) * MB,
            INTERVAL_S if options.checkpoint_interval_s is None else options.checkpoint_interval_s,
            DELAY_S,
        ),
        intervals={
            rank: seconds
            for rank, seconds in interval.items()
            if seconds is not None and options.checkpoint_interval_s is None
        },
        planned=None,
        most=tuple(most_tasks(item, options) for item in made),
        default_load=DOUBLING,
    )


def most_tasks(operator: SimulatedOperator, options: ScalingSimulationOptions) -> int:
    """Return the largest parallelism of an operator that is doubled."""
    own = operator.key_groups or 128
    return own if options.max_parallelism is None else min(own, options.max_parallelism)


def _assumed(
    operator: Operator, inputs: tuple[int, ...], records_s: float, options: ScalingSimulationOptions
) -> SimulatedOperator:
    groups = operator.key_groups or 0
    scales = bool(groups and inputs)
    if operator.record_time_s is not None:
        use = records_s * operator.record_time_s
    else:
        use = operator.parallelism * options.busy / (1.0 if scales else ROOM)
    state = float(operator.state_bytes.sum())
    return SimulatedOperator(
        id=operator.id,
        parallelism=operator.parallelism,
        cpu=float(operator.cpu.mean()),
        use=np.full(max(groups, 1), use / max(groups, 1)),
        records_s=records_s,
        inputs=inputs,
        output=operator.output,
        key_groups=groups if inputs else 0,
        state_bytes=np.full(groups, state / groups) if groups else None,
        task_memory=np.inf if options.task_memory is None else options.task_memory,
        scales=scales,
    )
