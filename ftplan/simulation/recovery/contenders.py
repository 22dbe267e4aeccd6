"""One run as the simulator takes it: a scene, a mode, a schedule, and what is random.

That is drawn by run and name, so that all plans and modes meet the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from ftplan.model.defaults import DELAY_S
from ftplan.model.failure import Arrival, planned_times
from ftplan.model.names import natural_key
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.options import BEST_CASE
from ftplan.simulation.recovery.scene import RecoveryScene
from ftplan.simulation.recovery.schedules import GivenSchedule, starts
from ftplan.simulation.recovery.setting import NodeFailure, RecoverySetting, SimulatedNode


@dataclass(frozen=True, eq=False)
class Contender:
    """A way to recover that is simulated: a mode, and a plan."""

    mode: str
    schedule: GivenSchedule


def setting_of(scene: RecoveryScene, contender: Contender, run: int | None) -> RecoverySetting:
    """Return what a run simulates; *run* of None has the expected times."""
    options = scene.options
    there = arrival_times(scene.arrivals, options.seed, run)
    if contender.mode == BEST_CASE:
        there = [options.best_case_s] * len(there)
    schedule = contender.schedule
    times = schedule.times({item.node.id: at_s for item, at_s in zip(scene.arrivals, there, strict=True)})
    age_s = options.checkpoint_age_s
    if age_s is None:
        age_s = checkpoint_age_s(scene.checkpoint_s, scene.checkpoint_share, options.batch_s, options.seed, run)
    return RecoverySetting(
        job=scene.running.job,
        nodes=_nodes(scene, there),
        home=scene.home,
        failures=_failures(scene, there),
        starts=starts(schedule.steps, times, scene, schedule.failed_s()),
        replica=scene.replica if (scene.replica >= 0).any() else None,
        mode=MODES["incremental" if contender.mode == BEST_CASE else contender.mode],
        timing=scene.timing,
        checkpoint_s=scene.checkpoint_s,
        checkpoint_age_s=age_s,
        delay_s=scene.cluster.network.delay_s or DELAY_S,
        queue_batches=max(2, round(options.queue_s / options.batch_s)),
        warm_up_s=max(options.warm_up_s, 2.0 * options.window_s),
        until_s=scene.until_s,
        bin_s=min(1.0, scene.every_s),
        names=scene.task_names,
    )


def _nodes(scene: RecoveryScene, there: Sequence[float]) -> tuple[SimulatedNode, ...]:
    """Return the cluster's nodes, and those that arrive; after a complete failure the first hosts the coordinator."""
    cores, first = list(scene.cores), len(scene.cluster.nodes)
    if scene.schedule_options.complete_failure and there:
        host = min(range(len(there)), key=lambda i: (there[i], natural_key(scene.arrivals[i].node.id)))
        cores[first + host] = max(0.0, cores[first + host] - scene.schedule_options.coordinator_cpu)
    nodes = [SimulatedNode(node.id, cores[i]) for i, node in enumerate(scene.cluster.nodes)]
    coming = zip(scene.arrivals, cores[first:], there, strict=True)
    return (*nodes, *(SimulatedNode(item.node.id, own, at_s) for item, own, at_s in coming))


def _failures(scene: RecoveryScene, there: Sequence[float]) -> tuple[NodeFailure, ...]:
    """Return what fails, with the nodes that are there by then: one that has come back as well."""
    failed, cluster = scene.question.situation.failed, scene.cluster
    numbers = [(node.id, i, -np.inf) for i, node in enumerate(cluster.nodes)]
    numbers += [(item.node.id, len(cluster.nodes) + i, there[i]) for i, item in enumerate(scene.arrivals)]

    def of(names: frozenset[str], at_s: float) -> frozenset[int]:
        return frozenset(number for name, number, from_s in numbers if name in names and from_s < at_s)

    first = NodeFailure(0.0, of(failed.nodes, 0.0), np.flatnonzero(failed.tasks))
    return (first, *(NodeFailure(event.at_s, of(event.nodes, event.at_s), event.tasks) for event in failed.events))


def uniform(seed: int, run: int, name: str) -> float:
    """Return a number in [0, 1) that depends on seed, run and name alone."""
    digest = sha256(f"{seed}/{run}/{name}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2.0**56


def arrival_times(arrivals: Sequence[Arrival], seed: int, run: int | None) -> list[float]:
    """Return when each node arrives: uniform within its range in a run, the expected times where *run* is None.

    Nodes of one range and one make are alike, so that nobody can tell which of them comes first: the times that they
    draw are theirs in natural order of their ids, the order in which plans expect them
    (:func:`ftplan.model.failure.planned_times`).
    """
    if run is None:
        return planned_times(arrivals)
    times = [low + (high - low) * uniform(seed, run, a.node.id) for a in arrivals for low, high in (a.at_s,)]
    alike: dict[tuple[object, ...], list[int]] = {}
    for i in sorted(range(len(arrivals)), key=lambda i: natural_key(arrivals[i].node.id)):
        node = arrivals[i].node
        alike.setdefault((arrivals[i].at_s, node.cpu, node.used_cpu, node.accepts), []).append(i)
    for members in alike.values():
        for i, time in zip(members, sorted(times[i] for i in members), strict=True):
            times[i] = time
    return times


def checkpoint_age_s(interval_s: float, share: float, batch_s: float, seed: int, run: int | None) -> float:
    """Return how old the last punctuation is at the failure, a multiple of a batch.

    *share* of the interval where *run* is None; else uniform in the part of the interval of which that is the mean.
    """
    if run is not None:
        width = 2.0 * min(share, 1.0 - share)
        share += width * (uniform(seed, run, "checkpoint") - 0.5)
    age_s = interval_s * share
    return float(np.floor(age_s / batch_s + 1e-9) * batch_s)
