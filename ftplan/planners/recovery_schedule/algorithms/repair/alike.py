"""Which hosts, and which tasks, of a repair can take each other's place."""

from __future__ import annotations

from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance


def alike_hosts(instance: RepairInstance) -> list[int]:
    """Return of each host the first that is like it: there as early, with as much room, lanes and state. Shape (H,)."""
    pooled = [host < instance.pooled for host in range(len(instance.host))]
    seconds = instance.seconds
    look = [
        (float(there), float(room), shares, *sorted(lanes), *seconds[:, host].tolist())
        for host, (there, room, shares, lanes) in enumerate(
            zip(instance.there_s, instance.room, pooled, instance.lanes.tolist(), strict=True)
        )
    ]
    first: dict[tuple[float, ...], int] = {}
    return [first.setdefault(own, host) for host, own in enumerate(look)]


def kinds_of_task(instance: RepairInstance) -> list[tuple[float, ...]]:
    """Return of each task what tasks that can take its place have too, the same queries among it. Shape (J,)."""
    own = (instance.bundle, instance.cost, instance.noticed_s, instance.down_s, instance.replay_s, instance.catch_up)
    seconds = instance.seconds
    return [(*(float(values[t]) for values in own), *seconds[t].tolist()) for t in range(len(instance.task))]
