"""Failures drawn from a log or from a cluster's probabilities: each draw by its number and the seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.failure_file import FailureLog
from ftplan.model.cluster import Cluster
from ftplan.model.names import Selector, natural_key

#: Entries of a failure file: selectors, or selectors with a time.
Entries = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Burst:
    """Nodes of one zone that fail one after another: seconds after the first, ascending, one for each node."""

    after_s: tuple[float, ...]


def bursts_of(log: FailureLog, window_s: float, at_least: int) -> tuple[Burst, ...]:
    """Return the bursts of a log by time: failures of one zone in one window, aligned to the epoch.

    A node that fails again within a burst counts once. Bursts of fewer than *at_least* nodes are left out.

    Raises FtplanError if there is no burst.
    """
    zones = sorted(set(log.zone))
    number = {zone: i for i, zone in enumerate(zones)}
    window = np.floor(log.time_s / window_s)
    zone = np.array([number[zone] for zone in log.zone], dtype=np.int64)
    order = np.lexsort((log.time_s, zone, window))
    first: dict[tuple[float, str], dict[str, float]] = {}
    for i in order.tolist():
        first.setdefault((float(window[i]), log.zone[i]), {}).setdefault(log.node[i], float(log.time_s[i]))
    bursts = [
        Burst(tuple(round(time - start, 6) for time in times.values()))
        for times in first.values()
        if len(times) >= at_least
        for start in [min(times.values())]
    ]
    if not bursts:
        raise FtplanError(f"no burst of the log has {at_least} nodes; the largest has {max(map(len, first.values()))}")
    return tuple(bursts)


@dataclass(frozen=True, eq=False)
class BurstDraws:
    """Bursts of a log, each as likely, mapped onto a cluster.

    The burst's zone stands for a zone of the cluster, each as likely, and its nodes for nodes of that zone in a random
    order. A burst of more nodes than the zone has takes the whole zone. Where no node has a zone, and where the log
    has none, the whole cluster is one.
    """

    bursts: tuple[Burst, ...]
    zones: tuple[tuple[str, ...], ...]
    together: bool
    seed: int

    @classmethod
    def onto(cls, cluster: Cluster, bursts: tuple[Burst, ...], *, zoned: bool, together: bool, seed: int) -> BurstDraws:
        """Return the draws for a cluster; *zoned* says whether the log knows zones."""
        by_zone: dict[str, list[str]] = {}
        one = not zoned or all(node.zone is None for node in cluster.nodes)
        for node in cluster.nodes:
            by_zone.setdefault("" if one else node.zone_id, []).append(node.id)
        zones = tuple(tuple(by_zone[zone]) for zone in sorted(by_zone, key=natural_key))
        return cls(bursts, zones, together, seed)

    def __call__(self, number: int) -> Entries:
        """Return what fails in a draw."""
        random = np.random.default_rng((self.seed, number))
        burst = self.bursts[int(random.integers(len(self.bursts)))]
        zone = self.zones[int(random.integers(len(self.zones)))]
        order = [zone[i] for i in random.permutation(len(zone)).tolist()]
        return tuple(
            f"node:{node}" if self.together or not after_s else {"at_s": after_s, "select": f"node:{node}"}
            for after_s, node in zip(burst.after_s, order, strict=False)
        )


@dataclass(frozen=True, eq=False)
class ProbableDraws:
    """Zones and nodes that fail independently, each with its ``failure_probability``.

    Unless *may_be_none*, draws are conditional on at least one of them: the first that fails is drawn among all, each
    as likely as that it fails and those before it do not, and the others after it independently.
    """

    selectors: tuple[str, ...]
    probability: tuple[float, ...]
    members: tuple[frozenset[str], ...]  # nodes that each selector names
    may_be_none: bool
    seed: int

    @classmethod
    def of(cls, cluster: Cluster, *, may_be_none: bool, seed: int) -> ProbableDraws:
        """Return the draws from a cluster.

        Raises FtplanError if nothing in it has a probability of more than 0.
        """
        given = [("zone", zone.id, zone.failure_probability) for zone in cluster.zones]
        given += [("node", node.id, node.failure_probability) for node in cluster.nodes]
        some = [(Selector(kind, name), chance) for kind, name, chance in given if chance]
        if not some:
            raise FtplanError("no node or zone of the cluster has a failure_probability of more than 0")
        members = tuple(cluster.nodes_of(selector) for selector, _ in some)
        selectors, chances = tuple(str(selector) for selector, _ in some), tuple(chance for _, chance in some)
        return cls(selectors, chances, members, may_be_none, seed)

    def __call__(self, number: int) -> Entries:
        """Return what fails in a draw; a node of a zone that fails is not named besides."""
        random = np.random.default_rng((self.seed, number))
        chance = np.array(self.probability)
        failed = random.random(len(chance)) < chance
        if not self.may_be_none:
            alive_before = np.concatenate(([1.0], np.cumprod(1.0 - chance)[:-1]))
            reached = np.cumsum(chance * alive_before)
            first = int(np.searchsorted(reached, random.random() * reached[-1], side="right"))
            first = min(first, len(chance) - 1)
            failed[:first], failed[first] = False, True
        named: list[str] = []
        covered: frozenset[str] = frozenset()
        for i in np.flatnonzero(failed).tolist():
            if self.selectors[i].startswith("zone:") or not self.members[i] <= covered:
                named.append(self.selectors[i])
                covered |= self.members[i]
        return tuple(named)


def described(entries: Sequence[Any]) -> str:
    """Return what fails as a row shows it: ``node:a1, node:a3 (96 s)``."""
    texts = [entry if isinstance(entry, str) else f"{entry['select']} ({entry['at_s']:g} s)" for entry in entries]
    return ", ".join(texts) or "nothing"
