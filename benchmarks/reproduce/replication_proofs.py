"""Su & Zhou (ICDE 2016): where a theorem, a listing and a formula can be held against small cases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from replication_instances import worst_case

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.topology import topology as generated
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.replicate_tasks.algorithms.dynamic_programming import dynamic_programming
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
from ftplan.planners.replicate_tasks.key_aligned_fidelity import key_aligned_model
from reproduce.checks import within
from reproduce.drawing import bars
from reproduce.replication_plans import operator
from reproduce.row import Check, Claim, Outcome, Row, Table


@cache
def small_topologies(count: int) -> Table:
    """Return, for random topologies, the size of dynamic programming's plan and of the least plan as good."""
    rows = []
    for seed in range(count):
        knobs = TopologyKnobs(seed=seed, operators=(2, 4), parallelism=(1, 3), joins=0.3, full=0.3, key_groups=0)
        topology = generated(knobs)
        budget = 1 + seed % topology.task_count
        problem = worst_case(topology, float(budget))
        chosen = dynamic_programming(problem, ReplicationOptions()).answer.replicated
        kept, least = problem.value(chosen), topology.task_count
        for flags in product((False, True), repeat=topology.task_count):
            if sum(flags) < least and problem.value(np.array(flags)) >= kept - 1e-9:
                least = sum(flags)
        rows.append(
            (f"{topology.name}, {topology.task_count} tasks, {budget} replicas", kept, int(chosen.sum()), least)
        )
    return Table(("topology", "fidelity", "replicas", "least"), tuple(rows))


def make_theorem_1(quick: bool) -> Outcome:
    """Return plans of dynamic programming beside the least plans of the same fidelity."""
    table = small_topologies(5 if quick else 200)
    return Outcome(
        table, bars(Table(table.columns, table.rows[:10]), "topology", ["replicas", "least"], label="replicas")
    )


def _no_smaller(table: Table) -> Iterator[Check]:
    larger = sum(taken > least for _, _, taken, least in table.rows)
    yield Check(larger == 0, f"{larger} of {len(table.rows)} plans could be smaller")


def make_budget(_: bool) -> Outcome:
    """Return what two replicas keep of two sources that one task merges: fewer than there are operators."""
    sources = (operator("a", 1), operator("b", 1))
    problem = worst_case(
        Topology((*sources, operator("c", 1, output=True)), (Edge(0, 2, "one-to-one"), Edge(1, 2, "one-to-one"))), 2.0
    )
    kept = problem.value(structure_aware(problem, ReplicationOptions()).answer.replicated)
    table = Table(("planner", "fidelity"), (("as printed: nothing", 0.0), ("structure-aware", kept)))
    return Outcome(table, bars(table, "planner", ["fidelity"], label="output fidelity"))


def make_one_source(_: bool) -> Outcome:
    """Return what is kept of a join of two streams of one source by key, one of two source tasks lost."""
    made = (operator("a", 2), operator("b", 2), operator("c", 2), operator("j", 2, "correlated", output=True))
    ends = ((0, 1), (0, 2), (1, 3), (2, 3))
    edges = tuple(Edge(source, target, "one-to-one") for source, target in ends)
    merged = (*made[:3], operator("j", 1, "correlated", output=True))
    rows = []
    live = np.array([True, False] + [True] * 6)
    for name, topology in (
        ("joined in two tasks", Topology(made, edges)),
        ("joined in one task", Topology(merged, (*edges[:2], Edge(1, 3, "merge"), Edge(2, 3, "merge")))),
    ):
        graph = TaskGraph(topology)
        models = (fidelity_model(graph, rates(graph)), key_aligned_model(graph, rates(graph)))
        rows.append((name, *(model.fidelity(live[: graph.tasks]) for model in models), 0.5))
    table = Table(("job", "output_fidelity", "key_aligned_fidelity", "keys_left"), tuple(rows))
    return Outcome(table, bars(table, "job", table.columns[1:], label="kept"))


ROWS = (
    Row(
        "replication-theorem-1",
        "SuZhou2016",
        "theorem 1",
        "the least plan of its fidelity",
        make_theorem_1,
        (
            Claim(
                "no other plan that keeps as much takes fewer replicas than dynamic programming's",
                "section IV-A, theorem 1",
                "brute force over all sets finds no smaller one",
                _no_smaller,
            ),
        ),
        "random topologies of 2 to 4 operators with up to 3 tasks each; ties have to end at the fewest replicas",
    ),
    Row(
        "replication-algorithm-5",
        "SuZhou2016",
        "algorithm 5, line 4",
        "fewer replicas than operators",
        make_budget,
        (
            Claim(
                "with fewer replicas than operators there is nothing to gain: the listing returns no replica",
                "section IV-C3",
                "two replicas keep nothing of two sources merged by a third operator",
                lambda t: [within("kept by structure-aware", t.value("fidelity", planner="structure-aware"), 0.0, 0.0)],
            ),
        ),
        "a source and its receiver are an MC-tree of two tasks where inputs are independent",
    ),
    Row(
        "replication-join-of-one-source",
        "SuZhou2016",
        "equation 2",
        "a join of two streams of one source",
        make_one_source,
        (
            Claim(
                "output fidelity is about the part of the source's records that contributes to tentative output",
                "section III-A",
                "it is within 0.01 of the share of the keys that are left",
                lambda t: [
                    within(f"{job}: output fidelity", kept, left - 0.01, left + 0.01) for job, kept, _, left in t.rows
                ],
            ),
            Claim(
                "key-aligned fidelity is",
                "ours",
                "it is within 0.01 of the share of the keys that are left",
                lambda t: [
                    within(f"{job}: key-aligned fidelity", kept, left - 0.01, left + 0.01)
                    for job, _, kept, left in t.rows
                ],
            ),
        ),
        "both streams are divided by the key of the join; equation 2 takes them as unrelated",
    ),
)
