"""No batch is lost, doubled or out of order over a split, and the audit sees it where a protocol is broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.task_state import even_ranges
from ftplan.simulation.scaling.keyed_state import KeyedState, decompose
from ftplan.simulation.scaling.run import run_scaling
from ftplan.simulation.scaling.setting import (
    BatchedLoad,
    RestartSetting,
    ScalingSetting,
    SimulatedOperator,
    SplitOrder,
    SplitSetting,
    Technique,
)
from ftplan.simulation.scaling.splits import TECHNIQUES as CARRIED_OUT
from ftplan.simulation.scaling.splits import ActiveBackup, CheckpointSplit, StatefulSplit
from tests.effort import examples
from tests.simulation.scaling.cases import KEY_GROUPS, TECHNIQUES, even_use, keyed, split_once, steady


@st.composite
def settings_of_jobs(draw: st.DrawFn) -> ScalingSetting:
    """Return a source, two operators that it feeds, and one that both feed, some of which are split at some time."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    busy = draw(st.sampled_from([0.5, 1.2, 2.5]))
    operators = []
    for number, inputs in enumerate(((), (0,), (0,), (1, 2))):
        groups = draw(st.sampled_from([0, 7, 12]))
        use = busy * random.dirichlet(np.ones(max(groups, 1)))
        operators.append(
            SimulatedOperator(
                f"o{number}", draw(st.integers(1, 3)), 1.0, use, 100.0, inputs, number == 3, groups,
                random.uniform(0.0, 5e6, groups), missing=random.uniform(0.0, 5e6, groups),
            )
        )  # fmt: skip
    at_s = np.cumsum(random.exponential(0.5, 120))
    load = BatchedLoad(at_s, random.uniform(0.0, 1.0, 120), 0.5)
    orders = []
    for number in draw(st.lists(st.integers(0, 3), unique=True)):
        prepare_s = draw(st.floats(0.0, 30.0))
        orders.append(SplitOrder(number, prepare_s, prepare_s + draw(st.sampled_from([0.0, 3.0, 20.0]))))
    to = [draw(st.integers(1, 6)) for _ in operators]
    return ScalingSetting(
        tuple(operators),
        load,
        lambda operator, parallelism: even_ranges(operators[operator].parts, to[operator]),
        {number: draw(st.sampled_from(TECHNIQUES)) for number in range(4)},
        until_s=60.0,
        every_s=1.0,
        split=SplitSetting(draw(st.sampled_from([0.0, 4.0])), draw(st.sampled_from([1e6, np.inf])), 5.0, 0.01),
        orders=tuple(orders),
        restart=RestartSetting(restart_s=5.0, at_s=(20.0, 40.0)) if draw(st.integers(0, 4)) == 0 else None,
    )


@settings(max_examples=examples(60), deadline=None)
@given(settings_of_jobs())
def test_every_batch_counts_once_and_in_order(setting: ScalingSetting) -> None:
    outcome = run_scaling(setting)
    assert outcome.faults == ()
    assert np.isfinite(outcome.batch_latency_s).all()


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("busy", [0.5, 2.5])
def test_the_state_after_a_split_is_that_of_a_run_without_it(technique: Technique, busy: float) -> None:
    split = split_once(technique, keyed(even_use(busy)))
    unsplit = ScalingSetting((keyed(even_use(busy)),), steady(80.0), lambda *_: None, {}, 80.0)
    outcome = run_scaling(split)
    assert [item.tasks_to for item in outcome.splits] == [4]
    assert outcome.states[0].same_as(run_scaling(unsplit).states[0])


class LosesOne(CheckpointSplit):
    """Forgets the first batch after the checkpoint."""

    def replay(self, state: KeyedState) -> None:
        for task in self.new:
            for number in range(int(state.number.min()) + 2, self.run.arrived + 1):
                task.take(number)


class LosesQueue(ActiveBackup):
    """Forgets what waits for the old tasks when the state is copied, and drops them at the promotion."""

    def replay(self, state: KeyedState) -> None:
        pass

    def agree(self) -> bool:
        return all(task.state is not None for task in self.new)


class LosesWithheld(ActiveBackup):
    """Drops what the secondary has put out before it takes over."""

    def switch(self) -> None:
        self.run.drop_withheld()
        super().switch()


class WrongKeys(CheckpointSplit):
    """Gives each new task the state of other key groups."""

    def load(self, state: KeyedState) -> None:
        state.digest = np.roll(state.digest, 1)
        super().load(state)


class CountsTwice(CheckpointSplit):
    """Gives new tasks the newest state, and yet all that came since the oldest checkpoint, as if it was not in it."""

    def load(self, state: KeyedState) -> None:
        state.number = np.maximum(state.number - 5, -1)
        super().load(state)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (LosesOne, {"out of order"}),
        (LosesQueue, {"out of order", "other output", "state differs"}),
        (LosesWithheld, {"never put out"}),
        (WrongKeys, {"other output", "state differs"}),
        (CountsTwice, {"other output", "state differs"}),
    ],
)
def test_a_broken_protocol_is_seen(broken: type[StatefulSplit], says: set[str]) -> None:
    technique: Technique = "checkpoint" if issubclass(broken, CheckpointSplit) else "active-backup"
    outcome = run_scaling(split_once(technique, keyed(even_use(2.2))), {**CARRIED_OUT, technique: broken})
    assert says <= {fault.what for fault in outcome.faults}


def test_a_restart_loses_nothing_that_is_under_way_behind_what_has_state() -> None:
    """The operator with state is far ahead of the one that it feeds, whose queue is lost in the restart."""
    counter = replace(keyed(even_use(0.5)), output=False)
    slow = SimulatedOperator("slow", 1, 1.0, np.array([2.0]), 100.0, (0,), True)
    restart = RestartSetting(restart_s=5.0, at_s=(20.0,))
    setting = ScalingSetting((counter, slow), steady(40.0), lambda *_: None, {}, 40.0, 1.0, restart=restart)
    outcome = run_scaling(setting)
    assert outcome.faults == ()
    assert np.isfinite(outcome.batch_latency_s).all()


def test_relapsing_leaves_nothing_behind() -> None:
    setting = split_once("active-backup", keyed(even_use(0.8)), promote_s=1e6)
    outcome = run_scaling(setting)
    assert outcome.faults == ()
    assert [(item.promoted_s, item.ended_s) for item in outcome.splits] == [(None, None)]
    assert outcome.executors[:, 0].tolist() == [2] * 20 + [6] * 60


def ranges_of(starts: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(starts, [start - 1 for start in (*starts[1:], KEY_GROUPS)], strict=True))


def test_uneven_ranges_divide_the_state_as_they_say() -> None:
    ranges = ranges_of((0, 1, 7))
    outcome = run_scaling(split_once("checkpoint", keyed(even_use(1.5)), ranges=ranges))
    assert outcome.faults == ()
    assert [part.first for part in decompose(outcome.states[0], ranges)] == [0, 1, 7]
