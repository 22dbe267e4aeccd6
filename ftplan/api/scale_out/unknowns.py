"""What nobody measured of the operators of a scale-out, and what that means for the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.api.scale_out.usage import OperatorUsage
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables

#: How many operators a warning names.
NAMED = 5


def unknown_warnings(usage: OperatorUsage, stats: StatsTables, cluster: Cluster | None) -> Iterator[Warn]:
    """Yield a warning for each thing that is not known, with the operators concerned and the remedy."""
    graph, measured, histories = usage.graph, usage.measured, usage.histories
    ids = [operator.id for operator in graph.topology.operators]
    there = [source is not None for source in measured.source]
    missing = [name for name, known in zip(ids, there, strict=True) if not known]
    if missing:
        text = (
            f"no statistics for {_names(missing)}: nothing is said of its tasks, and what is offered to the operators "
            "after it is what they got"
        )
        yield Warn("NO_STATISTICS", text)
    rateless = [h.operator for h, known in zip(histories, there, strict=True) if known and not h.true_rate > 0.0]
    if rateless:
        text = (
            f"no busy_ms, no cpu_ms and no record_time_s of {_names(rateless)}, or it never worked: how many tasks it "
            "needs is not known, so that it stays as it is; give --task-capacity, or statistics with busy time"
        )
        yield Warn("NO_BUSY_TIME", text)
    if any(there) and all(np.isnan(h.memory).all() for h in histories):
        text = (
            "the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give "
            "--task-memory, or memory_mb in the cluster file, and statistics with memory_bytes"
        )
        yield Warn("NO_MEMORY", text)
    sources = [name for i, name in enumerate(ids) if there[i] and not graph.in_edges[i]]
    at = graph.topology.position
    silent = [name for name in sources if np.isnan(measured.queue_length[:, graph.slice_of(at[name])]).all()]
    if silent:
        text = (
            f"no queue_length of {_names(silent)}: it is taken to offer what it wrote, which under back pressure is "
            "less than what there is to read"
        )
        yield Warn("NO_QUEUE", text)
    assumed = [ids[i] for i in usage.flows.stated if there[i]]
    if assumed:
        text = (
            f"the statistics do not tell how many records {_names(assumed)} writes for each that it reads: its "
            "selectivity is the topology's"
        )
        yield Warn("SELECTIVITY_STATED", text)
    facts = stats.manifest.operators
    spread = [name for name in ids if name in facts and facts[name].estimated]
    if spread:
        text = (
            f"statistics of {_names(spread)} were spread over the key groups of a task: what single key groups take is "
            "not known"
        )
        yield Warn("ESTIMATED_STATISTICS", text)
    if cluster is not None:
        placed = cluster.placement.tasks if cluster.placement is not None else {}
        nowhere = [name for name in ids if name not in placed]
        if nowhere:
            text = (
                f"the cluster does not say on which nodes the tasks of {_names(nowhere)} are: they count as running "
                "outside it; give placement.tasks, or place round robin with --spread"
            )
            yield Warn("NO_PLACEMENT", text)


def _names(operators: Sequence[str]) -> str:
    more = f" and {len(operators) - NAMED:,} more" if len(operators) > NAMED else ""
    return ", ".join(operators[:NAMED]) + more
