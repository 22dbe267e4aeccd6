"""How many bytes of state a key group has, by measurement or by the topology."""

from __future__ import annotations

import numpy as np

from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import FloatArray, Operator


def key_group_state(operator: Operator, series: KeyGroupSeries | None) -> FloatArray:
    """Return the state of each key group of a keyed operator in bytes, shape (key_groups,), NaN where unknown.

    The largest measured state over all windows wins; else the topology's ``state_bytes`` of the group's task divided
    by the task's number of key groups, if it is more than 0.
    """
    task = operator.task_of_key_groups()
    groups_of_task = np.bincount(task, minlength=operator.parallelism)
    state = operator.state_bytes[task] / groups_of_task[task]
    state = np.where(state > 0, state, np.nan)
    if series is not None and operator.id in series.operators:
        mine = series.operator == series.operators.index(operator.id)
        group, measured = series.key_group[mine], series.state_bytes[mine]
        known = ~np.isnan(measured) & (group >= 0) & (group < state.size)
        state[group[known]] = measured[known]
    return state


def even_ranges(key_groups: int, parallelism: int) -> tuple[tuple[int, int], ...]:
    """Return the first and last key group of each task where these are divided by number, as engines do.

    Key group g is with task floor(g * parallelism / key_groups).
    """
    first = -(-np.arange(parallelism + 1) * key_groups // parallelism)
    return tuple((a, b - 1) for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True))
