"""What statistics of many key groups would be with fewer of them."""

from __future__ import annotations

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.statistics import KeyGroupSeries


def merged(series: KeyGroupSeries, key_groups: int) -> KeyGroupSeries:
    """Return the series of every operator with *key_groups* key groups: fine group g becomes g mod *key_groups*.

    Exact where an engine takes a hash modulo the number of key groups and the new number divides the old one, as
    Flink (max parallelism), Spark (shuffle partitions) and Kafka (partitions) do: h mod N mod n = h mod n. Loads and
    states add up. Cost O(W K).

    Raises
    ------
    FtplanError
        If the number does not divide what some operator has.
    """
    parts, operator, group, state, estimated = [], [], [], [], []
    for number, name in enumerate(series.operators):
        mine = np.flatnonzero(series.operator == number)
        have = len(mine)
        if key_groups < 1 or have % key_groups:
            fits = [str(n) for n in range(1, have + 1) if have % n == 0]
            raise FtplanError(
                f"--sweep-key-groups: {key_groups} does not divide the {have} key groups that the statistics have of "
                f"{name!r}: one of {', '.join(fits)}"
            )
        coarse = series.key_group[mine] % key_groups
        load = np.zeros((series.loads.shape[0], key_groups))
        size = np.zeros(key_groups)
        for member, target in zip(mine.tolist(), coarse.tolist(), strict=True):
            load[:, target] += series.loads[:, member]
        np.add.at(size, coarse, series.state_bytes[mine])
        parts.append(load)
        operator.append(np.full(key_groups, number, dtype=np.int64))
        group.append(np.arange(key_groups, dtype=np.int64))
        state.append(size)
        estimated.append(np.full(key_groups, bool(series.estimated[mine].any())))
    if not parts:
        return series
    return KeyGroupSeries(
        series.operators,
        np.concatenate(operator),
        np.concatenate(group),
        np.concatenate(parts, axis=1),
        series.measure,
        series.window_s,
        np.concatenate(state),
        np.concatenate(estimated),
    )
