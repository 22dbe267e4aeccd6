"""Profit density: what a query brings for each core that it costs, shared tasks paid by all who need them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

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


def profit_density(needs: Needs, priority: FloatArray, weight: FloatArray) -> FloatArray:
    """Return priority over the sum of weight / sharing of each query, shape (Q,); infinite where that is 0.

    [SuZhouTR] definition 3. *priority* has shape (Q,), *weight* is of bundles, shape (B,), in cores.
    """
    share = weight / np.maximum(needs.sharing, 1)
    load = np.bincount(needs.row, share[needs.member], minlength=len(priority))
    density: FloatArray = np.full(len(priority), np.inf)
    np.divide(priority, load, out=density, where=load > 0.0)
    return density
