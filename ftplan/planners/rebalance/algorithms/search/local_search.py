"""Local search over rebalances: fewer and cheaper moves, with all limits kept at every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.relaxation import cheapest_cover
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement

#: Passes over all moves, where each helps.
PASSES = 30
#: Changes that a neighbourhood tries of each group, the best first.
TRIES = 3
#: Groups that may come to a node instead of others, those with the least cost for their load.
PARTNERS = 300
#: Units in which the load that leaves a node is counted.
COVER_UNITS = 10_000


def improved(now: WorkingPlacement, budget: Budget, limited: bool = True) -> WorkingPlacement:
    """Return a placement that costs no more by its tariff, from one that keeps all limits; changed in place.

    Neighbourhoods: all departures from a node are chosen anew, as the cheapest cover of its excess, and all arrivals at
    one that would lack load; and for each move in turn, the dearest first: it is dropped or goes elsewhere, and a
    cheaper node makes room by sending something away (ejection chains). First improvement, until a pass gains nothing.
    Where traffic is priced, groups at home are looked at too. Cost of a pass O(moves x groups on a node x nodes), and
    O(groups x units) for each node's cover.

    *limited*: whether the limits of moves and bytes are kept.
    """
    search = _LocalSearch(now, budget, limited)
    for _ in range(budget.passes(PASSES)):
        if not search.passed():
            break
    now.recount()
    return now


class _LocalSearch:
    def __init__(self, now: WorkingPlacement, budget: Budget, limited: bool) -> None:
        self.now, self.budget, self.limited = now, budget, limited
        self.candidates, self.problem = now.candidates, now.problem
        self.least_gain = self.candidates.least_price / 2.0

    def passed(self) -> bool:
        """Try to make each move cheaper; return whether one was."""
        gained = False
        for node in np.unique(self.problem.home[self.now.moved]).tolist():
            gained = self._depart_anew(node) or gained
        for node in np.unique(self.now.place[self.now.moved]).tolist():
            gained = self._arrive_anew(node) or gained
        for group in self._order():
            if self.budget.over():
                return False
            if any(self._attempt(changes, gain) for changes, gain in self._neighbours(group)):
                gained = True
        self.now.recount()
        return gained

    def _depart_anew(self, node: int) -> bool:
        """Let the cheapest groups leave a node, all others being where they are; return whether that was a gain.

        A cover of what the node would have too much without any departure, and each of it to the cheapest node that has
        room then. Departures that make room for arrivals are made anew too.
        """
        now, load = self.now, self.problem.load
        own = np.flatnonzero((self.problem.home == node) & ((now.place != node) | (load > 0.0)))
        if self.problem.removed[node] or self.budget.over():
            return False
        away = own[now.place[own] != node]
        costs = self.candidates.costs(own, now.tariff)
        room = self.candidates.most - now.load
        allowed = load[own][:, None] <= room
        allowed[np.arange(len(own)), now.place[own]] = True
        allowed[:, node] = False
        rated = np.where(allowed, costs, np.inf)
        least = rated.min(axis=1)
        excess = float(now.load[node] + load[away].sum() - self.candidates.most[node])
        if excess <= 0.0:
            leave = least < 0.0
        else:
            total, leave = cheapest_cover(least, load[own], excess, COVER_UNITS, enough=True)
            if not np.isfinite(total):
                return False
        before = costs[now.place[own] != node, now.place[away]].sum() if len(away) else 0.0
        if before - least[leave].sum() <= self.least_gain:
            return False
        return self._departed(node, own, costs, leave, float(before))

    def _departed(self, node: int, own: IntArray, costs: FloatArray, leave: BoolArray, before: float) -> bool:
        """Bring the groups of a node home, and those that leave it to the cheapest with room, largest regret first."""
        now, load = self.now, self.problem.load
        room = self.candidates.most - now.load
        changes = []
        for group in own[now.place[own] != node].tolist():
            room[now.place[group]] += load[group]
            changes.append((group, node))
        away = costs.copy()
        away[:, node] = np.inf
        rows = np.flatnonzero(leave)
        second = np.partition(away[rows], min(1, len(room) - 1), axis=1)[:, min(1, len(room) - 1)]
        regret = np.where(np.isfinite(second), second - away[rows].min(axis=1), np.inf)
        after = 0.0
        for i in rows[np.argsort(-regret, kind="stable")].tolist():
            rated = np.where(load[own[i]] <= room, away[i], np.inf)
            target = int(np.argmin(rated))
            after += float(rated[target])
            room[target] -= load[own[i]]
            changes.append((int(own[i]), target))
        return self._attempt(changes, before - after)

    def _arrive_anew(self, node: int) -> bool:
        """Let the cheapest groups come to a node that would lack load without; return whether that was a gain.

        A cover of what it would lack, by groups of nodes that can do without. What came and is not chosen goes home;
        what has no room there stays.
        """
        now, load, home = self.now, self.problem.load, self.problem.home
        here = np.flatnonzero((now.place == node) & (home != node))
        lack = float(self.candidates.least[node] - now.load[node] + load[here].sum())
        if not lack > 0.0 or self.budget.over():
            return False
        cost = self.candidates.column(node, now.tariff)
        before, others = cost[here], np.flatnonzero((now.place != node) & (load > 0.0) & np.isfinite(cost))
        others = others[now.load[now.place[others]] - load[others] >= self.candidates.least[now.place[others]]]
        extra = cost[others] - self._current()[others]
        some = np.sort(np.argsort(extra / load[others], kind="stable")[:PARTNERS])
        items = np.concatenate([here, others[some]])
        full = now.load[home[here]] + load[here] > self.candidates.most[home[here]]
        stays = full | self.candidates.must[here]
        worth = np.concatenate([np.where(stays, -1.0, before), extra[some]])
        total, chosen = cheapest_cover(worth, load[items], lack, COVER_UNITS, enough=True)
        if not np.isfinite(total):
            return False
        new, gone = items[len(here) :][chosen[len(here) :]], here[~chosen[: len(here)]]
        gain = float(before[~chosen[: len(here)]].sum() - worth[len(here) :][chosen[len(here) :]].sum())
        changes = [(k, int(home[k])) for k in gone.tolist()] + [(k, node) for k in new.tolist()]
        return self._attempt(changes, gain)

    def _current(self) -> FloatArray:
        """Return what each group costs where it is, (K,)."""
        now, moved = self.now, self.now.moved
        cost = np.zeros(self.candidates.groups)
        place = now.place[moved]
        near = self.candidates.is_near(moved, place).astype(np.int64)
        cost[moved] = now.tariff.charge[near, moved]
        if self.problem.traffic is not None:
            traffic = self.problem.traffic
            cost[moved] += traffic[moved, place] - traffic[moved, self.problem.home[moved]]
        return cost

    def _order(self) -> list[int]:
        """Return the groups to look at: those that moved, the dearest first, then those that traffic may draw."""
        moved = self.now.moved
        order: list[int] = moved[np.argsort(-self._current()[moved], kind="stable")].tolist()
        if self.problem.traffic is not None:
            here = self.problem.traffic[np.arange(self.candidates.groups), self.problem.home]
            drawn = here - self.problem.traffic[:, self.problem.hosts].min(axis=1, initial=np.inf) > self.least_gain
            order += np.flatnonzero(drawn & (self.now.place == self.problem.home)).tolist()
        return order

    def _cost(self, group: int, node: int) -> float:
        return float(self._row(group)[node])

    def _row(self, group: int) -> FloatArray:
        row: FloatArray = self.candidates.costs(np.array([group]), self.now.tariff)[0]
        return row

    def _neighbours(self, group: int) -> Iterator[tuple[list[tuple[int, int]], float]]:
        """Yield changes, each a list of groups and nodes, with what they gain; each once only, while none was made."""
        yield from self._relocations(group)
        yield from self._ejections(group)

    def _relocations(self, group: int) -> Iterator[tuple[list[tuple[int, int]], float]]:
        """The group goes home, or to a cheaper node."""
        row = self._row(group)
        gain = row[self.now.place[group]] - row
        for node in _best(gain, self.least_gain):
            yield [(group, node)], float(gain[node])

    def _ejections(self, group: int) -> Iterator[tuple[list[tuple[int, int]], float]]:
        """Cheaper nodes that are too full send something away, to where the group is now or elsewhere."""
        now, load = self.now, self.problem.load
        row, current = self._row(group), int(now.place[group])
        for node in _best(row[current] - row, self.least_gain):
            room = self.candidates.most[node] - now.load[node]
            if room >= load[group]:
                continue
            on = np.flatnonzero((now.place == node) & (load >= load[group] - room))
            if not len(on):
                continue
            costs = self.candidates.costs(on, now.tariff)
            before = costs[:, node]
            after = now.load + load[on][:, None]
            after[:, current] -= load[group]
            costs = np.where(after <= self.candidates.most, costs, np.inf)
            costs[:, node] = np.inf
            to = np.argmin(costs, axis=1)
            gain = row[current] - row[node] + before - costs[np.arange(len(on)), to]
            for i in _best(gain, self.least_gain):
                yield [(int(on[i]), int(to[i])), (group, node)], float(gain[i])

    def _attempt(self, changes: Iterable[tuple[int, int]], gain: float) -> bool:
        """Carry out changes if all limits are kept then; return whether they were."""
        if gain <= self.least_gain:
            return False
        now, before = self.now, []
        for group, node in changes:
            before.append((group, int(now.place[group])))
            now.put(group, node)
        touched = np.array(sorted({node for _, node in before} | {int(now.place[group]) for group, _ in before}))
        load = now.load[touched]
        kept = bool(((load <= self.candidates.most[touched]) & (load >= self.candidates.least[touched])).all())
        if kept and now.by_memory:
            kept = bool((now.used <= now.room).all())
        if kept and self.limited:
            kept = now.within_budget()
        if not kept:
            for group, node in reversed(before):
                now.put(group, node)
        return kept


def _best(gain: FloatArray, least: float) -> list[int]:
    """Return the positions of the largest gains above the least, the first of equals first."""
    worth: BoolArray = np.isfinite(gain) & (gain > least)
    at = np.flatnonzero(worth)
    if len(at) > TRIES * 4:
        at = at[np.argpartition(-gain[at], TRIES * 4)[: TRIES * 4 + 1]]
        at = np.sort(at)
    return [int(i) for i in at[np.argsort(-gain[at], kind="stable")][:TRIES]]
