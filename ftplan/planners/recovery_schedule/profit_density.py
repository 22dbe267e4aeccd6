"""Profit density: what a query brings for each core that it costs, shared tasks paid by all who need them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ftplan.compiled import compiled
from ftplan.model.topology import FloatArray, IntArray


class Needs(Protocol):
    """Which bundles each query needs, as (query, bundle) pairs."""

    @property
    def row(self) -> IntArray:
        """Query of each pair."""

    @property
    def member(self) -> IntArray:
        """Bundle of each pair."""

    @property
    def sharing(self) -> IntArray:
        """How many queries need each bundle, shape (B,)."""


@compiled
def density(priority: float, cost: float) -> float:
    """Return what each core brings, infinite where the cost is 0; a kernel, and ``plain`` also for arrays."""
    return priority / cost


def shared_cost(needs: Needs, weight: FloatArray, queries: int) -> FloatArray:
    """Return the cores of each query when those that need a bundle share its weight (B,) evenly, shape (Q,)."""
    share = weight / np.maximum(needs.sharing, 1)
    return np.bincount(needs.row, share[needs.member], queries).astype(np.float64)


def profit_density(needs: Needs, priority: FloatArray, weight: FloatArray) -> FloatArray:
    """Return priority over the sum of weight / sharing of each query, shape (Q,); infinite where that is 0.

    [SuZhouTR], definition 3. *priority* has shape (Q,), *weight* is of bundles, shape (B,), in cores.
    """
    return np.asarray(density.plain(priority, shared_cost(needs, weight, len(priority))), dtype=np.float64)
