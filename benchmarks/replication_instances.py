"""Replication problems for the benchmarks: Su & Zhou's random topologies and their two queries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.presets import TOPOLOGIES
from ftplan.generators.topology import topology
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Topology
from ftplan.planners.replicate_tasks.problem import FailureCase, ReplicationProblem


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
    knobs = TopologyKnobs(**TOPOLOGIES["replication-figure-14"].knobs)
    asked = {"zipf": setting.zipf, "parallelism": setting.parallelism, "full": float(setting.full)}
    return topology(replace(knobs, seed=seed, joins=setting.joins, **asked))


def _operator(id: str, load: np.ndarray, fed: bool, join: bool = False, output: bool = False) -> Operator:
    """Return an operator whose tasks take or emit in proportion to their loads."""
    one = np.ones(len(load))
    return Operator(
        id, len(load), one, one, one, inputs="correlated" if join else "independent",
        rate_out=None if fed else load, input_share=load if fed else None, output=output,
    )  # fmt: skip


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


def worst_case(topology: Topology, budget: float) -> ReplicationProblem:
    """Return the problem in which every task may fail and a replica costs 1."""
    graph = TaskGraph(topology)
    flows = rates(graph)
    model = fidelity_model(graph, flows)
    case = FailureCase("worst", 1.0, np.ones(graph.tasks, dtype=np.bool_))
    return ReplicationProblem(graph, model, (case,), np.ones(graph.tasks), budget)
