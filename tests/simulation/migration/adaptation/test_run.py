"""The adaptation over load traces: by hand, by an independent replay, and what holds whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.planners.rebalance.algorithms.outcome import new_copies
from ftplan.planners.rebalance.algorithms.pairing import paired
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, NewCopy, RebalanceProblem
from ftplan.simulation.migration.adaptation.run import AdaptationPolicy, run_adaptation
from tests.simulation.migration.cases import SETTING, problem, relieve, trace

POLICY = AdaptationPolicy(relieve)
STATE = 4.0 * 2**20


def nothing(now: RebalanceProblem) -> list[Migration]:
    raise AssertionError("asked although no node is overloaded")


def test_without_overload_nothing_is_asked_and_nothing_moves() -> None:
    start = problem([0, 0, 1], [[1], [2], [0]], [10.0, 10.0, 10.0])
    done = run_adaptation(start, trace([5, 5, 5], [10, 0, 10]), AdaptationPolicy(nothing))
    assert done.total("moves") == done.total("overloaded_before") == done.total("wanted") == 0
    assert (done.place.tolist(), done.copies) == ([0, 0, 1], start.copies)
    assert done.assisted_share is None
    assert done.usable_share is None


def test_an_assisted_move_swaps_and_the_way_back_is_assisted_again() -> None:
    start = problem([0, 0, 1], [[1], [1], [0]], [10.0, 10.0])
    done = run_adaptation(start, trace([8, 4, 1], [4, 4, 8]), POLICY)
    first, second = done.periods
    # 12 on n0: group 0 (8) goes to n1 with 1, where its copy lies. Both copies of n0's groups would have fitted there.
    assert (first.overloaded_before, first.overloaded_after, first.excess_before) == (1, 0, 2.0)
    assert (first.wanted, first.usable, first.assisted, first.moves) == (2, 2, 1, 1)
    # 12 on n1 (4 and 8), 4 on n0: group 2 (8) does not fit into 10, group 0 goes back to where its copy now is.
    assert (second.wanted, second.usable, second.assisted, second.moves) == (2, 1, 1, 1)
    assert (done.place.tolist(), done.copies) == ([0, 0, 1], ((1,), (1,), (0,)))
    # cpa: 10 s of input at 8 records/s and 1 ms each are 0.08 s, and 0.04 s, caught up at 1 - rho.
    assert first.latency_s == pytest.approx(0.08 / (1 - 0.008))
    assert second.latency_s == pytest.approx(0.04 / (1 - 0.004))
    assert done.total("bytes") == 0.0


def test_a_direct_move_leaves_its_fresh_copy_at_the_old_host() -> None:
    start = problem([0, 0, 1], [[1], [1], [0]], [10.0, 10.0, 10.0])
    done = run_adaptation(start, trace([8, 4, 7], [0, 0, 0]), POLICY)
    (period, _) = done.periods
    # n1 has no room for 8: group 0 goes to n2, 4 MB at 1 MB/s. The copy of group 1 (4) could not be used either.
    assert (period.wanted, period.usable, period.moves, period.assisted) == (2, 0, 1, 0)
    assert (done.place.tolist(), done.copies) == ([2, 0, 1], ((0,), (1,), (0,)))
    assert period.latency_s == period.completion_s == pytest.approx(4.0 / (1 - 0.008))
    assert period.bytes == STATE
    assert period.by_protocol == tuple(int(name == "direct") for name in PROTOCOLS)


def test_without_preference_it_goes_to_most_room() -> None:
    start = problem([0, 0, 1], [[1], [1], [0]], [10.0, 10.0, 10.0])
    done = run_adaptation(start, trace([8, 4, 1]), AdaptationPolicy(partial(relieve, prefer=False)))
    assert (done.place.tolist(), done.assisted_share, done.usable_share) == ([2, 0, 1], 0.0, 1.0)


def test_lazy_moves_count_as_assisted() -> None:
    start = problem([0, 0, 1], [[1], [1], [0]], [10.0, 10.0, 10.0], protocols=("cpa", "lazy", "direct"))
    full = SETTING._replace(full=True, restart_s=2.0)
    done = run_adaptation(start, trace([8, 4, 7], setting=full), POLICY)
    (period,) = done.periods
    assert (period.assisted, period.bytes, done.copies[0]) == (1, 0.0, (0,))
    # The next checkpoint comes within 10 s and takes 4 s to store; 2 s of restart and 4 s of input are caught up with.
    assert period.latency_s == pytest.approx((2.0 + 4.0 * 0.008) / (1 - 0.008))
    assert period.completion_s == pytest.approx(14.0 + period.latency_s)


def test_what_does_not_fit_anywhere_stays() -> None:
    start = problem([0, 1], [[1], [0]], [10.0, 10.0])
    (period,) = run_adaptation(start, trace([12, 0]), POLICY).periods
    assert (period.overloaded_before, period.overloaded_after, period.excess_after, period.moves) == (1, 1, 2.0, 0)


def test_upkeep_moves_copies_before_the_load_is_seen() -> None:
    start = problem([0, 0, 1], [[2], [2], [0]], [10.0, 10.0, 10.0])
    asked = []

    def upkeep(number: int, now: RebalanceProblem) -> Sequence[tuple[int, ...]]:
        asked.append((number, now.home.tolist()))
        return [(1,), *now.copies[1:]] if number == 0 else now.copies

    policy = AdaptationPolicy(partial(relieve, prefer=True), upkeep)
    done = run_adaptation(start, trace([8, 4, 2], [1, 1, 1]), policy)
    assert asked == [(0, [0, 0, 1]), (1, [1, 0, 1])]
    assert done.periods[0].assisted == 1
    assert [(p.copies_moved, p.copy_bytes) for p in done.periods] == [(1, STATE), (0, 0.0)]
    assert done.place.tolist() == [1, 0, 1]


@pytest.mark.parametrize("wrong", [[(0,), (2,)], [(), (2,)], [(1, 1), (2,)]])
def test_upkeep_that_breaks_the_rules_is_a_fault(wrong: list[tuple[int, ...]]) -> None:
    start = problem([0, 0], [[1], [2]], [10.0, 10.0, 10.0])
    with pytest.raises(ValueError, match="upkeep"):
        run_adaptation(start, trace([1, 1]), AdaptationPolicy(relieve, lambda _, now: wrong))


@pytest.mark.parametrize(
    "moves",
    [
        [Migration(0, 0, "direct")],
        [Migration(0, 2, "cpa")],
        [Migration(0, 1, "cpa"), Migration(0, 2, "direct")],
        [Migration(0, 1, "lazy")],
    ],
)
def test_a_move_that_cannot_be_is_a_fault(moves: list[Migration]) -> None:
    start = problem([0, 0], [[1], [2]], [10.0, 10.0, 10.0])
    with pytest.raises(ValueError, match="key group op/0"):
        run_adaptation(start, trace([8, 8]), AdaptationPolicy(lambda now: moves))


def test_a_copy_that_a_move_takes_away_is_made_anew() -> None:
    keeps = np.array([False, True, True])  # the old host cannot keep the fresh copy
    start = problem([0, 0], [[1], [1]], [10.0, 10.0, 10.0], keeps=keeps)
    alone = run_adaptation(start, trace([8, 8]), POLICY)
    assert alone.copies == ((), (1,))
    policy = AdaptationPolicy(relieve, renew=lambda now, moves: [NewCopy(moves[0].group, 1, 2)])
    done = run_adaptation(start, trace([8, 8]), policy)
    assert done.copies == ((2,), (1,))
    assert (done.total("copies_moved"), done.total("copy_bytes")) == (1, STATE)


@st.composite
def cases(draw: Any) -> tuple[RebalanceProblem, list[list[int]], bool]:
    """Return a problem, the loads of its groups by period, and whether hosts of copies are preferred."""
    nodes = draw(st.integers(2, 4))
    groups = draw(st.integers(1, 7))
    count = draw(st.integers(1, min(2, nodes - 1)))
    home = draw(st.lists(st.integers(0, nodes - 1), min_size=groups, max_size=groups))
    copies = [draw(st.permutations([n for n in range(nodes) if n != at]))[:count] for at in home]
    ceiling = draw(st.lists(st.integers(4, 14), min_size=nodes, max_size=nodes))
    row = st.lists(st.integers(0, 8), min_size=groups, max_size=groups)
    return problem(home, copies, ceiling), draw(st.lists(row, min_size=1, max_size=4)), draw(st.booleans())


@given(cases())
def test_it_is_what_an_independent_replay_says(case: tuple[RebalanceProblem, list[list[int]], bool]) -> None:
    start, loads, prefer = case
    done = run_adaptation(start, trace(*loads), AdaptationPolicy(partial(relieve, prefer=prefer)))
    replayed = Replay(start)
    for load, period in zip(loads, done.periods, strict=True):
        before = replayed.overloaded(load)
        assert period.overloaded_before == len(before)
        assert (period.wanted, period.usable) == replayed.use(load, before)
        latency, assisted, moves = replayed.adapt(load, prefer)
        assert (period.assisted, period.moves) == (assisted, moves)
        assert period.latency_s == pytest.approx(latency)
        assert period.overloaded_after == len(replayed.overloaded(load))
    assert done.place.tolist() == replayed.home
    assert [set(nodes) for nodes in done.copies] == replayed.copies
    assert [len(nodes) for nodes in done.copies] == [len(nodes) for nodes in start.copies]
    assert all(home not in nodes for home, nodes in zip(done.place.tolist(), done.copies, strict=True))


@given(cases())
def test_pairing_only_ever_relieves(case: tuple[RebalanceProblem, list[list[int]], bool]) -> None:
    start, loads, prefer = case
    policy = AdaptationPolicy(partial(paired, prefer=prefer), renew=lambda now, moves: new_copies(now, moves).made)
    done = run_adaptation(start, trace(*loads), policy)
    for period in done.periods:
        assert period.overloaded_after <= period.overloaded_before
        assert period.excess_after <= period.excess_before
        assert not period.moves or period.excess_after < period.excess_before
        assert period.usable <= period.wanted
    assert [len(nodes) for nodes in done.copies] == [len(nodes) for nodes in start.copies]
    assert all(home not in nodes for home, nodes in zip(done.place.tolist(), done.copies, strict=True))


class Replay:
    """The same adaptation on lists, number by number."""

    def __init__(self, start: RebalanceProblem) -> None:
        self.home = start.home.tolist()
        self.copies = [set(nodes) for nodes in start.copies]
        self.limit = start.ceiling.tolist()

    def on(self, node: int, load: list[int]) -> int:
        return sum(value for value, home in zip(load, self.home, strict=True) if home == node)

    def overloaded(self, load: list[int]) -> set[int]:
        return {node for node, limit in enumerate(self.limit) if self.on(node, load) > limit}

    def use(self, load: list[int], overloaded: set[int]) -> tuple[int, int]:
        there = [(g, n) for g, home in enumerate(self.home) if home in overloaded for n in self.copies[g]]
        return len(there), sum(self.on(n, load) + load[g] <= self.limit[n] for g, n in there)

    def adapt(self, load: list[int], prefer: bool) -> tuple[float, int, int]:
        latency, assisted, moves = 0.0, 0, 0
        at_first = list(self.home)
        for node in range(len(self.limit)):
            for group in sorted(range(len(load)), key=lambda g: (-load[g], g)):
                if at_first[group] != node or self.on(node, load) <= self.limit[node] or not load[group]:
                    continue
                room = {n: self.limit[n] - self.on(n, load) for n in range(len(self.limit)) if n != node}
                room = {n: left for n, left in room.items() if left >= load[group]}
                if not room:
                    continue
                near = {n: left for n, left in room.items() if n in self.copies[group]} if prefer else {}
                target = min(near or room, key=lambda n: (-room[n], n))
                rho = load[group] * 0.001
                if target in self.copies[group]:
                    latency += load[group] * 10.0 * 0.001 / (1 - rho)
                    self.copies[group] = (self.copies[group] - {target}) | {node}
                    assisted += 1
                else:
                    latency += 4.0 / (1 - rho)
                    self.copies[group] = {node} | (self.copies[group] - {max(self.copies[group])})
                self.home[group] = target
                moves += 1
        return latency, assisted, moves
