"""The interval between checkpoints: held to a simulation, a dense grid, another optimiser, and the papers' figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from ftplan.costs.checkpoint_interval.formula import LostTime, daly, young
from ftplan.model.measures.recovery_time import RecoveryParameters

MINUTE = 60.0


def lost_time(
    checkpoint_s: float = 2.0, mtbf_s: float = 3600.0, fixed_s: float = 90.0, replay: float = 0.5, rho: float = 0.6
) -> LostTime:
    parameters = RecoveryParameters(detection_s=fixed_s, replay_share=replay, capacity_records_s=100.0)
    return LostTime.of(parameters, 100.0 * rho, 0.0, checkpoint_s, 1.0 / mtbf_s)


MODELS = st.builds(
    lost_time,
    st.floats(0.01, 30.0),
    st.floats(600.0, 1e7),
    st.floats(0.0, 300.0),
    st.floats(0.05, 1.0),
    st.floats(0.05, 0.95),
)


@pytest.mark.parametrize("interval_s", [10.0, 60.0, 600.0])
@pytest.mark.parametrize("random_replay", [False, True])
def test_a_simulation_loses_as_much(interval_s: float, random_replay: bool) -> None:
    """Looks at random times of many years: is a checkpoint under way, or a recovery, since the last failure?

    With a random replay a recovery processes again what has come in since the last checkpoint before its failure, half
    an interval on average; the model takes the mean, which at these rates is the same.
    """
    lost = lost_time(mtbf_s=7200.0)
    draw = np.random.default_rng(7)
    failures = np.cumsum(draw.exponential(7200.0, size=400_000))
    takes = lost.recovery_s(np.full(len(failures), interval_s))
    if random_replay:
        takes = lost.fixed_s + 2.0 * lost.per_interval * np.mod(failures, interval_s)
    at = draw.uniform(failures[0], failures[-1], size=1_000_000)
    last = np.searchsorted(failures, at, side="right") - 1
    recovering = at - failures[last] < takes[last]
    checkpointing = np.mod(at, interval_s) < lost.checkpoint_s
    for share, seen in (
        (lost.recovering(interval_s), recovering),
        (lost.checkpointing(interval_s), checkpointing & ~recovering),
        (lost.share(interval_s), checkpointing | recovering),
    ):
        error = np.sqrt(seen.mean() / len(at))
        assert float(share) == pytest.approx(seen.mean(), abs=4.0 * error, rel=0.01)


@given(MODELS)
def test_nothing_on_a_dense_grid_is_better(lost: LostTime) -> None:
    grid = np.geomspace(lost.shortest_s, 1000.0 * lost.best_s, 20_000)
    share = lost.share(grid)
    least = float(lost.share(lost.best_s))
    assert least <= float(share.min()) + 1e-12
    rising = np.diff(share) > 0.0
    turn = int(np.searchsorted(grid, lost.best_s))
    flat = share[1:] > 1.0 - 1e-9  # where all is lost, nothing rises
    assert not rising[: max(0, turn - 1)].any() or lost.best_s == lost.shortest_s
    assert (rising | flat)[turn + 1 :].all()


@settings(max_examples=50)
@given(MODELS)
def test_another_optimiser_has_the_same(lost: LostTime) -> None:
    def of_logarithm(value: float) -> float:
        return float(lost.share(np.exp(value)))

    low, high = np.log(lost.shortest_s), np.log(100.0 * lost.best_s)
    other = minimize_scalar(of_logarithm, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    assert float(lost.share(lost.best_s)) <= other.fun + 1e-12
    assert float(lost.share(lost.best_s)) == pytest.approx(other.fun, rel=1e-6)


@given(MODELS, st.floats(1.0, 1e5))
def test_the_limit_binds_where_recoveries_take_as_long(lost: LostTime, limit_s: float) -> None:
    longest = lost.longest_s(limit_s)
    if longest > 0.0:
        assert float(lost.recovery_s(longest)) == pytest.approx(limit_s)
        assert float(lost.recovery_s(longest * 1.01)) > limit_s
    else:
        assert lost.fixed_s >= limit_s


def test_figures_of_the_papers() -> None:
    """[Daly2006], figures 3 to 5: 5 minutes a dump, best after 117, 57 and 9.1 minutes of computing."""
    for mtbf, best, within in ((24 * 60.0, 117.0, 0.5), (6 * 60.0, 57.0, 0.5), (15.0, 9.1, 0.05)):
        assert daly(5 * MINUTE, mtbf * MINUTE) / MINUTE - 5.0 == pytest.approx(best, abs=within)
    assert daly(100.0, 40.0) == 140.0
    assert young(2.0, 3600.0) == 120.0


def test_young_is_the_limit_of_cheap_checkpoints() -> None:
    """Half an interval is replayed at full speed: at half of the capacity, by a factor of 1 / 2."""
    lost = lost_time(checkpoint_s=1e-6, rho=0.5)
    assert lost.best_s == pytest.approx(young(1e-6, 3600.0), rel=1e-4)
    busier = lost_time(checkpoint_s=1e-6, rho=0.8)
    assert busier.best_s == pytest.approx(young(1e-6, 3600.0) / 2.0, rel=1e-4)


def test_a_job_that_would_not_keep_up() -> None:
    """Ten seconds of every interval are lost, and nine tenths of the capacity are needed."""
    lost = lost_time(checkpoint_s=10.0, mtbf_s=20.0, rho=0.9)
    assert lost.shortest_s == pytest.approx(100.0)
    assert lost.best_s == lost.shortest_s
    assert lost_time(replay=0.0).best_s == np.inf
    assert lost_time(replay=0.0).longest_s(1e9) == np.inf
    assert lost_time(replay=0.0).longest_s(1.0) == -np.inf
