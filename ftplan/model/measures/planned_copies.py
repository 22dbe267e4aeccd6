"""The copies of an allocation as index arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Cluster
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import IntArray


@dataclass(frozen=True, eq=False)
class PlannedCopies:
    """The P key groups of a plan that the statistics know, in the series' order, and their E copies.

    Copies are sorted by group and node.
    """

    columns: IntArray  # (P,) column of the group in the series
    home: IntArray  # (P,) node position of its primary
    count: IntArray  # (P,) number of its copies
    group: IntArray  # (E,) position of the copy's group among the P
    host: IntArray  # (E,) node position


def planned_copies(assignments: Sequence[Mapping[str, Any]], series: KeyGroupSeries, cluster: Cluster) -> PlannedCopies:
    """Return the copies of ``assignments: [{operator, key_group, primary, checkpoints}]``.

    Primaries are taken as the plan states them. The order of the assignments and of the copies does not matter.

    Raises
    ------
    FtplanError
        If an assignment lacks a field or has one of the wrong type, or names a node that the cluster does not have.
    """
    rows = []
    for number, item in enumerate(assignments):
        try:
            column = series.position.get((str(item["operator"]), int(item["key_group"])))
            if column is not None:
                nodes = [cluster.position[node] for node in (item["primary"], *item["checkpoints"])]
                rows.append((column, nodes[0], sorted(nodes[1:])))
        except KeyError as missing:
            if missing.args[0] in ("operator", "key_group", "primary", "checkpoints"):
                raise _malformed(number) from None
            name = str(missing.args[0])
            near = suggestion(name, cluster.position)
            raise FtplanError(f"plan.assignments[{number}]: unknown node {name!r}{near}") from None
        except (TypeError, ValueError):
            raise _malformed(number) from None
    rows.sort()
    count = np.array([len(row[2]) for row in rows], dtype=np.int64)
    return PlannedCopies(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        count,
        np.repeat(np.arange(len(rows)), count),
        np.array([node for row in rows for node in row[2]], dtype=np.int64),
    )


def _malformed(number: int) -> FtplanError:
    return FtplanError(f"plan.assignments[{number}]: expected operator, key_group, primary and a list of checkpoints")
