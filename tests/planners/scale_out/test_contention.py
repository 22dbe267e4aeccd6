"""What nodes have to do, hold and send: by hand, and against all pairs of tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.planners.scale_out.summary import ContentionSetting, contention
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement
from tests.effort import examples
from tests.planners.scale_out.scaling_cases import MB, evenly, operator, problem, splits

SETTING = ContentionSetting(
    cores=np.array([4.0, 4.0, 2.0]),
    foreign=np.array([0.0, 1.0, 0.0]),
    memory=np.array([1024 * MB, np.inf, 256 * MB]),
    bandwidth_mb_s=100.0,
    streams=((0, 1, 64 * MB),),
)


def test_by_hand() -> None:
    """A source of one busy task on n0 feeds an operator on n0 and n1, then on n0, n1 and n2."""
    source = operator("a", key_groups=0, parallelism=1, use=1.0, state="normal")
    question = problem(source, operator("b"), nodes=3)
    before = contention(question, Scaling(), SETTING)
    assert before.compute.tolist() == [(1.0 + 1.0) / 4.0, (1.0 + 1.0) / 4.0, 0.0]
    assert before.state[[0, 2]].tolist() == [0.125, 0.0]
    assert np.isnan(before.state[1])
    assert before.network.tolist() == [0.32, 0.32, 0.0]  # half of 64 MB/s
    after = contention(question, Scaling((evenly(question.operators[1], 4, (0, 1, 1, 2), 1),)), SETTING)
    assert after.compute.tolist() == [0.375, 0.5, 0.25]
    assert after.network.tolist() == [0.48, 0.32, 0.16]


def test_what_is_not_known_is_not_said() -> None:
    question = problem(operator("a"), operator("b"), nodes=3)
    unknown = replace(SETTING, bandwidth_mb_s=np.inf)
    assert np.isnan(contention(question, Scaling(), unknown).network).all()
    assert np.isnan(contention(replace(question, now=((0, 1), ())), Scaling(), SETTING).compute).all()
    sizes = replace(SETTING, streams=((0, 1, np.nan),))
    assert np.isnan(contention(question, Scaling(), sizes).network).all()


@settings(max_examples=examples(40), deadline=None)
@given(splits(), splits())
def test_streams_task_by_task(
    first: tuple[ScalingProblem, OperatorScaling], second: tuple[ScalingProblem, OperatorScaling]
) -> None:
    (left, item), (right, other) = first, second
    question = problem(left.operators[0], right.operators[0], nodes=3)
    scaling = Scaling((item, other._replace(operator=1)))
    use = [TaskReplacement(q, s).use for q, s in (first, second)]
    share = [u / u.sum() if u.sum() > 0.0 else np.full(len(u), 1.0 / len(u)) for u in use]
    sent, taken = np.zeros(3), np.zeros(3)
    for i, here in enumerate(item.nodes):
        for j, there in enumerate(other.nodes):
            if here != there:
                sent[here] += 64 * share[0][i] * share[1][j]
                taken[there] += 64 * share[0][i] * share[1][j]
    found = contention(question, scaling, SETTING)
    np.testing.assert_allclose(found.network, np.maximum(sent, taken) / 100.0, atol=1e-12)
