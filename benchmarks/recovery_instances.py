"""Recovery steps for benchmarks: sparse set-union knapsacks with skewed sharing, by seed."""

from __future__ import annotations

import numpy as np

from ftplan.planners.recovery.knapsack.instance import SetUnionKnapsack


def sparse(queries: int, tasks: int, capacity: float, seed: int, zipf: float = 0.8) -> SetUnionKnapsack:
    """Return *queries* queries of 3 to 8 tasks each, drawn from *tasks* tasks, with a share of all needed cores.

    A task is drawn with probability proportional to rank^-zipf, so a few tasks are shared by many queries. Weights
    are lognormal (sigma 0.5) around 0.25 cores, priorities uniform 1 to 10.
    """
    rng = np.random.default_rng(seed)
    rank = rng.permutation(tasks) + 1
    odds = 1.0 / rank**zipf
    reach = np.cumsum(odds / odds.sum())
    needs = []
    for count in rng.integers(3, 9, queries).tolist():
        need: set[int] = set()
        while len(need) < count:
            need.update(np.searchsorted(reach, rng.random(count - len(need)) * reach[-1], side="right").tolist())
        needs.append(sorted(need))
    member = np.concatenate(needs).astype(np.int64)
    weight = 0.25 * rng.lognormal(0.0, 0.5, tasks)
    priority = rng.integers(1, 11, queries).astype(np.float64)
    start = np.concatenate(([0], np.cumsum([len(need) for need in needs]))).astype(np.int64)
    return SetUnionKnapsack(priority, weight, start, member, capacity * float(weight[np.unique(member)].sum()))
