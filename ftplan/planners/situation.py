"""One situation for every question: the job, its load, its nodes, what is in place and what fails, collected once.

Each question's ``prepare`` starts from :func:`situation_of`. A field is computed when it is first used and then kept:
nothing is read that a question does not ask for. T tasks, N nodes by their position in the cluster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Network
from ftplan.model.defaults import DELAY_S
from ftplan.model.failure import Arrival, Failure
from ftplan.model.measures.key_group_series import key_group_series, of_operators
from ftplan.model.measures.measured_topology import MeasuredTopology, measured_topology
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.measures.task_costs import TaskCosts, task_costs
from ftplan.model.measures.task_state import TaskState, task_state
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem, StatsTables
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology
from ftplan.planners import deployed
from ftplan.planners.failures import Failed, default_arrivals, what_fails


@dataclass(frozen=True, slots=True)
class GivenByOptions:
    """What options add to the input files; every question's options that have one of these call it so.

    ``checkpoints`` and ``replicas`` are plans, ``costs`` a file or document, ``fail`` selectors, ``bandwidth`` in units
    of 2^20 bytes per second.
    """

    checkpoints: Any = None
    replicas: Any = None
    costs: Any = None
    fail: tuple[str, ...] = ()
    complete_failure: bool = False
    arrivals: bool = True
    bandwidth: float | None = None

    @classmethod
    def of(cls, options: Any) -> GivenByOptions:
        """Return what a question's options have of this."""
        return cls(**{item.name: getattr(options, item.name) for item in fields(cls) if hasattr(options, item.name)})


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known before anything is planned. None and empty mean that an input was not given.

    Attributes
    ----------
    topology, cluster, stats, failure
        The inputs as they were read.
    given
        What options add to them.
    warnings
        What there was to say when they were read.
    """

    topology: Topology
    cluster: Cluster | None = None
    stats: StatsTables | None = None
    failure: Failure | None = None
    given: GivenByOptions = GivenByOptions()
    warnings: tuple[Warn, ...] = ()

    # tasks and streams

    @cached_property
    def stated_graph(self) -> TaskGraph:
        """The T tasks, with the rates that the topology states, in records/s."""
        return TaskGraph(self.topology)

    @cached_property
    def measured(self) -> MeasuredTopology:
        """The topology with the rates that the statistics measured, and what of these does not fit it."""
        return measured_topology(self.topology, self.stats)

    @cached_property
    def graph(self) -> TaskGraph:
        """The T tasks and their streams, with the rates that the statistics measured, in records/s."""
        measured = self.measured.topology
        return self.stated_graph if measured is self.topology else TaskGraph(measured)

    @cached_property
    def costs(self) -> TaskCosts:
        """Cores of each task, (T,)."""
        placement = None if self.cluster is None else self.cluster.placement
        return task_costs(self.stated_graph, self.stats, placement)

    @cached_property
    def state(self) -> TaskState:
        """Bytes of state of each task, (T,), and of each key group."""
        return task_state(self.stated_graph, self.stats)

    def series(self, measure: Any, operators: Sequence[Operator] | None = None) -> KeyGroupSeries:
        """Return the measured load of key groups in each window: of those with statistics, else of all of *operators*.

        Raises FtplanError if the statistics lack the measure, or do not fit the topology.
        """
        series = key_group_series(self.required_stats, measure, self.topology)
        return series if operators is None else of_operators(series, operators)

    # nodes, and what is in place on them

    @property
    def required_cluster(self) -> Cluster:
        """The cluster, for a question that needs one."""
        assert self.cluster is not None
        return self.cluster

    @property
    def required_stats(self) -> StatsTables:
        """The statistics, for a question that needs them."""
        assert self.stats is not None
        return self.stats

    @property
    def network(self) -> Network:
        """Bandwidth and delay between nodes, None where the cluster does not state them."""
        return Network() if self.cluster is None else self.cluster.network

    @cached_property
    def used_cpu(self) -> FloatArray:
        """Cores of each node that other work takes, (N,)."""
        return np.array([node.used_cpu for node in self.required_cluster.nodes], dtype=np.float64)

    @cached_property
    def memory_mb(self) -> FloatArray:
        """Memory of each node in units of 2^20 bytes, (N,), infinite where it is not stated."""
        nodes = self.required_cluster.nodes
        return np.array([math.inf if node.memory_mb is None else node.memory_mb for node in nodes], dtype=np.float64)

    @property
    def placed(self) -> Mapping[str, tuple[str, ...]]:
        """Ids of the nodes of the tasks of each operator that is placed, by id."""
        return {} if self.cluster is None or self.cluster.placement is None else self.cluster.placement.tasks

    @cached_property
    def node_names(self) -> tuple[str | None, ...]:
        """Id of the node of each task, (T,), None where unknown."""
        names: list[str | None] = [None] * self.stated_graph.tasks
        for operator, nodes in self.placed.items():
            names[self.stated_graph.slice_of(self.topology.position[operator])] = nodes
        return tuple(names)

    @cached_property
    def home(self) -> IntArray:
        """Node of each task, (T,), ``NOWHERE`` where unknown."""
        number = {} if self.cluster is None else self.cluster.position
        return np.array([NOWHERE if name is None else number[name] for name in self.node_names], dtype=np.int64)

    @property
    def unplaced(self) -> tuple[str, ...]:
        """Operators whose tasks the cluster does not place, by id."""
        return tuple(sorted({operator.id for operator in self.topology.operators} - set(self.placed)))

    @cached_property
    def _replicas(self) -> tuple[tuple[deployed.Replica, ...], InputFile | None]:
        return deployed.replicas(self.given.replicas, self.graph, self.cluster)

    @property
    def replicas(self) -> tuple[deployed.Replica, ...]:
        """The active replicas that run, by task."""
        return self._replicas[0]

    @cached_property
    def replica_node(self) -> IntArray:
        """Node of each task's replica, (T,): ``NOWHERE`` without one, ``ANYWHERE`` for one on no node in particular."""
        node = np.full(self.stated_graph.tasks, NOWHERE, dtype=np.int64)
        for item in self.replicas:
            node[item.task] = ANYWHERE if item.node is None else self.required_cluster.position[item.node]
        return node

    @cached_property
    def _copies(self) -> tuple[deployed.Copies, InputFile | None]:
        return deployed.checkpoint_copies(self.given.checkpoints, self.topology, self.cluster)

    @property
    def copies(self) -> deployed.Copies:
        """Ids of the nodes with a checkpoint of each key group, by operator."""
        return self._copies[0]

    @property
    def useful_copies(self) -> deployed.Copies:
        """Those that make a restore faster: none where, by the recovery costs, state is fetched from a store."""
        copies = self.copies
        return {} if self.recovery.remote else copies

    # what fails, who arrives, and what a recovery takes

    @cached_property
    def failed(self) -> Failed:
        """What the failure file and ``fail`` take down."""
        return what_fails(self.graph, self.cluster, self.failure, self.given.fail, self.given.complete_failure)

    @property
    def stated_arrivals(self) -> tuple[Arrival, ...]:
        """The nodes that arrive by the failure file; none where none are to count."""
        return self.failure.arrivals if self.failure is not None and self.given.arrivals else ()

    @cached_property
    def arrivals(self) -> tuple[tuple[Arrival, ...], tuple[Warn, ...]]:
        """The nodes that arrive, by default one for each that failed, and that this is assumed."""
        stated = self.stated_arrivals or (self.failure is not None and self.failure.nobody_arrives)
        if stated or not self.given.arrivals:
            return self.stated_arrivals, ()
        return default_arrivals(self.cluster, self.failed)

    @cached_property
    def recovery(self) -> GivenCosts:
        """The recovery costs that were asked for."""
        return GivenCosts.of(self.given.costs)

    @property
    def bandwidth_mb_s(self) -> float | None:
        """Bandwidth of restores in units of 2^20 bytes per second, None where unknown."""
        return self.recovery.bandwidth_mb_s(self.given.bandwidth, self.network.bandwidth_mb_s)

    @property
    def transfer_mb_s(self) -> tuple[float, tuple[Warn, ...]]:
        """Bandwidth of state transfers in units of 2^20 bytes per second, and that it is assumed where it is."""
        return self.recovery.transfer_mb_s(self.given.bandwidth, self.network.bandwidth_mb_s)

    @property
    def delay_s(self) -> float:
        """Delay of a message between two nodes in seconds."""
        return DELAY_S if self.network.delay_s is None else self.network.delay_s

    @property
    def files(self) -> tuple[InputFile, ...]:
        """Fingerprints of the plans and files that options name: replicas, checkpoints, recovery costs."""
        found: list[InputFile | None] = [
            None if self.given.replicas is None else self._replicas[1],
            None if self.given.checkpoints is None else self._copies[1],
            None if self.given.costs is None else self.recovery.file,
        ]
        return tuple(file for file in found if file is not None)


def situation_of(
    problem: Problem, options: Any = None, who: str = "a plan", needs: Sequence[str] = ("topology",)
) -> Situation:
    """Return the situation of a question's inputs and options.

    Raises FtplanError if one of the inputs that are needed is missing.

    Parameters
    ----------
    who, needs
        The question, as a message calls it, and the roles of the inputs without which it has no answer.
    """
    for name in needs:
        if getattr(problem, name) is None:
            raise FtplanError(f"{who} needs {name}: give --{name} (in Python {name}=...)")
    assert problem.topology is not None
    given = GivenByOptions.of(options)
    return Situation(problem.topology, problem.cluster, problem.stats, problem.failure, given, problem.warnings)
