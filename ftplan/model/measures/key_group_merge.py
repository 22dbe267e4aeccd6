"""What statistics of many key groups would be with fewer of them."""

from __future__ import annotations

from dataclasses import replace

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
    for number, name in enumerate(series.operators):
        have = int((series.operator == number).sum())
        if key_groups < 1 or have % key_groups:
            fits = [str(n) for n in range(1, have + 1) if have % n == 0]
            raise FtplanError(
                f"--sweep-key-groups: {key_groups} does not divide the {have} key groups that the statistics have of "
                f"{name!r}: one of {', '.join(fits)}"
            )
    count = len(series.operators)
    column = series.operator * key_groups + series.key_group % key_groups
    loads = np.zeros((series.loads.shape[0], count * key_groups))
    for member, target in enumerate(column.tolist()):
        loads[:, target] += series.loads[:, member]
    state = np.zeros(count * key_groups)
    np.add.at(state, column, series.state_bytes)
    estimated = np.bincount(series.operator, series.estimated, minlength=count) > 0
    return replace(
        series,
        operator=np.repeat(np.arange(count, dtype=np.int64), key_groups),
        key_group=np.tile(np.arange(key_groups, dtype=np.int64), count),
        loads=loads,
        state_bytes=state,
        estimated=np.repeat(estimated, key_groups),
    )
