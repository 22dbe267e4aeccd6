"""The cheapest rebalance by trying all moves, and all orders of phases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.planners.rebalance.oracle import AFTER_LOSS, CRITERIA, PROTOCOLS, ROUNDING, Move, Oracle, at_most


class TryingAll(Oracle):
    """The answer to a question of few groups and nodes."""

    def __init__(self, documents: dict[str, Any], asked: dict[str, Any], fill: float | None = None) -> None:
        super().__init__(documents, asked, fill)
        self._phaseable: dict[tuple[Move, ...], bool] = {}

    def phaseable(self, moves: Sequence[Move]) -> bool:
        """Return whether some order of phases keeps every limit: the soonest end of each subset of the moves."""
        moves = sorted(moves, key=lambda move: (-self.load[move[0]], move[0]))
        key = tuple(moves)
        if key not in self._phaseable:
            soonest = {0: 0.0}
            for done in range(1 << len(moves)):
                if done in soonest:
                    for phase, end in self._next_phases(moves, done, soonest[done]):
                        soonest[done | phase] = min(end, soonest.get(done | phase, math.inf))
            self._phaseable[key] = (1 << len(moves)) - 1 in soonest
        return self._phaseable[key]

    def _next_phases(self, moves: Sequence[Move], done: int, begin: float) -> Iterator[tuple[int, float]]:
        some = [k for k in range(len(moves)) if not done >> k & 1]
        place = list(self.home)
        for k, (group, target, _) in enumerate(moves):
            place[group] = target if done >> k & 1 else place[group]
        before = self.loads(place)
        for chosen in itertools.chain.from_iterable(itertools.combinations(some, n + 1) for n in range(len(some))):
            phase = [moves[k] for k in chosen]
            lost = [move for move in phase if move[2] in AFTER_LOSS]
            gone = [k for k in some if self.removed[self.home[moves[k][0]]]]
            if lost and sorted(gone) != sorted(chosen):  # all at once, when all others have left
                continue
            load = before.copy()
            for group, target, name in phase:
                load[target] += self.load[group]
                load[self.home[group]] -= 0.0 if name == "cpal" else self.load[group]
            if not all(map(at_most, load, self.transient)):
                continue
            size = sum(self.costs[group][name].bytes for group, _, name in phase)
            if len(phase) > 1 and not lost and not at_most(size, self.asked.get("phase_bytes", math.inf)):
                continue
            for served in [phase] if self.within is None else itertools.permutations(phase):  # hot first at first
                if (longest := self._in_time(served, begin, bool(lost))) is not None:
                    yield sum(1 << k for k in chosen), begin + longest + self.asked.get("phase_overhead_s", 0.0)
                    break

    def _in_time(self, phase: Sequence[Move], begin: float, lost: bool) -> float | None:
        """Return how long moves take that are served in an order, None where a pause or an end is too late."""
        pauses, ends = self.served(phase)
        leaving = [end for end, (group, *_) in zip(ends, phase, strict=True) if self.removed[self.home[group]]]
        short = self.most_pause is None or at_most(max(pauses), self.most_pause)
        soon = self.within is None or lost or all(at_most(begin + end, self.within) for end in leaving)
        return max(ends) if short and soon else None

    def cheapest(self) -> tuple[float, int] | None:
        """Return the least value and the fewest moves of that value, None where nothing keeps all rules."""
        table, row = self.traffic(), CRITERIA.index(self.asked["objective"])
        choices: list[list[tuple[float, Move | None]]] = []
        for k, home in enumerate(self.home):
            own: list[tuple[float, Move | None]] = [] if self.removed[home] else [(0.0, None)]
            for n in self.N:
                costs = [
                    (float(self.costs[k][name][row] + table[k, n] - table[k, home]), name) for name in self.able(k, n)
                ]
                own += [(cost, (k, n, name)) for cost, name in self._worthwhile(costs)]
            choices.append(own)
        elsewhere = sum(table[k, n] for k, n in enumerate(self.home))
        best: tuple[float, int] | None = None
        for cost, moves in self._by_cost(choices):
            if best is not None and (cost > best[0] + 1e-9 * max(1.0, abs(best[0])) or len(moves) >= best[1]):
                if cost > best[0] + 1e-9 * max(1.0, abs(best[0])):
                    break
                continue
            if self.keeps_rules(moves) and self.phaseable(moves):
                best = (cost if best is None else best[0], len(moves))
        return None if best is None else (best[0] + elsewhere, best[1])

    def _worthwhile(self, costs: list[tuple[float, str]]) -> list[tuple[float, str]]:
        """Return the protocols that can be best: the cheapest, and the cheapest that does not load both nodes."""
        kept = []
        limited = {"within_s", "max_pause_s", "phase_bytes", "max_bytes"} & self.asked.keys()
        for cost, name in sorted(costs, key=lambda item: (item[0], PROTOCOLS.index(item[1]))):
            kept.append((cost, name))
            if name != "cpal" and not limited:
                break
        return kept

    def _by_cost(self, choices: list[list[tuple[float, Move | None]]]) -> Iterator[tuple[float, list[Move]]]:
        """Yield all choices whose loads keep the limits, the cheapest first."""
        if not all(choices):
            return
        sizes = [len(own) for own in choices]
        picks = np.stack([axis.ravel() for axis in np.meshgrid(*map(np.arange, sizes), indexing="ij")], axis=1)
        cost, load, rows = np.zeros(len(picks)), np.tile(self.foreign, (len(picks), 1)), np.arange(len(picks))
        for k, own in enumerate(choices):
            cost += np.array([price for price, _ in own])[picks[:, k]]
            target = np.array([self.home[k] if move is None else move[1] for _, move in own])
            load[rows, target[picks[:, k]]] += self.load[k]
        slack = ROUNDING * np.abs(load) + 1e-9
        fits = ((load <= self.upper + slack) & (load >= self.lower - slack)) | np.array(self.removed)
        some = np.flatnonzero(fits.all(axis=1))
        for pick in some[np.argsort(cost[some], kind="stable")].tolist():
            moves = [own[i][1] for own, i in zip(choices, picks[pick], strict=True)]
            yield float(cost[pick]), [move for move in moves if move is not None]
