"""Replication problems for the benchmarks: Su & Zhou's random topologies, their two queries, and large mixtures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.metrics.fidelity import fidelity_model
from ftplan.metrics.replication_problem import FailureCase, ReplicationProblem
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Partitioning, Topology


@dataclass(frozen=True, slots=True)
class Setting:
    """A point of figure 14. The paper gives no ranges of parallelism and no shape: these are assumptions."""

    name: str
    zipf: float = 0.1
    parallelism: tuple[int, int] = (1, 10)
    full: bool = False
    joins: float = 0.0


#: Part of the figure, then its settings; the second of the first part is the base of all.
FIGURE_14: dict[str, tuple[Setting, ...]] = {
    "a: task loads": (Setting("uniform", zipf=0.0), Setting("Zipf 0.1")),
    "b: parallelism": (Setting("1–10"), Setting("10–20", parallelism=(10, 20)), Setting("20–30", parallelism=(20, 30))),
    "c: partitioning": (Setting("structured"), Setting("full", full=True)),
    "d: joins": (Setting("0 %"), Setting("50 %", joins=0.5)),
}
RATIOS = tuple(round(0.1 * k, 1) for k in range(1, 9))


def figure_14(setting: Setting, seed: int) -> Topology:
    """Return a random in-tree of 5 to 10 operators to one sink.

    Structured edges are what the parallelism allows; a third of the operators copy that of their consumer and are
    one-to-one. Each operator with inputs is a join with the given probability.
    """
    random = np.random.default_rng(seed)
    count = int(random.integers(5, 11))
    low, high = setting.parallelism
    consumer = [-1, *(int(random.integers(0, i)) for i in range(1, count))]
    tasks: list[int] = []
    for i in range(count):
        own, copies = int(random.integers(low, high + 1)), random.random() < 1 / 3
        tasks.append(tasks[consumer[i]] if i and copies else own)
    joins = random.random(count) < setting.joins
    operators = []
    for i in range(count):
        load = random.permutation(1.0 / np.arange(1, tasks[i] + 1) ** setting.zipf)
        operators.append(_operator(f"o{i}", load, i in consumer, bool(joins[i]), output=i == 0))
    kinds = [_kind(tasks[i], tasks[consumer[i]], setting.full) for i in range(1, count)]
    return Topology(tuple(operators), tuple(Edge(i, consumer[i], kind) for i, kind in enumerate(kinds, start=1)))


def _operator(id: str, load: np.ndarray, fed: bool, join: bool = False, output: bool = False) -> Operator:
    """Return an operator whose tasks take or emit in proportion to their loads."""
    one = np.ones(len(load))
    return Operator(
        id, len(load), one, one, one, inputs="correlated" if join else "independent",
        rate_out=None if fed else load, input_share=load if fed else None, output=output,
    )  # fmt: skip


def _kind(senders: int, receivers: int, full: bool = False) -> Partitioning:
    if full:
        return "full"
    return "one-to-one" if senders == receivers else "split" if senders < receivers else "merge"


def query_1() -> Topology:
    """Return the top-100 pages: slices by server, merged, then one global task; 8, 4, 1 tasks (assumed)."""
    made = [
        _operator(f"O{i + 1}", 1.0 / np.arange(1, n + 1) ** 0.5, i > 0, output=i == 2) for i, n in enumerate((8, 4, 1))
    ]
    return Topology(tuple(made), (Edge(0, 1, "merge"), Edge(1, 2, "merge")))


def query_2() -> Topology:
    """Return the incidents that cause jams: speeds and incidents joined, aggregated; 8, 4, 4, 1 tasks (assumed)."""
    speeds = _operator("O1", 1.0 / np.arange(1, 9) ** 0.5, False)
    incidents = _operator("O2", 1.0 / np.arange(1, 5) ** 0.5, False)
    made = (
        speeds,
        incidents,
        _operator("O3", np.ones(4), True, join=True),
        _operator("O4", np.ones(1), True, output=True),
    )
    return Topology(made, (Edge(0, 2, "merge"), Edge(1, 2, "one-to-one"), Edge(2, 3, "merge")))


def mixture(tasks: int) -> Topology:
    """Return structured and full sub-topologies in a row with one join, about *tasks* tasks in ten operators."""
    n = tasks // 20
    width = {"a": 2, "b": 1, "c": 2, "d": 4, "e": 2, "f": 2, "g": 2, "h": 3, "i": 1, "j": 1}
    loads = {id: 1.0 / np.arange(1, n * w + 1) ** 0.5 for id, w in width.items()}
    made = [_operator(id, load, id not in "ag", join=id == "f", output=id == "j") for id, load in loads.items()]
    rows = ("ab", "bc", "cd", "de", "ef", "gf", "fh", "hi", "ij")
    place = {id: k for k, id in enumerate(width)}
    edges = [Edge(place[a], place[b], _kind(n * width[a], n * width[b], a + b in ("cd", "fh"))) for a, b in rows]
    return Topology(tuple(made), tuple(edges))


def worst_case(topology: Topology, budget: float) -> ReplicationProblem:
    """Return the problem in which every task may fail and a replica costs 1."""
    graph = TaskGraph(topology)
    flows = rates(graph)
    model = fidelity_model(graph, flows)
    case = FailureCase("worst", 1.0, np.ones(graph.tasks, dtype=np.bool_))
    return ReplicationProblem(graph, model, (case,), np.ones(graph.tasks), budget)
