"""Recovery steps for benchmarks: sparse set-union knapsacks with skewed sharing, by seed."""

from __future__ import annotations

import numpy as np

from ftplan.generators.queries import shared_tasks
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack


def sparse(queries: int, tasks: int, capacity: float, seed: int, zipf: float = 0.8) -> SetUnionKnapsack:
    """Return *queries* queries of 3 to 8 tasks each, drawn from *tasks* tasks, with a share of all needed cores.

    A task is drawn with probability proportional to rank^-zipf, so a few tasks are shared by many queries. Weights
    are lognormal (sigma 0.5) around 0.25 cores, priorities uniform 1 to 10.
    """
    drawn = shared_tasks(queries, tasks, seed, zipf=zipf)
    room = capacity * float(drawn.cpu[np.unique(drawn.member)].sum())
    return SetUnionKnapsack(drawn.priority, drawn.cpu, drawn.start, drawn.member, room)
