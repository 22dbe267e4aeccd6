"""How probably nodes and zones fail within one repair window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.plan import Warn
from ftplan.model.topology import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Chances:
    """How probably nodes (N,) and zones (Z,) fail, 0 where unknown, and whether anybody says so."""

    down: FloatArray
    zone_down: FloatArray
    known: bool
    warnings: tuple[Warn, ...]

    @classmethod
    def of(cls, cluster: Cluster, zones: Sequence[str], holding: BoolArray) -> Chances:
        """Return what a cluster states, of its zones in an order; *holding* are the nodes that matter, (N,)."""
        stated = {zone.id: zone.failure_probability for zone in cluster.zones}
        nodes = [node.failure_probability for node in cluster.nodes]
        given = [*nodes, *stated.values()]
        known = any(chance is not None for chance in given)
        unknown = sum(chance is None and here for chance, here in zip(nodes, holding.tolist(), strict=True))
        said: tuple[Warn, ...] = ()
        if known and unknown:
            some = "1 node has" if unknown == 1 else f"{unknown:,} nodes have"
            text = f"{some} no failure_probability in the cluster file: none fails but with its zone"
            said = (Warn("PROBABILITY_UNKNOWN", text),)
        return cls(
            np.array([chance or 0.0 for chance in nodes], dtype=np.float64),
            np.array([stated.get(zone) or 0.0 for zone in zones], dtype=np.float64),
            known,
            said,
        )
