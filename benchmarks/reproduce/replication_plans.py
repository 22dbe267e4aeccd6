"""Su & Zhou (ICDE 2016): which tasks get an active replica, as plans and output fidelity alone tell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from replication_figure_13 import fidelities
from replication_figure_14 import all_points

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Topology
from ftplan.planners.replicate_tasks.mc_trees import count_mc_trees
from reproduce.checks import at_least, at_most, compared, number, within
from reproduce.drawing import bars, lines
from reproduce.row import Check, Claim, Outcome, Row, Table

INPUTS = ("independent", "correlated")


def operator(id: str, tasks: int, inputs: str = "independent", rate: Any = None, output: bool = False) -> Operator:
    """Return an operator whose source tasks emit the given rates."""
    one = np.ones(tasks)
    out = None if rate is None else np.asarray(rate, dtype=np.float64)
    return Operator(id, tasks, one, 0 * one, one, inputs=inputs, rate_out=out, output=output)  # type: ignore[arg-type]


def two_into_one(tasks: tuple[int, int, int, int], inputs: str) -> Topology:
    """Return o1 and o2 one-to-one into o3, and o3 full into o4."""
    a, b, c, d = tasks
    made = (operator("o1", a), operator("o2", b), operator("o3", c, inputs), operator("o4", d, output=True))
    return Topology(made, (Edge(0, 2, "one-to-one"), Edge(1, 2, "one-to-one"), Edge(2, 3, "full")))


def make_figure_1(_: bool) -> Outcome:
    """Return the number of MC-trees of figure 1's topology, o3 being a join or not."""
    rows = tuple((inputs, count_mc_trees(TaskGraph(two_into_one((4, 4, 4, 2), inputs)))) for inputs in INPUTS)
    table = Table(("inputs_of_o3", "mc_trees"), rows)
    return Outcome(table, bars(table, "inputs_of_o3", ["mc_trees"], label="MC-trees"))


def make_figure_2(_: bool) -> Outcome:
    """Return what t31 loses when t22 fails, o3 being a join or not."""
    rows = []
    for inputs in INPUTS:
        sources = (operator("o1", 2, rate=(1.0, 2.0)), operator("o2", 2, rate=(3.0, 2.0)))
        topology = Topology(
            (*sources, operator("o3", 1, inputs, output=True)), (Edge(0, 2, "merge"), Edge(1, 2, "merge"))
        )
        graph = TaskGraph(topology)
        live = np.array([True, True, True, False, True])
        rows.append((inputs, 1.0 - fidelity_model(graph, rates(graph)).fidelity(live)))
    table = Table(("inputs_of_o3", "loss_of_t31"), tuple(rows))
    return Outcome(table, bars(table, "inputs_of_o3", ["loss_of_t31"], label="information loss"))


def make_figure_13(_: bool) -> Outcome:
    """Return the output fidelity of three planners on the paper's two queries."""
    names = ("dynamic_programming", "structure_aware", "greedy")
    table = Table(("query", "ratio", "replicas", *names), tuple(fidelities()))
    return Outcome(table, lines(table, "ratio", names, panel="query", label="output fidelity"))


def make_figure_14(quick: bool) -> Outcome:
    """Return the output fidelity of greedy and structure-aware on random topologies."""
    points = all_points(1, 0.0, (0.2, 0.5), smaller=5) if quick else all_points(100, 0.0)
    rows = [
        (
            part[0],
            name,
            ratio,
            float(p.greedy.mean()),
            float(p.aware.mean()),
            int((p.aware < p.greedy - 1e-12).sum()),
        )
        for (part, name, ratio), p in points.items()
    ]
    columns = ("part", "setting", "ratio", "greedy", "structure_aware", "runs_below_greedy")
    table = Table(columns, tuple(rows))
    draw = lines(table, "ratio", ["structure_aware", "greedy"], "setting", "part", "output fidelity")
    return Outcome(table, draw)


def _gap_is_largest_first(table: Table) -> Iterator[Check]:
    for part, setting in dict.fromkeys(zip(table.column("part"), table.column("setting"), strict=True)):
        where = {"part": part, "setting": setting}
        pairs = list(zip(*(table.column(name, **where) for name in ("structure_aware", "greedy")), strict=True))
        first, last = (aware / low if low > 0.0 else float("inf") for aware, low in (pairs[0], pairs[-1]))
        yield Check(first > last, f"({part}) {setting}: {number(first)} and {number(last)} times greedy")


def _order(part: str, low: str, high: str, table: Table) -> Iterator[Check]:
    for ratio in table.keys("ratio"):
        below, above = ({"part": part, "setting": setting, "ratio": ratio} for setting in (low, high))
        yield compared(table, "structure_aware", below, above, f"{ratio:.0%} replicated, {low} and {high}")


