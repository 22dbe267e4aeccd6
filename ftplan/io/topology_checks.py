"""The rules that a topology file must keep beyond its shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ftplan.errors import and_more
from ftplan.io.validation import Complaints, unknown
from ftplan.model.plan import Warn
from ftplan.model.ranges import DERIVED
from ftplan.model.rates import disagreement, sent_by
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, FloatArray, Topology

if TYPE_CHECKING:
    from ftplan.io.topology_model import EdgeModel, OperatorModel, TopologyModel

_CYCLE_SHOWN = 12  # operators of a cycle that are printed


def check_operators(model: TopologyModel, complaints: Complaints) -> None:
    """Check for duplicate ids, lists of the wrong length and input shares that are all zero."""
    first: dict[str, int] = {}
    for i, operator in enumerate(model.operators):
        place = f"operators[{i}]"
        if operator.id in first:
            complaints.add(f"{place}.id", f"duplicate id {operator.id!r} (also operators[{first[operator.id]}])")
        first.setdefault(operator.id, i)
        for key in ("cpu", "rate_out", "input_share", "state_bytes", "priority"):
            values = getattr(operator, key)
            tasks = operator.parallelism
            if isinstance(values, list) and len(values) != tasks:
                text = f"wrong length: got {len(values)}, expected {tasks} = parallelism of {operator.id!r}"
                complaints.add(f"{place}.{key}", text)
        if operator.input_share is not None and not any(operator.input_share):
            complaints.add(f"{place}.input_share", "all shares are 0; at least one must be more")


def check_edges(model: TopologyModel, complaints: Complaints) -> None:
    """Check both ends, the partitioning, the substreams, and that there is no cycle."""
    operators: dict[str, OperatorModel] = {}
    for operator in model.operators:
        operators.setdefault(operator.id, operator)
    pairs: list[tuple[str, str]] = []
    for i, edge in enumerate(model.edges):
        known = True
        for key, name in (("from", edge.source), ("to", edge.to)):
            if name not in operators:
                complaints.add(f"edges[{i}].{key}", unknown("operator", name, operators))
                known = False
        if not known:
            continue
        if edge.source == edge.to:
            complaints.add(f"edges[{i}]", f"self loop: {edge.to!r} feeds itself, but the graph must be acyclic")
            continue
        pairs.append((edge.source, edge.to))
        source, target = operators[edge.source], operators[edge.to]
        if edge.substreams is not None:
            _check_substreams(edge, f"edges[{i}].substreams", source, target, complaints)
        elif edge.partitioning not in (None, "full"):
            _check_partitioning(edge, f"edges[{i}].partitioning", source, target, complaints)
    cycle = find_cycle([operator.id for operator in model.operators], pairs)
    if cycle is not None:
        shown = list(cycle)
        if len(shown) > _CYCLE_SHOWN:
            shown[_CYCLE_SHOWN - 2 : -2] = [f"… {len(shown) - _CYCLE_SHOWN} more …"]
        complaints.add("edges", f"cycle: {' -> '.join(shown)}; the graph must be acyclic")


def _check_partitioning(
    edge: EdgeModel, place: str, source: OperatorModel, target: OperatorModel, complaints: Complaints
) -> None:
    upstream, downstream = source.parallelism, target.parallelism
    fits, rule = {
        "one-to-one": (upstream == downstream, "one-to-one needs equal parallelism"),
        "split": (upstream < downstream, "split needs fewer upstream than downstream tasks"),
        "merge": (upstream > downstream, "merge needs more upstream than downstream tasks"),
    }[str(edge.partitioning)]
    if not fits:
        complaints.add(place, f"{rule}, but {source.id!r} has {upstream} and {target.id!r} has {downstream}")


def _check_substreams(
    edge: EdgeModel, place: str, source: OperatorModel, target: OperatorModel, complaints: Complaints
) -> None:
    met: dict[tuple[int, int], int] = {}
    for k, (from_index, to_index, _) in enumerate(edge.substreams or ()):
        for side, index, operator in ((0, from_index, source), (1, to_index, target)):
            if index >= operator.parallelism:
                complaints.add(
                    f"{place}[{k}][{side}]",
                    f"index {index} is out of range: {operator.id!r} has {_tasks(operator.parallelism)}",
                )
        if met.setdefault((from_index, to_index), k) != k:
            also = met[from_index, to_index]
            complaints.add(f"{place}[{k}]", f"duplicate substream {from_index} -> {to_index} (also substreams[{also}])")


def _tasks(count: int) -> str:
    return "1 task (0)" if count == 1 else f"{count} tasks (0 to {count - 1})"


def check_rates(topology: Topology, complaints: Complaints) -> None:
    """Check that the rates which follow from selectivities stay within what the models carry."""
    graph = TaskGraph(topology)
    out = [0.0] * len(topology.operators)
    for i in graph.order:
        operator = topology.operators[i]
        if operator.rate_out is not None:
            out[i] = float(operator.rate_out.sum())
        elif graph.in_edges[i]:
            out[i] = operator.selectivity * sum(_carried(edge, out[edge.source]) for edge in graph.in_edges[i])
        else:
            out[i] = float(operator.parallelism)
        if out[i] and not DERIVED.holds(out[i]):
            text = f"its derived rate of {out[i]:g} records/s must be {DERIVED}: mend selectivity, or give rate_out"
            complaints.add(f"operators[{i}]", text)
            return


def _carried(edge: Edge, sent: float) -> float:
    """Return the records per second on an edge."""
    return sent if edge.substreams is None else float(edge.substreams.rate.sum())


def find_cycle(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> tuple[str, ...] | None:
    """Return a cycle as a path whose last node is its first, or None; linear time.

    It begins with the node of the cycle that stands first in *nodes*.
    """
    order = {node: i for i, node in enumerate(nodes)}
    sorter = TopologicalSorter(dict.fromkeys(order, ()))
    for source, target in edges:
        sorter.add(target, source)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][:-1]
        start = min(range(len(cycle)), key=lambda i: order[cycle[i]])
        return (*cycle[start:], *cycle[: start + 1])
    return None


def rate_warnings(topology: Topology, model: TopologyModel, name: str) -> Iterator[Warn]:
    """Yield what is allowed but deserves a second look."""
    for i, operator in enumerate(topology.operators):
        if operator.key_groups is not None and operator.key_groups < operator.parallelism:
            yield Warn(
                "FEW_KEY_GROUPS",
                f"{name}: operators[{i}].key_groups: {operator.key_groups} key groups for {operator.parallelism} tasks "
                f"of {operator.id!r}: some tasks own none",
            )
    pairs: dict[tuple[int, int], int] = {}
    doubled: list[int] = []
    disagreeing: list[str] = []
    for i, (edge, entry) in enumerate(zip(topology.edges, model.edges, strict=True)):
        if pairs.setdefault((edge.source, edge.target), i) != i:
            doubled.append(i)
        if edge.substreams is None:
            continue
        if entry.partitioning is not None:
            yield Warn("SUBSTREAMS_WIN", f"{name}: edges[{i}].partitioning: is ignored, since there are substreams")
        source = topology.operators[edge.source]
        if source.rate_out is not None and (worst := _disagreement(edge, source.rate_out)) is not None:
            task, sent = worst
            disagreeing.append(
                f"{name}: edges[{i}].substreams: task {source.id}/{task} sends {sent:g} records/s, but its rate_out is "
                f"{source.rate_out[task]:g}; inputs weigh by substreams, outputs by rate_out"
            )
    if disagreeing:
        yield Warn("RATES_DISAGREE", f"{disagreeing[0]}{and_more(len(disagreeing))}")
    if doubled:
        first = topology.edges[doubled[0]]
        yield Warn(
            "DUPLICATE_EDGE",
            f"{name}: edges[{doubled[0]}]: a second edge from {topology.operators[first.source].id!r} to "
            f"{topology.operators[first.target].id!r}; each carries the whole output{and_more(len(doubled))}",
        )


def _disagreement(edge: Edge, rate_out: FloatArray) -> tuple[int, float] | None:
    """Return (task, records/s by its substreams) where that differs most from ``rate_out``, or None below 1 %."""
    assert edge.substreams is not None
    sent = sent_by(edge.substreams, len(rate_out))
    worst = disagreement(rate_out, sent)
    return None if worst is None else (worst[0], float(sent[worst[0]]))
