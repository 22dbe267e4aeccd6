"""What replacing tasks costs: by hand, held to recovery times and to what moves cost, and how each part moves it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.planners.rebalance.migration_costs import CPA, CPAL, DIRECT, PROTOCOLS, MigrationSetting, migration_costs
from ftplan.planners.scale_out.problem import OperatorScaling, ScalingProblem
from ftplan.planners.scale_out.techniques.costs import (
    ACTIVE_BACKUP,
    ASSISTED,
    CHECKPOINT,
    TECHNIQUES,
    TechniqueCost,
    TechniqueSetting,
    technique_costs,
)
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement
from tests.effort import examples
from tests.planners.scale_out.scaling_cases import MB, evenly, operator, problem, splits

#: A checkpoint a minute, 10 s to start, 64 MB/s.
SETTING = TechniqueSetting(setup_s=10.0, bandwidth_mb_s=64.0, lead_s=300.0, delay_s=0.25, queue_s=0.125)


def costs_of(
    question: ScalingProblem, item: OperatorScaling, setting: TechniqueSetting
) -> dict[str | None, TechniqueCost]:
    return {cost.technique: cost for cost in technique_costs(question, item, setting)}


def test_by_hand() -> None:
    """2 tasks of 128 MB and a use of 1 each become 4 of 64 MB and 0.5."""
    item = operator()
    costs = costs_of(problem(item), evenly(item, 4), SETTING)
    backup, checkpoint = costs[ACTIVE_BACKUP], costs[CHECKPOINT]
    # each old task sends 128 MB, which takes longer than the 64 that a new one takes in
    assert (backup.pause_s, backup.ready_s, backup.late_s) == (0.25, 12.0, 0.0)
    assert (backup.extra_core_s, backup.bytes) == (4 * 300.0, 256 * MB)
    # (1 s of loading + 60 s x 0.5 of replay) / (1 - 0.5)
    assert checkpoint.pause_s == 0.25 + (1.0 + 30.0) / 0.5
    # six checkpoints, at 0, 60, ..., 300 s, keep both old tasks busy for 2 s each; 4 tasks start within 10 s
    assert checkpoint.checkpoints == 6
    assert checkpoint.extra_core_s == 4 * 10.0 + 2 * 62.25 + 6 * 4.0
    assert checkpoint.bytes == 7 * 256 * MB
    assert costs[ASSISTED].why_not == "without a cluster no node holds checkpoints"


def test_a_late_start_waits_for_what_is_not_ready() -> None:
    item = operator()
    costs = costs_of(problem(item), evenly(item, 4), replace(SETTING, lead_s=0.0))
    assert (costs[ACTIVE_BACKUP].late_s, costs[ACTIVE_BACKUP].extra_core_s) == (12.0, 4 * 12.0)
    assert costs[ACTIVE_BACKUP].pause_s == 0.25
    # storing takes 2 s, while the tasks start: the checkpoint is 2 s old
    assert (costs[CHECKPOINT].late_s, costs[CHECKPOINT].pause_s) == (10.0, 0.25 + (10.0 + 1.0 + 1.0) / 0.5)


def test_regular_checkpoints_cost_nothing_extra() -> None:
    item = operator()
    regular = costs_of(problem(item), evenly(item, 4), replace(SETTING, regular=True))[CHECKPOINT]
    assert (regular.checkpoints, regular.bytes) == (0, 256 * MB)
    assert regular.extra_core_s == 4 * 10.0 + 2 * regular.pause_s


def test_assisted_by_hand() -> None:
    """Of 4 tasks 3 find their checkpoint on their node."""
    item = operator(copies=((1,), (0,), (1,), (2,)))
    question = problem(item, nodes=3)
    all_there = costs_of(question, evenly(item, 4, (1, 0, 1, 2)), SETTING)[ASSISTED]
    assert (all_there.pause_s, all_there.moved_bytes, all_there.bytes) == (0.125 / 0.5, 0.0, 0.0)
    # start, 60 s x 0.5 of replay with what comes in meanwhile, and the messages of the switch
    assert all_there.ready_s == 10.0 + (0.25 + 60.0) + 2 * (0.25 + 0.125)
    assert all_there.extra_core_s == 4 * 71.0 + 2 * 0.25
    one_lacks = costs_of(question, evenly(item, 4, (1, 0, 1, 0)), SETTING)[ASSISTED]
    assert (one_lacks.pause_s, one_lacks.moved_bytes) == (0.25 + 1.0 / 0.5, 64 * MB)
    # the state of the last two tasks is on n1 now: the last stays there
    stays = costs_of(question, evenly(item, 4, (1, 0, 0, 1)), SETTING)[ASSISTED]
    assert (stays.moved_bytes, stays.transfer_s) == (64 * MB, 1.0)
    assert costs_of(question, evenly(item, 4, (0, 1, 0, 0)), SETTING)[ASSISTED].why_not is not None
    assert (
        costs_of(question, evenly(item, 4, (1, 0, 1, 2)), replace(SETTING, remote=True))[ASSISTED].why_not is not None
    )


def test_tasks_on_one_node_share_its_link() -> None:
    item = operator()
    question = problem(item, nodes=4)
    apart, together = (
        costs_of(question, evenly(item, 4, nodes), SETTING)[CHECKPOINT] for nodes in ((0, 1, 2, 3), (3, 3, 3, 3))
    )
    assert (apart.transfer_s, together.transfer_s) == (1.0, 4.0)


def test_state_that_stays_on_its_node_is_not_sent() -> None:
    item = operator()
    question = problem(item, nodes=3)  # groups 0 and 1 on n0, 2 and 3 on n1
    stays, goes = (
        costs_of(question, evenly(item, 4, nodes), SETTING)[ACTIVE_BACKUP] for nodes in ((0, 0, 1, 1), (1, 1, 0, 0))
    )
    assert (stays.bytes, stays.transfer_s) == (0.0, 0.0)
    assert (goes.bytes, goes.transfer_s) == (256 * MB, 2.0)


def test_without_keyed_state_there_is_no_technique() -> None:
    item = operator(key_groups=0, use=3.0)
    (cost,) = technique_costs(problem(item), OperatorScaling(0, 5, ()), SETTING)
    assert (cost.technique, cost.pause_s, cost.extra_core_s, cost.bytes) == (None, 0.0, 50.0, 0.0)


def test_what_never_catches_up_leaves_active_backup() -> None:
    """A key group alone takes more than a task: no parallelism helps, yet the others are relieved."""
    item = operator(group_use=np.array([1.25, 0.25, 0.25, 0.25]), copies=((0,),) * 4)
    costs = costs_of(problem(item, nodes=2), evenly(item, 4, (0, 1, 0, 1)), SETTING)
    why = "a task that is busy 125% of the time never catches up"
    assert (costs[CHECKPOINT].why_not, costs[ASSISTED].why_not) == (why, why)
    assert costs[ACTIVE_BACKUP].why_not is None
    assert math.isinf(costs[CHECKPOINT].pause_s)


def test_nothing_presses_where_tasks_go() -> None:
    """Whatever the lead: new tasks take over as soon as they are ready."""
    item = operator(parallelism=4, state="scale-in", use=0.5)
    for lead in (0.0, 1e6, math.nan):
        costs = costs_of(problem(item), evenly(item, 2), replace(SETTING, lead_s=lead))
        assert costs[ACTIVE_BACKUP].late_s == costs[CHECKPOINT].late_s == 0.0
        assert costs[ACTIVE_BACKUP].extra_core_s == 2 * costs[ACTIVE_BACKUP].ready_s


def test_settings_by_operator() -> None:
    items = (operator("a"), operator("b"))
    setting = replace(SETTING, lead_s=np.array([100.0, 200.0]), interval_s=np.array([10.0, 20.0]))
    for number, lead in enumerate((100.0, 200.0)):
        cost = costs_of(problem(*items), evenly(items[number], 4, number=number), setting)[ACTIVE_BACKUP]
        assert cost.extra_core_s == 4 * lead


@settings(max_examples=examples(60), deadline=None)
@given(splits(), st.floats(0.0, 100.0), st.floats(0.0, 30.0))
def test_a_checkpoint_is_loaded_as_after_a_failure(
    case: tuple[ScalingProblem, OperatorScaling], interval: float, setup: float
) -> None:
    """An unprepared operator recovers, but for the message that starts it: the slowest of its tasks decides."""
    question, item = case
    item = item._replace(parallelism=len(item.ranges), nodes=())
    question = problem(replace(question.operators[0], parallelism=1))
    if item.parallelism == 1:
        return
    setting = TechniqueSetting(setup, 32.0, lead_s=0.0, interval_s=interval, regular=True, delay_s=0.5)
    cost = costs_of(question, item, setting)[CHECKPOINT]
    split = TaskReplacement(question, item)
    parameters = RecoveryParameters(restart_s=setup, bandwidth_mb_s=32.0, replay_share=1.0, capacity_records_s=1.0)
    expected = recovery_time(parameters, split.use, interval, split.state).total_s
    assert cost.pause_s == pytest.approx(0.5 + expected.max(), rel=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(splits(), st.floats(0.0, 100.0), st.floats(0.0, 1e4))
def test_state_moves_as_key_groups_do(
    case: tuple[ScalingProblem, OperatorScaling], interval: float, record_bytes: float
) -> None:
    """Each new task on a node of its own is a group that moves: cpal with its checkpoint there, direct without."""
    question, item = case
    split = TaskReplacement(question, item)
    tasks = item.parallelism
    apart = problem(replace(split.operator, copies=()), nodes=tasks, now=())
    rate = 100.0
    setting = TechniqueSetting(
        5.0, 32.0, 0.0, interval, True, rate, record_bytes, serialisation_mb_s=16.0, delay_s=0.5, queue_s=0.25
    )
    share = split.use / split.operator.use if split.operator.use > 0.0 else split.use
    moves = migration_costs(
        MigrationSetting(
            rate=rate * share,
            record_time_s=split.operator.use / rate,
            state_bytes=split.state,
            record_bytes=record_bytes,
            age_s=interval,
            bandwidth_mb_s=32.0,
            serialisation_mb_s=16.0,
            delay_s=0.5,
            queue_s=0.25,
        )
    )
    everywhere = replace(apart.operators[0], copies=(tuple(range(tasks)),) * split.operator.key_groups)
    placed = item._replace(nodes=tuple(range(tasks)))
    with_copies = costs_of(replace(apart, operators=(everywhere,)), placed, setting)[ASSISTED]
    cpal = PROTOCOLS.index(CPAL)
    assert with_copies.pause_s == pytest.approx(moves.latency_s[cpal].max())
    assert with_copies.ready_s - setting.setup_s == pytest.approx(moves.latency_s[PROTOCOLS.index(CPA)].max() + 1.5)
    # a single group whose checkpoint lies where its task is keeps the technique possible
    copies = ((0,), *((),) * (split.operator.key_groups - 1))
    lacking = costs_of(replace(apart, operators=(replace(everywhere, copies=copies),)), placed, setting)[ASSISTED]
    direct = moves.latency_s[PROTOCOLS.index(DIRECT)]
    others = [direct[i] for i in range(1, tasks) if split.state[i] > 0.0]
    if others:
        assert lacking.pause_s >= max(others) - 1e-9


@settings(max_examples=examples(100), deadline=None)
@given(splits(), st.floats(0.0, 500.0), st.floats(0.0, 100.0), st.booleans())
def test_costs_are_consistent(
    case: tuple[ScalingProblem, OperatorScaling], lead: float, interval: float, regular: bool
) -> None:
    """More bandwidth, a shorter set-up and state that is nearer never make a technique worse."""
    question, item = case
    setting = TechniqueSetting(20.0, 16.0, lead, interval, regular, 50.0, 100.0, serialisation_mb_s=64.0)
    costs = costs_of(question, item, setting)
    assert tuple(costs) == TECHNIQUES
    for cost in costs.values():
        assert cost.pause_s >= 0.0 <= cost.extra_core_s
        assert math.isfinite(cost.pause_s) == math.isfinite(cost.extra_core_s) == (cost.why_not is None)
    total = float(question.operators[0].state_bytes.sum())
    for technique in (ACTIVE_BACKUP, ASSISTED):
        assert costs[technique].moved_bytes <= total
    for better in (replace(setting, bandwidth_mb_s=64.0), replace(setting, setup_s=5.0)):
        faster = costs_of(question, item, better)
        for technique, cost in costs.items():
            assert faster[technique].pause_s <= cost.pause_s * (1 + 1e-12) or (technique == CHECKPOINT and not regular)
            assert faster[technique].ready_s <= cost.ready_s
    covered = replace(question.operators[0], copies=(tuple(range(3)),) * question.operators[0].key_groups)
    nearer = costs_of(replace(question, operators=(covered,)), item, setting)[ASSISTED]
    assert nearer.pause_s <= costs[ASSISTED].pause_s
    assert nearer.moved_bytes == 0.0
