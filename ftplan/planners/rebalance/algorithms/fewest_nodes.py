"""The fewest nodes that keep linear limits, and of these the cheapest, as an integer program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.solver import solve_sat

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from ftplan.model.topology import FloatArray

#: What coefficients are scaled to: rounding is relaxed by one unit for each node.
UNITS = 2**36


class NodeRow(NamedTuple):
    """``sum of values[i] x[i] <= limit``, and what it is called."""

    name: str
    values: Mapping[int, float]
    limit: float


@dataclass(frozen=True)
class NodeChoice:
    """Which of M nodes to take.

    Attributes
    ----------
    cost
        Of taking each, (M,); infinite where it may not be taken.
    rows
        Limits on those that are taken.
    domains
        Sets of nodes; at least ``least_domains`` of them must keep a node that is not taken.
    """

    cost: FloatArray
    rows: Sequence[NodeRow]
    domains: Sequence[Sequence[int]] = ()
    least_domains: int = 0

    def without(self, name: str) -> NodeChoice:
        """Return the same choice without the rows of a name; ``domains`` names the rule on these."""
        rows = [row for row in self.rows if row.name != name]
        return NodeChoice(self.cost, rows, self.domains, 0 if name == "domains" else self.least_domains)


def fewest(choice: NodeChoice, seed: int, budget: Budget) -> tuple[tuple[int, ...], bool] | None:
    """Return the fewest nodes that keep all limits, the cheapest of so many, and whether no fewer do for certain.

    None where no nodes keep them, or none were seen in time. CP-SAT with one worker, first on the number, then on the
    cost; the cheapest is only the best seen where time runs out.
    """
    count = len(choice.cost)
    first = _solved(choice, np.ones(count), None, seed, budget)
    if first is None:
        return None
    taken, proven = first
    cheaper = _solved(choice, np.where(np.isfinite(choice.cost), choice.cost, 0.0), len(taken), seed, budget)
    return (taken if cheaper is None else cheaper[0]), proven


def farthest(choice: NodeChoice, row: NodeRow, seed: int, budget: Budget) -> tuple[int, ...]:
    """Return the nodes that bring the sum of a row furthest down while all limits are kept."""
    gains = np.array([row.values.get(i, 0.0) for i in range(len(choice.cost))])
    best = _solved(choice, gains, None, seed, budget)
    return () if best is None else best[0]


def _solved(
    choice: NodeChoice, prices: FloatArray, exactly: int | None, seed: int, budget: Budget
) -> tuple[tuple[int, ...], bool] | None:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in choice.cost]
    for variable, cost in zip(x, choice.cost, strict=True):
        if not np.isfinite(cost):
            model.add(variable == 0)
    for row in choice.rows:
        scale = UNITS / (max(abs(row.limit), *map(abs, row.values.values()), 0.0) or 1.0)
        limit = int(row.limit * scale) + len(row.values) + 1
        model.add(sum(round(value * scale) * x[i] for i, value in row.values.items()) <= limit)
    if choice.least_domains:
        model.add(sum(_keeping(model, x, nodes) for nodes in choice.domains) >= choice.least_domains)
    if exactly is not None:
        model.add(sum(x) == exactly)
    scale = UNITS / (float(np.abs(prices).max(initial=0.0)) or 1.0)
    model.minimize(sum(round(price * scale) * variable for price, variable in zip(prices.tolist(), x, strict=True)))
    answer = solve_sat(model, budget, seed)
    return (tuple(answer.chosen(dict(enumerate(x)))), answer.ended == "optimal") if answer.found else None


def _keeping(model: cp_model.CpModel, x: Sequence[Any], nodes: Sequence[int]) -> Any:
    """Return a variable that is only 1 where a node of some is not taken."""
    kept = model.new_bool_var("")
    model.add(sum(x[node] for node in nodes) <= len(nodes) - 1).only_enforce_if(kept)
    return kept
