"""Small jobs."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import Edge, Operator, Topology


def topology(*senders: str) -> Topology:
    """One task of ``op`` with 8 key groups, and one of each sender."""
    names = [*senders, "op"]
    operators = tuple(Operator(name, 1, *np.ones((3, 1)), key_groups=8) for name in names)
    return Topology(operators, tuple(Edge(i, len(senders), "full") for i in range(len(senders))))
