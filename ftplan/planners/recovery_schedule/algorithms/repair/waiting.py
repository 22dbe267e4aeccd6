"""Starts that wait for their queries, where nothing may be begun ahead."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement


def waiting(instance: RepairInstance, placement: RepairPlacement) -> RepairPlacement:
    """Return the same placement with each task started when the first query that needs it has all its tasks started."""
    at_s = np.full(len(placement.host), np.inf)
    on = placement.host >= 0
    at_s[on] = instance.there_s[placement.host[on]]
    step_s = first_whole(instance, at_s)
    host = np.where(np.isfinite(step_s), placement.host, NOWHERE)
    return RepairPlacement(host, placement.order, step_s)


def first_whole(instance: RepairInstance, at_s: FloatArray) -> FloatArray:
    """Return when the first query that needs each task has all its tasks started, infinite for never, shape (J,).

    *at_s* is when each task is started, infinite for never, shape (J,).
    """
    queries = instance.queries
    of_bundle = np.full(queries.bundles, -np.inf)
    np.maximum.at(of_bundle, instance.bundle, at_s)
    of_query = np.full(queries.queries, -np.inf)
    np.maximum.at(of_query, queries.row, of_bundle[queries.member])
    first = np.full(queries.bundles, np.inf)
    np.minimum.at(first, queries.member, of_query[queries.row])
    return np.asarray(first[instance.bundle], dtype=np.float64)
