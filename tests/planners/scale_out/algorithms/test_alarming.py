"""The alarming threshold beside a replay of every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.scale_out.algorithms.alarming import AlarmingPoint, alarming_point, alarming_threshold
from ftplan.planners.scale_out.bottlenecks.histories import ScoreThresholds, timeline

LOW, HIGH = 25.0, 70.0


def replay(scores: np.ndarray, threshold: float, setup: int) -> tuple[int, int, float]:
    """Return (crossings, those for which the backup was ready, share of windows with one), window by window."""
    crossings = ready = standing = 0
    for column in scores.T:
        since = None  # windows that a backup has been running for
        for window, score in enumerate(column):
            if score > HIGH and window > 0 and not column[window - 1] > HIGH and window >= setup:
                crossings += 1
                ready += since is not None and since >= setup
            if score >= threshold:
                since = 1 if since is None else since + 1
                standing += score <= HIGH
            else:
                since = None
    return crossings, ready, standing / scores.size


SCORES = st.integers(0, 10).map(lambda x: 10.0 * x - 3.0)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 30), st.integers(1, 3), st.integers(1, 5), st.sampled_from([0.0, 0.5, 0.8, 0.95, 1.0]))
def test_beside_a_replay_of_every_threshold(
    data: st.DataObject, windows: int, operators: int, setup: int, ready: float
) -> None:
    column = st.lists(SCORES, min_size=windows, max_size=windows)
    scores = np.array(data.draw(st.lists(column, min_size=operators, max_size=operators))).T
    got = alarming_threshold(scores, LOW, HIGH, setup, ready, 55.0)
    tried = sorted({x for x in scores.ravel().tolist() if LOW < x < HIGH} | {HIGH})
    said = {x: replay(scores, x, setup) for x in tried}
    assert got.crossings == said[HIGH][0]
    assert LOW < got.chosen.threshold <= HIGH
    if not got.crossings:
        assert got.chosen.threshold == 55.0
        assert [item.code for item in got.warnings] == ["NO_CROSSINGS"]
        return
    for point in got.front:
        crossings, count, share = replay(scores, point.threshold, setup)
        assert point[1:] == pytest.approx((count / crossings, share))
    share_ready = {x: count / crossings for x, (crossings, count, _) in said.items()}
    enough = [x for x in tried if share_ready[x] >= ready]
    if enough:
        assert got.chosen.backup_share == min(said[x][2] for x in enough)
        assert got.chosen.ready >= ready
        assert got.warnings == ()
    else:
        assert got.chosen.ready == max(share_ready.values())
        assert [item.code for item in got.warnings] == ["RARELY_READY"]
    worth = {
        (share_ready[x], said[x][2])
        for x in tried
        if not any(
            (share_ready[y] >= share_ready[x] and said[y][2] < said[x][2])
            or (share_ready[y] > share_ready[x] and said[y][2] <= said[x][2])
            for y in tried
        )
    }
    assert {point[1:] for point in got.front} == worth


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(SCORES, st.just(float("nan"))), min_size=1, max_size=40), st.floats(0.1, 4.0))
def test_late_starts_are_crossings_that_were_not_ready(scores: list[float], setup: float) -> None:
    """By the states of algorithm 1, under the threshold that is chosen; operators that stay promoted start no more."""
    got = alarming_threshold(np.array(scores), LOW, HIGH, setup, 0.8, 55.0)
    events = timeline(scores, ScoreThresholds(LOW, got.chosen.threshold, HIGH), setup, 3).events
    known = [item for item in events if item.after == "promoted" and item.window >= max(np.ceil(setup), 1)]
    unready = round((1.0 - got.chosen.ready) * got.crossings)
    assert len(known) <= got.crossings
    assert sum(item.late for item in known) <= unready
    assert (unready > 0) <= any(item.late for item in events)


def test_by_hand() -> None:
    """Two crossings: one after 50 and 60, one after 30 and 65; a backup takes two windows."""
    scores = np.array([20.0, 50.0, 60.0, 80.0, 40.0, 30.0, 65.0, 90.0])
    half = alarming_threshold(scores, LOW, HIGH, 2, 0.5, 55.0)
    assert half.chosen == AlarmingPoint(50.0, 0.5, 3 / 8)
    assert half.front == (AlarmingPoint(30.0, 1.0, 5 / 8), half.chosen, AlarmingPoint(70.0, 0.0, 0.0))
    assert alarming_threshold(scores, LOW, HIGH, 2, 0.95, 55.0).chosen.threshold == 30.0
    rare = alarming_threshold(scores, 35.0, HIGH, 2, 0.95, 55.0)
    assert rare.chosen == half.chosen
    assert rare.warnings[0].message == (
        "no alarming threshold above 35 is ready for 95% of the 2 crossings: 50 is for 50%"
    )


def test_a_long_front_is_shown_in_part() -> None:
    """400 crossings, each after a score of its own: by 0.1 from 30 on."""
    scores = np.array([[20.0, 30.0 + 0.1 * k, 80.0] for k in range(400)]).ravel()
    got = alarming_threshold(scores, LOW, HIGH, 1, 0.9, 55.0)
    assert got.chosen[:2] == (pytest.approx(34.0), 0.9)
    assert len(got.front) <= 120
    assert got.chosen in got.front
    assert [got.front[k].ready for k in (0, -1)] == [1.0, 0.0]


def test_thresholds_are_round_where_it_makes_no_difference() -> None:
    scores = np.array([20.0, 51.23456, 55.4321, 80.0])
    assert alarming_threshold(scores, LOW, HIGH, 1, 1.0, 55.0).chosen.threshold == 55.0
    scores[1] = 55.43
    assert alarming_threshold(scores, LOW, HIGH, 1, 1.0, 55.0).chosen.threshold == 55.432
    scores[1:3] = np.nextafter(55.123456789, 0.0), np.nextafter(55.123456789, 99.0)
    assert alarming_threshold(scores, LOW, HIGH, 1, 1.0, 55.0).chosen.threshold == 55.123456789


def test_without_a_set_up_time_all_are_ready() -> None:
    scores = np.array([20.0, 80.0, 20.0, 80.0])
    assert alarming_threshold(scores, LOW, HIGH, 0, 1.0, 55.0).chosen == AlarmingPoint(70.0, 1.0, 0.0)


def test_operators_take_their_own_time_and_unknown_scores_are_low() -> None:
    scores = np.array([[60.0, np.nan], [60.0, 60.0], [80.0, 80.0]])
    assert alarming_threshold(scores, LOW, HIGH, np.array([2, 1]), 1.0, 55.0).chosen == AlarmingPoint(60.0, 1.0, 0.5)
    assert alarming_threshold(scores, LOW, HIGH, 2, 1.0, 55.0).chosen.ready == 0.5


def test_the_usual_threshold_stays_between_the_others() -> None:
    scores = np.full(4, 30.0)
    assert alarming_threshold(scores, LOW, 50.0, 1, 1.0, 55.0).chosen.threshold == 50.0
    assert alarming_point(scores, 20.0, HIGH, 1) == AlarmingPoint(20.0, 1.0, 1.0)
    assert 60.0 < alarming_threshold(scores, 60.0, HIGH, 1, 1.0, 55.0).chosen.threshold <= HIGH
