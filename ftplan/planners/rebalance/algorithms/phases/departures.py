"""Which moves of one phase leave removed nodes in time, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.rebalance.algorithms.phases.backlog import Backlog, OpenPhase, PhaseSize

#: Orders that the search looks at, and moves above which it does not look.
MAX_ORDER_CHECKS, MAX_SEARCHED_MOVES = 1_000, 60


class Departures:
    """Moves of a backlog that are worth something, (M,), if they end within some seconds after a phase begins.

    A group may stand in the backlog more than once, with other protocols: it leaves by one of them. What cannot be
    recovered is worth an infinity.
    """

    def __init__(self, backlog: Backlog, size: PhaseSize, worth: FloatArray, left_s: float) -> None:
        self.backlog, self.size, self.worth = backlog, size, worth
        table = backlog.table
        spare = left_s * (1.0 + ROUNDING) - table.completion_s
        any_time = np.where(spare >= 0.0, np.inf, -1.0)
        in_time = np.divide(spare, table.delay, out=any_time, where=(table.delay > 0.0) & np.isfinite(spare))
        leaving = worth > 0.0
        self.longest_wait: FloatArray = np.minimum(
            backlog.longest_wait(size.pause_s), np.where(leaving, in_time, np.inf)
        )

    def filled(self, order: Iterable[int]) -> OpenPhase:
        """Return a phase that has taken what fits of some moves, in their order, each group once."""
        phase, groups = OpenPhase(self.backlog, self.longest_wait, self.size), set[int]()
        for k in order:
            if (group := int(self.backlog.table.group[k])) not in groups and phase.take(k):
                groups.add(group)
        return phase

    def saved(self, some: Iterable[int]) -> tuple[int, float]:
        """Return how many of some moves cannot be recovered, and what the others are worth."""
        worth = self.worth[list(some)]
        endless = np.isinf(worth)
        return int(endless.sum()), float(worth[~endless].sum())

    def most(self, some: Iterable[int]) -> tuple[int, float]:
        """Return what :meth:`saved` would be at most if all groups of some moves left."""
        best: dict[int, int] = {}
        for k in some:
            group = int(self.backlog.table.group[k])
            best[group] = max(best.get(group, k), k, key=lambda move: float(self.worth[move]))
        return self.saved(best.values())

    def without_room(self, some: Iterable[int]) -> list[int]:
        """Return those of some moves whose target is too full, for now."""
        t, room = self.backlog.table, self.backlog.most - self.backlog.load
        return [k for k in some if t.load[k] > room[t.target[k]]]


def most_saved(departures: Departures, going: list[int]) -> list[int]:
    """Return the moves of a phase, as served: of *going* what is worth most, and moves that make room for the others.

    Several orders are filled first fit: hot first, by the latest start, by worth a second of transfer, by worth; what
    cannot be recovered first. The first of the best is taken, unless a search over orders, for few moves and up to so
    many looks, saves more.
    """
    t, worth = departures.backlog.table, departures.worth
    latest = departures.longest_wait + t.link_s
    density = worth / np.maximum(t.link_s, 1e-9)
    best: OpenPhase | None = None
    for key in (np.zeros(len(worth)), latest, -density, -worth):
        phase = departures.filled(sorted(going, key=lambda k: (not np.isinf(worth[k]), key[k], k)))
        if best is None or departures.saved(phase.chosen) > departures.saved(best.chosen):
            best = phase
    assert best is not None
    if len(going) <= MAX_SEARCHED_MOVES and departures.saved(best.chosen) < departures.most(going):
        best = _searched(departures, sorted(going, key=lambda k: (-density[k], k)), best)
    left = {int(t.group[k]) for k in best.chosen}
    blocked = departures.without_room(k for k in going if int(t.group[k]) not in left)
    if blocked:
        full = {int(t.target[k]) for k in blocked}
        making_room = [k for k in departures.backlog.left.tolist() if worth[k] <= 0.0 and int(t.home[k]) in full]
        best.fill(np.array(making_room, dtype=np.int64))
    return best.chosen


def _searched(departures: Departures, going: list[int], best: OpenPhase) -> OpenPhase:
    """Return the phase that saves most over all orders, depth first, up to so many looks.

    Two moves in a row that share no node's link are looked at in one order only.
    """
    t, looks = departures.backlog.table, 0
    rank = {k: position for position, k in enumerate(going)}
    most = departures.saved(best.chosen)

    def shares(first: int, second: int) -> bool:
        outlet = t.outlet[first]
        return bool(t.target[first] == t.target[second] or (outlet >= 0 and outlet == t.outlet[second]))

    def extend(phase: OpenPhase, rest: list[int]) -> None:
        nonlocal best, most, looks
        able = phase.able(np.array(rest, dtype=np.int64)).tolist()
        if departures.most([*phase.chosen, *able]) <= most:
            return
        for k in able:
            last = phase.chosen[-1] if phase.chosen else None
            if last is not None and rank[k] < rank[last] and not shares(k, last):
                continue
            if (looks := looks + 1) > MAX_ORDER_CHECKS:
                return
            longer = phase.copy()
            longer.take(k)
            if (value := departures.saved(longer.chosen)) > most:
                best, most = longer, value
            extend(longer, [other for other in able if t.group[other] != t.group[k]])

    extend(departures.filled(()), going)
    return best
