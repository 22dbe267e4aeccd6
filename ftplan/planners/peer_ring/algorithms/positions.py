"""Whether there are positions enough for each node's token."""

from __future__ import annotations

import numpy as np

from ftplan.model.plan import Infeasible
from ftplan.planners.peer_ring.problem import RingProblem


def too_few_positions(problem: RingProblem) -> Infeasible | None:
    """Return why not each member can own a position, None if each can."""
    nodes, positions = len(problem.member), len(problem.position)
    if nodes <= positions:
        return None
    places = "1 place" if positions == 1 else f"{positions} places"
    reason = f"{nodes} nodes on the ring, but key groups at {places} only: each node needs one of its own"
    if positions <= problem.replication:
        return Infeasible(reason, "key-groups", positions, nodes, f"operators with at least {nodes} key groups")
    surplus = nodes - positions
    if int(problem.added.sum()) >= surplus:
        nodes_out = np.flatnonzero(problem.added)[-surplus:]
        fix = "without " + " ".join(f"--add {problem.nodes[node]}" for node in nodes_out)
    else:
        by_size = problem.member[np.argsort(problem.cpu[problem.member], kind="stable")]
        fix = " ".join(f"--remove {problem.nodes[node]}" for node in np.sort(by_size[:surplus]))
    return Infeasible(reason, "key-groups", positions, nodes, fix)
