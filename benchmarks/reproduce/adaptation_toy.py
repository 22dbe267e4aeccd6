"""Madsen & Zhou's synthetic job over time: which of its moves checkpoints assist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ftplan.model.cluster import Network, Node
from ftplan.model.problem import Problem
from reproduce.checkpoints import OVERLOAD, toy
from reproduce.checks import at_least, within
from reproduce.drawing import bars
from reproduce.load_traces import COLUMNS, adaptations, stats_of
from reproduce.row import Check, Claim, Outcome, Row, Table

TECHNIQUES = {"baseline": "baseline", "even": "even", "correlated": "optimised"}
CONTROL = "even, control node too"


def toy_problem(control: bool) -> Problem:
    """Return the synthetic job as statistics: loads move from o1 on node 1 to o2 on node 2 within 100 s."""
    job = toy()
    nodes = job.cluster.nodes
    if control:  # it holds checkpoints, and takes no key groups
        nodes = (*nodes, Node("3", 1.0, accepts=frozenset(("checkpoints",))))
    records = {name: job.series.loads[:, job.series.operator == i] for i, name in enumerate(job.series.operators)}
    stats = stats_of(records, job.series.window_s)
    return Problem(job.topology, replace(job.cluster, nodes=nodes, network=Network(100.0, 0.001)), stats)


def make_toy(quick: bool) -> Outcome:
    """Return what an adaptation makes of the synthetic job, with the control node as a host of copies and without."""
    asked = {"plan_on": 0.2, "runs": 5 if quick else 100, "overload": OVERLOAD, "capacity_per_core": 1000.0}
    rows = []
    for control in (False, True):
        where = ", control node too" if control else ""
        made = adaptations(toy_problem(control), allocation=tuple(TECHNIQUES), **asked)
        rows += [(TECHNIQUES[i["allocation"]] + where, *(i[name] for name in COLUMNS[1:])) for i in made]
    table = Table(COLUMNS, tuple(rows))
    return Outcome(table, bars(table, "allocation", ["usable_share", "assisted_share"], "preferred", label="share"))


def _of(name: str, low: float, high: float, table: Table) -> Iterator[Check]:
    """Yield whether an allocation's shares lie in a range, with and without a preference for hosts of copies."""
    for column in ("assisted_share", "usable_share"):
        for preferred in (True, False):
            how = f"{name}, {column.replace('_', ' ')}{', preferred' if preferred else ''}"
            yield within(how, table.value(column, allocation=name, preferred=preferred), low, high)


ROWS = (
    Row(
        "adaptation-toy",
        "Madsen2015",
        "section 7.2, synthetic job",
        "what an adaptation makes of the synthetic job",
        make_toy,
        (
            Claim(
                "the best allocation makes all checkpoints of operator 2 available, and the algorithm finds it",
                "section 7.2",
                "optimised: all moves are assisted and all copies on the overloaded node usable",
                lambda t: _of("optimised", 1.0, 1.0, t),
            ),
            Claim(
                "even distribution results in half of the checkpoints being available",
                "section 7.2",
                "even, where the control node holds checkpoints too: 0.45 to 0.55 of either",
                lambda t: _of(CONTROL, 0.45, 0.55, t),
            ),
            Claim(
                "even distribution results in half of the checkpoints being available, on the three nodes that the "
                "adaptation considers",
                "section 7.2",
                "even on nodes 0 to 2: 0.45 to 0.55 of either",
                lambda t: _of("even", 0.45, 0.55, t),
            ),
            Claim(
                "the algorithm provides twice the amount of even distribution",
                "section 7.2",
                "optimised is at least 1.8 times even with the control node",
                lambda t: [
                    at_least(
                        "times",
                        t.column("usable_share", allocation="optimised")[0]
                        / max(t.column("usable_share", allocation=CONTROL)[0], 1e-9),
                        1.8,
                    )
                ],
            ),
        ),
        "checkpoints are planned on the first 20 of the 100 s; half of the checkpoints is what even distribution "
        "leaves where the control node (node 3) holds checkpoints: 20 copies on four nodes are 5 on each, and those on "
        "nodes 0 and 3 cannot be used. Node 0 is full from the start, node 3 takes no key groups",
    ),
)
