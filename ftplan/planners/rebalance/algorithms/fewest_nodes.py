"""The fewest nodes that keep linear limits, and of these the cheapest, as an integer program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.models.program import Builder
from ftplan.planners.rebalance.algorithms.models.solving import in_integers

#: Seconds for each question to the solver.
SOLVING_S = 5.0


class NodeRow(NamedTuple):
    """``sum of values[i] x[i] <= limit`` with values (M,), and what it is called."""

    name: str
    values: FloatArray
    limit: float


class NodeChoice(NamedTuple):
    """Which of M nodes to take: what each costs, (M,), infinite where it may not be taken, and limits on those taken.

    ``domains`` are sets of nodes; at least ``least_domains`` of them must keep a node that is not taken.
    """

    cost: FloatArray
    rows: Sequence[NodeRow]
    domains: Sequence[Sequence[int]] = ()
    least_domains: int = 0

    def without(self, name: str) -> NodeChoice:
        """Return the same choice without the rows of a name; ``domains`` names the rule on these."""
        rows = [row for row in self.rows if row.name != name]
        return self._replace(rows=rows, least_domains=0 if name == "domains" else self.least_domains)


def fewest(choice: NodeChoice, seed: int) -> tuple[tuple[int, ...], bool] | None:
    """Return the fewest nodes that keep all limits, the cheapest of so many, and whether no fewer do for certain.

    None where no nodes keep them, or none were seen in time; the cheapest are only the best seen where time runs out.
    """
    cost = np.where(np.isfinite(choice.cost), choice.cost, 0.0)
    nodes, bound = _solved(choice, 1.0 + cost / max(2.0 * float(cost.sum()), TINY), seed)  # a node outweighs all costs
    return None if nodes is None else (nodes, bound > len(nodes) - 0.5)


def farthest(choice: NodeChoice, row: NodeRow, seed: int) -> tuple[int, ...]:
    """Return the nodes that bring the sum of a row furthest down while all limits are kept."""
    return _solved(choice, row.values, seed)[0] or ()


def _solved(choice: NodeChoice, prices: FloatArray, seed: int) -> tuple[tuple[int, ...] | None, float]:
    """Return the nodes of the least sum of prices, (M,), None where there are none, and a bound on the sum."""
    builder = Builder()
    x = builder.add(prices, 1.0, True)
    for row in (*choice.rows, NodeRow("not to be taken", 1.0 - np.isfinite(choice.cost), 0.0)):
        scale = max(abs(row.limit), float(np.abs(row.values).max(initial=0.0))) or 1.0
        builder.rows(-np.inf, row.limit + ROUNDING * scale, scale, (np.zeros_like(x), x, row.values))
    if choice.least_domains:
        kept = builder.add(np.zeros(len(choice.domains)), 1.0, True)
        for domain, nodes in zip(kept, choice.domains, strict=True):  # all of its nodes are taken, or it is kept
            columns = np.array([*nodes, domain])
            builder.rows(-np.inf, float(len(nodes)), 1.0, (np.zeros_like(columns), columns, 1.0))
        builder.rows(choice.least_domains, np.inf, 1.0, (np.zeros_like(kept), kept, 1.0))
    program = builder.program()
    found = in_integers(program, np.zeros(len(program.cost)), seed, Budget(SOLVING_S), work_s=np.inf)
    return None if found.x is None else tuple(np.flatnonzero(found.x[: len(x)] > 0.5).tolist()), found.bound
