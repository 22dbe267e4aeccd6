"""A drain schedule: which nodes restart together, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan
from ftplan.model.topology import Topology
from ftplan.reports.charts import ROWS, Bar, bars
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import count, duration, is_number, number, share
from ftplan.reports.palette import step_style
from ftplan.reports.plan_figures import Highlight, States, in_step

BEFORE = "one by one"


def _rounds(plan: Plan) -> Sequence[Mapping[str, Any]]:
    rounds: Sequence[Mapping[str, Any]] = (plan.plan or {}).get("rounds") or []
    return rounds


def _seconds(plan: Plan) -> float | None:
    lengths = [item.get("duration_s") for item in _rounds(plan)]
    return sum(lengths) if lengths and all(isinstance(s, (int, float)) for s in lengths) else None  # type: ignore[arg-type]


def _fidelities(plan: Plan) -> list[float]:
    return [item["fidelity"] for item in _rounds(plan) if isinstance(item.get("fidelity"), (int, float))]


def lead(plan: Plan) -> Sequence[str]:
    """Return how many nodes restart in how many rounds, and what is down meanwhile."""
    rounds = _rounds(plan)
    nodes = sum(len(item.get("nodes") or []) for item in rounds)
    seconds = _seconds(plan)
    long = f", {duration(seconds)} in all" if seconds is not None else ""
    said = [f"{count(nodes, 'node')} {'restarts' if nodes == 1 else 'restart'} in {count(len(rounds), 'round')}{long}."]
    if _fidelities(plan):
        said.append(f"In no round does output fidelity fall below {share(min(_fidelities(plan)))}.")
    left = (plan.plan or {}).get("unplaced") or []
    if left:
        said.append(f"{count(len(left), 'node')} {'has' if len(left) == 1 else 'have'} no round.")
    return said


def highlights(plan: Plan) -> Sequence[Highlight]:
    """Return rounds, time and lowest fidelity."""
    rounds, seconds = _rounds(plan), _seconds(plan)
    largest = max((len(item.get("nodes") or []) for item in rounds), default=0)
    named = plan.summary.get("peers")
    peers = {
        name.replace("_", " "): figures
        for name, figures in (named.items() if isinstance(named, Mapping) else ())
        if isinstance(figures, Mapping)
    }
    others = [
        f"{name}: {number(figures['rounds'])}" + (" (breaks rules)" if figures.get("breaks") else "")
        for name, figures in peers.items()
        if is_number(figures.get("rounds"))
    ]
    listed = [Highlight("Rounds", number(len(rounds)), ", ".join(others))]
    listed.append(Highlight("Most nodes at once", number(largest)))
    if seconds is not None:
        slow = [f"{name}: {duration(f['duration_s'])}" for name, f in peers.items() if is_number(f.get("duration_s"))]
        listed.append(Highlight("Time in all", duration(seconds), ", ".join(slow)))
    if _fidelities(plan):
        listed.append(Highlight("Lowest output fidelity", share(min(_fidelities(plan)))))
    return listed


def states(plan: Plan, topology: Topology, cluster: Cluster | None) -> States:
    """Return the round in which each task's node restarts."""
    placed = cluster.placement.tasks if cluster is not None and cluster.placement is not None else {}
    round_of = {node: item.get("round", k) for k, item in enumerate(_rounds(plan)) for node in item.get("nodes") or []}
    return {
        (operator, i): in_step(round_of[node], f"down in round {round_of[node]}", f"in round {round_of[node]}")
        for operator, nodes in placed.items()
        for i, node in enumerate(nodes)
        if node in round_of
    }


def figures(plan: Plan) -> Sequence[Figure]:
    """Return nodes and output fidelity by round."""
    rounds = _rounds(plan)[:ROWS]
    if not rounds:
        return []
    more = f"; the first {ROWS} are drawn" if len(_rounds(plan)) > ROWS else ""
    sizes = []
    for k, item in enumerate(rounds):
        nodes = len(item.get("nodes") or [])
        long = f", {duration(item['duration_s'])}" if isinstance(item.get("duration_s"), (int, float)) else ""
        sizes.append(Bar(f"round {item.get('round', k)}", float(nodes), f"{count(nodes, 'node')}{long}", step_style(k)))
    said = f"{count(len(_rounds(plan)), 'round')}{more}."
    made = [figure("Nodes by round", said, lambda width: bars(sizes, width))]
    values = [
        Bar(f"round {item.get('round', k)}", item["fidelity"], share(item["fidelity"]))
        for k, item in enumerate(rounds)
        if isinstance(item.get("fidelity"), (int, float))
    ]
    if values:
        least = plan.options.get("min_fidelity")
        limit = (least, f"at least {share(least)}") if is_number(least) else None
        made.append(figure("Output fidelity by round", said, lambda width: bars(values, width, limit)))
    return made
