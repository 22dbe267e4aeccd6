"""An order in which moves can be made one by one, if there is any."""

from __future__ import annotations

from ftplan.planners.rebalance.algorithms.phases.backlog import Backlog, PhaseSize, SortedPhase

#: Moves up to which all orders are searched.
MOST = 12


def one_by_one(backlog: Backlog) -> list[int] | None:
    """Return the numbers of moves in an order in which each finds room when its turn comes; None where there is none.

    Exact: with ``cpal`` alone, moves that cannot be made one by one cannot be made together either. Depth first, each
    set of moves that are left once: cost O(moves x 2^moves).
    """
    t = backlog.table
    room = (backlog.most - backlog.load).tolist()
    moves = [(int(k), int(t.home[k]), int(t.target[k]), float(t.load[k])) for k in backlog.left]
    hopeless: set[int] = set()
    order: list[int] = []

    def rest(done: int) -> bool:
        if done == (1 << len(moves)) - 1:
            return True
        if done in hopeless:
            return False
        for position, (k, home, target, load) in enumerate(moves):
            if done >> position & 1 or load > room[target]:
                continue
            room[target] -= load
            room[home] += load
            order.append(k)
            if rest(done | 1 << position):
                return True
            order.pop()
            room[target] += load
            room[home] -= load
        hopeless.add(done)
        return False

    return order if rest(0) else None


def joined(backlog: Backlog, order: list[int], size: PhaseSize) -> list[list[int]]:
    """Return moves in phases that follow an order, each as large as is safe in every order and within *size*."""
    longest_wait, phases = backlog.longest_wait(size.pause_s), []
    phase = SortedPhase(backlog, longest_wait, size)
    for k in order:
        if not phase.take(k):
            phases.append(sorted(phase.chosen))
            backlog.make(phases[-1])
            phase = SortedPhase(backlog, longest_wait, size)
            phase.take(k)
    return [*phases, sorted(phase.chosen)]