def _full_is_close(table: Table) -> Iterator[Check]:
    for ratio in table.keys("ratio"):
        where = {"part": "c", "setting": "full", "ratio": ratio}
        aware, low = (table.value(name, **where) for name in ("structure_aware", "greedy"))
        yield at_most(f"{ratio:.0%} replicated: above greedy by", aware - low, 0.05)


ROWS = (
    Row(
        "replication-figure-1",
        "SuZhou2016",
        "figure 1",
        "MC-trees of the example",
        make_figure_1,
        (
            Claim(
                "16 MC-trees where o3 takes its inputs for themselves",
                "section III-B",
                "the count is 16",
                lambda t: [within("trees", t.value("mc_trees", inputs_of_o3="independent"), 16, 16)],
            ),
            Claim(
                "8 where o3 joins them",
                "section III-B",
                "the count is 8",
                lambda t: [within("trees", t.value("mc_trees", inputs_of_o3="correlated"), 8, 8)],
            ),
        ),
        "parallelisms 4, 4, 4, 2 with one-to-one twice and a full edge, which fit both counts; the picture is lost",
    ),
    Row(
        "replication-figure-2",
        "SuZhou2016",
        "figure 2",
        "loss of the example's output",
        make_figure_2,
        (
            Claim(
                "t31 loses 2/5 where o3 is a join",
                "section III-A1",
                "the loss is 2/5",
                lambda t: [within("loss", t.value("loss_of_t31", inputs_of_o3="correlated"), 0.4 - 1e-9, 0.4 + 1e-9)],
            ),
            Claim(
                "t31 loses 1/4 where it is none",
                "section III-A1",
                "the loss is 1/4",
                lambda t: [
                    within("loss", t.value("loss_of_t31", inputs_of_o3="independent"), 0.25 - 1e-9, 0.25 + 1e-9)
                ],
            ),
        ),
        "rates 1, 2 and 3, 2, which fit both fractions; the picture is lost",
    ),
    Row(
        "replication-figure-13",
        "SuZhou2016",
        "figure 13, output fidelity",
        "replicas for the two queries by three planners",
        make_figure_13,
        (
            Claim(
                "structure-aware is quite close to the optimum",
                "section VI-B",
                "at each point at least 0.95 of it",
                lambda t: [
                    at_least(f"{q} {r}: share of the optimum", aware / best, 0.95)
                    for q, r, _, best, aware, _ in t.rows
                    if best > 0.0
                ],
            ),
            Claim(
                "greedy is worst for both queries",
                "section VI-B",
                "at no point above either other, and below at some",
                lambda t: [
                    Check(
                        all(low <= min(best, aware) for *_, best, aware, low in rows)
                        and any(low < min(best, aware) for *_, best, aware, low in rows),
                        q,
                    )
                    for q in t.keys("query")
                    if (rows := [row for row in t.rows if row[0] == q])
                ],
            ),
        ),
        "parallelisms: Q1 8, 4, 1 tasks, Q2 8, 4, 4, 1; rates fall as k^-0.5; the accuracies are those of "
        "`benchmarks/tentative_output.py`",
    ),
    Row(
        "replication-figure-14",
        "SuZhou2016",
        "figure 14",
        "greedy and structure-aware on random topologies",
        make_figure_14,
        (
            Claim(
                "structure-aware is above greedy everywhere",
                "section VI-C",
                "below it in no run, and above in the mean at each point",
                lambda t: [
                    Check(
                        below == 0 and aware > low,
                        f"({part}) {setting}, {ratio:.0%}: {number(aware)} against {number(low)}, {below} runs below",
                    )
                    for part, setting, ratio, low, aware, below in t.rows
                ],
            ),
            Claim(
                "the difference is largest at small shares of replicas",
                "section VI-C",
                "the ratio of the means is larger at the least share than at the largest, in each setting",
                _gap_is_largest_first,
            ),
            Claim(
                "(a) skewed loads raise fidelity",
                "section VI-C",
                "its mean is higher at each share",
                partial(_order, "a", "uniform", "Zipf 0.1"),
            ),
            Claim(
                "(b) higher parallelism raises fidelity",
                "section VI-C",
                "20–30 tasks keep more than 1–10 at each share",
                partial(_order, "b", "1–10", "20–30"),
            ),
            Claim(
                "(c) structured topologies keep more than full ones",
                "section VI-C",
                "the mean is higher at each share",
                partial(_order, "c", "full", "structured"),
            ),
            Claim(
                "(c) on full topologies structure-aware and greedy are close",
                "section VI-C",
                "the means differ by at most 0.05 at each share",
                _full_is_close,
            ),
            Claim(
                "(d) joins lower fidelity",
                "section VI-C",
                "the mean is lower at each share",
                partial(_order, "d", "50 %", "0 %"),
            ),
        ),
        "the optimum is in RESULTS.md; shares of 0.1 to 0.8, ranges of parallelism 1–10, 10–20 and 20–30, a "
        "random in-tree to one sink (benchmarks/replication_instances.py)",
    ),
)
