"""Where what is known of a situation is from: measured, stated in an input, or assumed because nothing says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.model.cluster import Network
from ftplan.model.defaults import BANDWIDTH_MB_S, DELAY_S
from ftplan.model.measures.task_costs import TaskCosts
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology


class Origin(NamedTuple):
    """Where a field is from, and what exactly was measured, stated or assumed."""

    kind: Literal["measured", "stated", "assumed"]
    text: str


def of_rates(stated: Topology, measured: Topology) -> Origin:
    """Return the origin of the rates of tasks and streams; *measured* is the topology once statistics weighed it."""
    pairs = (*zip(stated.operators, measured.operators, strict=True), *zip(stated.edges, measured.edges, strict=True))
    if any(before is not after for before, after in pairs):
        return Origin("measured", "records of tasks and substreams in the statistics; the topology for the rest")
    rates = any(operator.rate_out is not None for operator in stated.operators)
    if rates or any(edge.substreams is not None for edge in stated.edges):
        return Origin("stated", "rate_out and substreams of the topology; selectivity for the rest")
    return Origin("assumed", "1 record/s from each task of a source, and from there by selectivity")


def of_costs(costs: TaskCosts, graph: TaskGraph) -> Origin:
    """Return the origin of the cores of tasks."""
    by_cpu = 0 if costs.measured is None else int(costs.measured.sum())
    if by_cpu:
        return Origin("measured", f"cpu_ms of {by_cpu:,} of {graph.tasks:,} tasks in the statistics")
    if not np.array_equal(costs.cost, graph.per_task("cpu")):
        return Origin("measured", "the topology's cpu, divided over the tasks of a process by their measured records")
    return Origin("stated", "cpu of the topology, 1 core where it states none")


def of_state(graph: TaskGraph, stats: StatsTables | None) -> Origin:
    """Return the origin of the state of tasks."""
    for table, column in (("key_groups", "state_bytes"), ("tasks", "memory_bytes")):
        known = None if stats is None else stats.tables.get(table)
        if known is not None and known[column].null_count < known.num_rows:
            return Origin(
                "measured", f"{column} of {table} in the statistics; state_bytes of the topology for the rest"
            )
    if graph.per_task("state_bytes").any():
        return Origin("stated", "state_bytes of the topology")
    return Origin("assumed", "no task has state")


def of_loads(stats: StatsTables | None) -> Origin:
    """Return the origin of the loads of key groups."""
    if stats is None:
        return Origin("assumed", "equal shares of the load of each operator")
    manifest = stats.manifest
    return Origin("measured", f"{manifest.windows:,} windows of {manifest.window_s:g} s in the statistics")


def of_placement(unplaced: Sequence[str], topology: Topology, read: Sequence[Warn]) -> Origin:
    """Return the origin of the nodes of tasks; *read* is what was said when the inputs were read."""
    codes = {warning.code for warning in read}
    if len(unplaced) == len(topology.operators):
        return Origin("assumed", "no task is known to run on any node")
    if "SPREAD" in codes:
        return Origin("assumed", "tasks stand round robin on the cluster's nodes, as --spread asks")
    if "PLACEMENT_FROM_STATISTICS" in codes:
        return Origin("measured", "nodes of tasks in the statistics")
    return Origin("stated", "placement.tasks of the cluster")


def of_deployed(option: str, given: Any, there: bool) -> Origin:
    """Return the origin of the replicas or checkpoint copies in place."""
    if given is not None:
        return Origin("stated", f"the plan of --{option}")
    if there:
        return Origin("stated", f"placement.{option} of the cluster")
    return Origin("assumed", f"no {option} are in place")


def of_failure(fail: Sequence[str], complete: bool) -> Origin:
    """Return the origin of what fails."""
    if complete:
        return Origin("stated", "--complete-failure")
    return Origin("stated", f"--fail {', '.join(fail)}" if fail else "the failure file")


def of_arrivals(stated: bool, count: int) -> Origin:
    """Return the origin of the nodes that arrive."""
    if stated:
        return Origin("stated", "arrivals of the failure file")
    return Origin("assumed", f"{count:,} new nodes arrive, one for each failed one" if count else "no node arrives")


def of_recovery(costs: GivenCosts) -> Origin:
    """Return the origin of what a recovery takes besides the transfer of state."""
    if costs.costs is None:
        return Origin("assumed", "failures are noticed and tasks start in no time")
    return Origin("measured", "the recovery costs of --costs, fitted on recoveries")


def of_bandwidth(costs: GivenCosts, asked: float | None, network: Network) -> Origin:
    """Return the origin of the bandwidth of state transfers."""
    if asked is not None:
        return Origin("stated", f"--bandwidth {asked:g}MiB/s")
    if costs.costs is not None and (costs.remote or costs.costs.bandwidth_mb_s is not None):
        return Origin("measured", "the recovery costs of --costs")
    if network.bandwidth_mb_s is not None:
        return Origin("stated", "network.bandwidth_mb_s of the cluster")
    return Origin("assumed", f"{BANDWIDTH_MB_S:g} MiB/s; a recovery without it takes no time for transfers")


def of_delay(network: Network) -> Origin:
    """Return the origin of the delay of a message between two nodes."""
    if network.delay_s is not None:
        return Origin("stated", "network.delay_s of the cluster")
    return Origin("assumed", f"{DELAY_S:g} s")
