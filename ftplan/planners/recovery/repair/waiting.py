"""Starts that wait for their queries, where nothing may be begun ahead."""

from __future__ import annotations

import numpy as np

from ftplan.planners.recovery.repair.instance import NOWHERE, RepairInstance, RepairPlacement


def waiting(instance: RepairInstance, placement: RepairPlacement) -> RepairPlacement:
    """Return the same placement with each task started when the first query that needs it has all its tasks started."""
    at_s = np.full(len(placement.host), np.inf)
    on = placement.host >= 0
    at_s[on] = instance.there_s[placement.host[on]]
    of_bundle = np.full(instance.queries.bundles, -np.inf)
    np.maximum.at(of_bundle, instance.bundle, at_s)
    of_query = np.full(len(instance.priority), -np.inf)
    np.maximum.at(of_query, instance.queries.row, of_bundle[instance.queries.member])
    first = np.full(instance.queries.bundles, np.inf)
    np.minimum.at(first, instance.queries.member, of_query[instance.queries.row])
    step_s = first[instance.bundle]
    host = np.where(np.isfinite(step_s), placement.host, NOWHERE)
    return RepairPlacement(host, placement.order, step_s)
