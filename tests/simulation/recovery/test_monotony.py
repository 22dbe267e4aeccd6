"""Nodes that come earlier, or more of them, do no harm; where tasks share a node they can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.dataflow.job import StreamJob
from tests.simulation.jobs import job
from tests.simulation.recovery.cases import BATCH_S, chain, diamond, failure, fork, setting, starts, summary

JOBS = st.sampled_from([chain, fork, diamond])


def priority_down(mode: str, stream_job: object, lost: list[int], arrivals: list[float]) -> float:
    """Each task that is lost starts on a node of its own, when that arrives."""
    assert isinstance(stream_job, type(chain()))
    plan = starts(
        *((at_s, task, stream_job.tasks + k) for k, (task, at_s) in enumerate(zip(lost, arrivals, strict=True)))
    )
    return summary(setting(mode, stream_job, [failure(lost)], arrivals, starts=plan, until_s=180.0)).priority_down_s


@settings(max_examples=12, deadline=None)
@given(st.data(), st.sampled_from(["incremental", "blocking"]), JOBS, st.sampled_from([0.3, 0.55]))
def test_earlier_arrivals_do_no_harm(
    data: st.DataObject, mode: str, kind: Callable[[float], StreamJob], rho: float
) -> None:
    stream_job = kind(rho)
    lost = data.draw(st.lists(st.sampled_from(range(stream_job.tasks)), min_size=2, unique=True).map(sorted))
    late = [float(data.draw(st.integers(0, 50))) for _ in lost]
    early = [at_s - data.draw(st.integers(0, int(at_s))) for at_s in late]
    assert priority_down(mode, stream_job, lost, early) <= priority_down(mode, stream_job, lost, late) + 1e-9


@pytest.mark.parametrize("mode", ["incremental", "blocking"])
def test_more_nodes_do_no_harm(mode: str) -> None:
    """Three tasks come back on one node, or each on a node of its own; restores and work share the one."""
    failed = failure([1, 2, 3])
    one = setting(mode, fork(), [failed], (30.0,), starts=starts((30.0, 1, 4), (30.0, 2, 4), (30.0, 3, 4)))
    three = setting(mode, fork(), [failed], (30.0,) * 3, starts=starts((30.0, 1, 4), (30.0, 2, 5), (30.0, 3, 6)))
    assert summary(three).priority_down_s <= summary(one).priority_down_s


def test_a_task_that_starts_earlier_can_keep_others_from_catching_up() -> None:
    """0 -> 1, 0 -> 2 -> 3: tasks 1 and 2 come back on one node of one core, task 3 much later on another.

    Query 3 is hardly back sooner when task 2 starts with task 1, instead of 60 s later; query 1 is back later.
    """
    stream_job = replace(job([20.0, 0.0, 0.0, 0.0], [(0, 1, 1.0), (0, 2, 1.0), (2, 3, 1.0)], 0.4), batch_s=BATCH_S)
    base = setting("incremental", stream_job, [failure([1, 2, 3])], (10.0, 130.0), until_s=300.0)
    base = replace(base, nodes=(*base.nodes[:4], replace(base.nodes[4], cores=1.0), base.nodes[5]))
    late = summary(replace(base, starts=starts((10.0, 1, 4), (70.0, 2, 4), (130.0, 3, 5))))
    soon = summary(replace(base, starts=starts((10.0, 1, 4), (10.0, 2, 4), (130.0, 3, 5))))
    assert soon.down_s[1] > late.down_s[1] - 5.0
    assert soon.down_s[0] > late.down_s[0] + 5.0
    assert soon.priority_down_s > late.priority_down_s
