"""A placement in whole numbers, as a start for the interval model."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ftplan.planners.recovery_schedule.algorithms.repair.alike import alike_hosts
from ftplan.planners.recovery_schedule.algorithms.repair.exact.whole_numbers import WholeRepair
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement


@dataclass(frozen=True)
class WholeTimes:
    """When what happens in a placement, in whole numbers; the horizon stands for never."""

    host: list[int]
    begins: list[int]
    caught_up: list[int]
    whole: list[int]


def whole_times(instance: RepairInstance, whole: WholeRepair, placement: RepairPlacement) -> WholeTimes:
    """Return the times of a placement."""
    begins = whole.begun(instance, placement)
    of_bundle = np.zeros(instance.queries.bundles, dtype=np.int64)
    for task, host in enumerate(placement.host.tolist()):
        late = whole.end
        if host >= 0:
            late = min(late, whole.caught_up(int(begins[task] + whole.lasts[task, host]), task))
        of_bundle[instance.bundle[task]] = max(int(of_bundle[instance.bundle[task]]), late)
    of_query = np.minimum(whole.floor, whole.end)
    np.maximum.at(of_query, instance.queries.row, of_bundle[instance.queries.member])
    begins = np.where(placement.host >= 0, np.minimum(begins, whole.end), 0)
    return WholeTimes(placement.host.tolist(), begins.tolist(), of_bundle.tolist(), of_query.tolist())


def classes_of_hosts(instance: RepairInstance) -> list[list[int]]:
    """Return the hosts that are alike, where there are several."""
    hosts: dict[int, list[int]] = defaultdict(list)
    for host, first in enumerate(alike_hosts(instance)):
        hosts[first].append(host)
    return [own for own in hosts.values() if len(own) > 1]


def useful_times(instance: RepairInstance, whole: WholeRepair, start: RepairPlacement) -> WholeTimes:
    """Return the times of a placement without bundles that are late, of hosts alike the fullest first."""
    times = whole_times(instance, whole, start)
    host = np.where(np.array(times.caught_up)[instance.bundle] < whole.end, start.host, NOWHERE)
    on = host >= 0
    load = np.bincount(host[on], whole.cost[on], len(instance.host))
    to = np.arange(len(load))
    for hosts in classes_of_hosts(instance):
        to[sorted(hosts, key=lambda h: (-load[h], h))] = hosts
    host[on] = to[host[on]]
    return whole_times(instance, whole, RepairPlacement(host, start.order, start.step_s))
