"""Rings of all sorts for hypothesis: one token a node, virtual nodes, tiered copies, arcs without key groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from tests.planners.peer_ring.algorithms.cases import ring_problem

CHANCES = st.sampled_from([0.0, 1e-200, 1e-9, 0.001, 0.1, 0.5, 1.0])


@st.composite
def rings(
    draw: st.DrawFn, most: int = 7, *, zones_fail: bool = True, kinds: tuple[str, ...] = ("simple", "virtual", "tier")
) -> tuple[RingProblem, Ring]:
    """Return a question with probabilities of failure, and a ring of it."""
    kind = draw(st.sampled_from(kinds))
    nodes = draw(st.integers(2, most))
    replication = draw(st.integers(1, nodes - 1))
    tier = draw(st.integers(1, 2)) if kind == "tier" else 0
    letters = "".join(draw(st.lists(st.sampled_from("aabbc-"), min_size=nodes + tier, max_size=nodes + tier)))
    groups = draw(st.integers(nodes, 12))
    weights = st.lists(st.integers(0, 9).map(float), min_size=groups, max_size=groups)
    problem = ring_problem(
        draw(weights), [1.0] * (nodes + tier), letters, replication, draw(weights), tier=range(nodes, nodes + tier)
    )
    down = draw(st.lists(CHANCES, min_size=nodes + tier, max_size=nodes + tier))
    count = len(problem.zones)
    zone_down = draw(st.lists(CHANCES, min_size=count, max_size=count)) if zones_fail else [0.0] * count
    problem = replace(problem, down=np.array(down), zone_down=np.array(zone_down))
    many = draw(st.integers(nodes, 3 * nodes)) if kind == "virtual" else nodes
    places = st.integers(0, 48).map(lambda k: k / 49)
    tokens = draw(st.lists(places, min_size=many, max_size=many, unique=True))
    owner = draw(st.permutations([k % nodes for k in range(many)]))
    last = draw(st.lists(st.sampled_from(range(nodes, nodes + tier)), min_size=many, max_size=many)) if tier else None
    ring = Ring(
        np.sort(np.array(tokens)),
        np.array(owner, dtype=np.int64),
        None if last is None else np.array(last, dtype=np.int64),
    )
    return problem, ring
