"""What nobody measured of the operators of a scale-out, and what that means for the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.measures.stats_summary import LOW_COVERAGE
from ftplan.model.plan import Assumption, Warn
from ftplan.model.problem import StatsTables
from ftplan.model.topology import Topology
from ftplan.planners.scale_out.demand.usage import OperatorUsage
from ftplan.planners.scale_out.forecasting.methods import DAY_S
from ftplan.planners.scale_out.problem import ScalingProblem, acting

#: How many operators a warning names.
NAMED = 5


def unknown_warnings(usage: OperatorUsage, stats: StatsTables, cluster: Cluster | None) -> Iterator[Warn]:
    """Yield a warning for each thing that is not known, with the operators concerned and the remedy."""
    yield from _of_tables(usage, stats)
    yield from _of_tasks(usage)
    yield from _of_demand(usage)
    if cluster is not None:
        placed = cluster.placement.tasks if cluster.placement is not None else {}
        nowhere = [operator.id for operator in usage.graph.topology.operators if operator.id not in placed]
        if nowhere:
            text = (
                f"the cluster does not say on which nodes the tasks of {_names(nowhere)} are: they count as running "
                "outside it; give placement.tasks, or place round robin with --spread"
            )
            yield Warn("NO_PLACEMENT", text)


def _of_tables(usage: OperatorUsage, stats: StatsTables) -> Iterator[Warn]:
    span_s = stats.manifest.windows * stats.manifest.window_s
    if span_s < DAY_S:
        text = (
            f"the statistics span {span_s / 3600:.3g} hours: how demand differs over a day is not known, nor any peak "
            "beyond these hours"
        )
        yield Warn("SHORT_TRACE", text)
    if stats.manifest.coverage < LOW_COVERAGE:
        share = f"{stats.manifest.coverage:.0%}"
        text = f"only {share} of the windows have records: the others count as idle; use longer windows"
        yield Warn("LOW_COVERAGE", text)
    ids = [operator.id for operator in usage.graph.topology.operators]
    missing = [name for name, source in zip(ids, usage.measured.source, strict=True) if source is None]
    if missing:
        text = (
            f"no statistics for {_names(missing)}: nothing is said of its tasks; after a source without any, operators "
            "count as offered what they got"
        )
        yield Warn("NO_STATISTICS", text)
    facts = stats.manifest.operators
    spread = [name for name in ids if name in facts and facts[name].estimated]
    if spread:
        text = (
            f"statistics of {_names(spread)} were spread over the key groups of a task: what single key groups take is "
            "not known"
        )
        yield Warn("ESTIMATED_STATISTICS", text)


def _of_tasks(usage: OperatorUsage) -> Iterator[Warn]:
    known = [item for item, source in zip(usage.histories, usage.measured.source, strict=True) if source is not None]
    rateless = [item.operator for item in known if not item.true_rate > 0.0]
    if rateless:
        text = (
            f"no busy_ms, no cpu_ms and no record_time_s of {_names(rateless)}, or it never worked: how many tasks it "
            "needs is not known, so that it stays as it is; give --task-capacity, or statistics with busy time"
        )
        yield Warn("NO_BUSY_TIME", text)
    if known and all(np.isnan(item.memory).all() for item in known):
        text = (
            "the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give "
            "--task-memory, or memory_mb in the cluster file, and statistics with memory_bytes"
        )
        yield Assumption("NO_MEMORY", text)


def _of_demand(usage: OperatorUsage) -> Iterator[Warn]:
    graph, measured = usage.graph, usage.measured
    operators = graph.topology.operators
    silent = [
        operator.id
        for i, operator in enumerate(operators)
        if measured.source[i] and not graph.in_edges[i] and np.isnan(measured.queue_length[:, graph.slice_of(i)]).all()
    ]
    if silent:
        text = (
            f"no queue_length of {_names(silent)}: it is taken to offer what it wrote, which under back pressure is "
            "less than what there is to read"
        )
        yield Warn("NO_QUEUE", text)
    stated = [operators[i].id for i in usage.flows.stated if not np.isnan(usage.sized_for[i])]
    if stated:
        text = (
            f"the statistics do not tell how many records {_names(stated)} writes for each that it reads: its "
            "selectivity is the topology's"
        )
        yield Warn("SELECTIVITY_STATED", text)
    astray = [f"{operators[source].id} to {operators[target].id}" for source, target in usage.flows.astray]
    if astray:
        text = f"the statistics have records from {_names(astray)}, but the topology no such edge: they are left out"
        yield Warn("STREAM_NOT_IN_TOPOLOGY", text)


def partitioning_warnings(problem: ScalingProblem, topology: Topology) -> Iterator[Warn]:
    """Yield where an operator may change whose tasks meet only some of its neighbours'; both have the same order."""
    changing = set(acting(problem))
    edges = [
        f"{topology.operators[edge.source].id} -> {topology.operators[edge.target].id}"
        for edge in topology.edges
        if edge.partitioning not in (None, "full") and not changing.isdisjoint((edge.source, edge.target))
    ]
    if edges:
        text = (
            f"which tasks meet on {_names(edges)} follows from their numbers, and need not be possible with others: "
            "there records go from every task to every task afterwards"
        )
        yield Warn("PARTITIONING_CHANGES", text)


def _names(operators: Sequence[str]) -> str:
    more = f" and {len(operators) - NAMED:,} more" if len(operators) > NAMED else ""
    return ", ".join(operators[:NAMED]) + more
