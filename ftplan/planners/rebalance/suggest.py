"""How many nodes to add or to remove, as a plan's summary says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.planners.rebalance.algorithms.cluster_size import ClusterSizing, Suggestion, suggest
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.planners.rebalance.problem import RebalanceProblem

#: New nodes that a sentence lists.
MAX_NAMED_NODES = 3


def suggestion(prepared: PreparedRebalance, options: RebalanceOptions) -> dict[str, Any]:
    """Return a suggestion as a plan's summary keeps it, on top of the nodes that are added and removed already."""
    problem, cluster = prepared.problem, prepared.cluster
    low, high = options.band
    sizing = ClusterSizing(problem, prepared.series.loads.sum(axis=1), (low, high), options.seed)
    made = suggest(sizing)
    after = sizing.in_use.copy()
    after[list(made.nodes)] = made.action == "add"
    new = [_new_node(cluster, made, number) for number in range(made.more)]
    more = 0.0 if made.like is None else made.more * float(problem.capacity[made.like])
    return {
        "band": [low, high],
        "action": made.action,
        "count": len(made.nodes) + made.more,
        "nodes": [problem.nodes[node] for node in made.nodes],
        "new_nodes": new,
        "in_band": made.in_band,
        "fewest": made.proven,
        "for_peaks": made.for_peaks,
        "why": made.why,
        "text": _text(made, problem),
        "utilisation_before": sizing.utilisation(sizing.in_use, sizing.demand),
        "utilisation_after": sizing.utilisation(after, sizing.demand, more),
        "p95_before": sizing.utilisation(sizing.in_use, sizing.peak),
        "p95_after": sizing.utilisation(after, sizing.peak, more),
        "next": _commands(made, problem, new, options.add, options.remove),
    }


def _text(made: Suggestion, problem: RebalanceProblem) -> str:
    if made.action == "none":
        return "neither add nor remove nodes" + ("" if made.in_band else ": the band is not reached")
    names = ", ".join(problem.nodes[node] for node in made.nodes)
    count = len(made.nodes)
    said = [f"{made.action} {count} {'node' if count == 1 else 'nodes'}: {names}"] if count else []
    if made.more and made.like is not None:
        said.append(f"add {made.more} new {'node' if made.more == 1 else 'nodes'} like {problem.nodes[made.like]}")
    proof = " (no fewer do)" if made.proven and made.in_band else "" if made.in_band else " (the band is not reached)"
    return ", and ".join(said) + proof


def _new_node(cluster: Cluster, made: Suggestion, number: int) -> dict[str, Any]:
    """Return an entry for the nodes of the cluster file, in the zones in turn, the smallest first."""
    assert made.like is not None
    like = cluster.nodes[made.like]
    free = (f"extra-{k}" for k in range(1, len(cluster.nodes) + made.more + 2) if f"extra-{k}" not in cluster.position)
    names = [name for name, _ in zip(free, range(number + 1), strict=False)]
    entry: dict[str, Any] = {"id": names[number], "cpu": like.cpu}
    if like.memory_mb is not None:
        entry["memory_mb"] = like.memory_mb
    zones = _zones_by_size(cluster)
    if zones:
        entry["zone"] = zones[number % len(zones)]
    return entry


def _zones_by_size(cluster: Cluster) -> list[str]:
    """Return the zones, those with fewest nodes first."""
    counts: dict[str, int] = {}
    for node in cluster.nodes:
        if node.zone is not None:
            counts[node.zone] = counts.get(node.zone, 0) + 1
    return sorted(counts, key=lambda zone: counts[zone])


def _commands(
    made: Suggestion,
    problem: RebalanceProblem,
    new: Sequence[dict[str, Any]],
    add: Iterable[str],
    remove: Iterable[str],
) -> list[str]:
    """Return what to do next, line by line."""
    if made.action == "none":
        return []
    named = [problem.nodes[node] for node in made.nodes]
    steps = []
    if new:
        entries = [
            "{" + ", ".join(f"{k}: {_plain(v)}" for k, v in entry.items()) + "}" for entry in new[:MAX_NAMED_NODES]
        ]
        more = f" and {len(new) - MAX_NAMED_NODES:,} more, see new_nodes" if len(new) > MAX_NAMED_NODES else ""
        steps.append(f"add to the nodes of the cluster file: {', '.join(entries)}{more}")
        named += [entry["id"] for entry in new]
    added = [*add, *(named if made.action == "add" else ())]
    removed = [*remove, *(named if made.action == "remove" else ())]
    flags = [*(f"--add {node}" for node in added), *(f"--remove {node}" for node in removed)]
    return [*steps, " ".join(["ftplan rebalance", *flags])]


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
