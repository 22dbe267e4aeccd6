"""What new tasks may be: each limit on its own, on problems made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.planners.scale_out.rules import RULES, SplitPause, broken, range_faults, rules
from tests.planners.scale_out.algorithms.cases import operator, problem

HOT = operator("hot", [0.5, 0.5, 0.5, 0.5], 2, state_bytes=np.array([4.0, 2.0, 2.0, 2.0]))
IDLE = operator("idle", 0.6, 3, state="scale-in")
#: From 2 to 4 tasks, and from 3 to 1.
SPLIT = OperatorScaling(0, 4, ((0, 0), (1, 1), (2, 2), (3, 3)))
JOINED = OperatorScaling(1, 1, ())


def names(question: ScalingProblem, *items: OperatorScaling, **more: object) -> list[str]:
    return [breach.rule for breach in broken(question, Scaling(items), **more)]  # type: ignore[arg-type]


def test_what_runs_breaks_only_the_target() -> None:
    assert names(problem(HOT, IDLE)) == ["target"]
    assert names(problem(HOT, IDLE), SPLIT) == []


@pytest.mark.parametrize(
    ("free", "items", "kept"),
    [
        (4.0, [SPLIT], True),
        (3.9, [SPLIT], False),
        (1.0, [JOINED], True),
        (0.9, [JOINED], False),
        (2.0, [SPLIT, JOINED], True),  # 1 of 2 for the first, then 2 - 1 + 3 are free
        (1.9, [SPLIT, JOINED], False),
    ],
)
def test_new_tasks_run_beside_old_ones_in_two_waves(free: float, items: list[OperatorScaling], kept: bool) -> None:
    """Free cores, and a quota that leaves as many."""
    assert ("free-cpu" not in names(problem(HOT, IDLE, free_cpu=free), *items)) == kept
    assert ("quota" not in names(problem(HOT, IDLE, quota=5.0 + free), *items)) == kept


def test_each_node_takes_its_tasks_in_both_waves() -> None:
    on = {"nodes": ("n1", "n2"), "now": ((0, 1), (0, 0, 1))}
    question = problem(HOT, IDLE, free=np.array([1.0, 2.0]), **on)
    split, joined = SPLIT._replace(nodes=(0, 0, 1, 1)), JOINED._replace(nodes=(0,))
    assert names(question, split, joined) == []
    (breach,) = broken(question, Scaling((split,)))
    assert (breach.rule, breach.where, breach.limit, breach.current) == ("node-cpu", "node:n1", 1.0, 2.0)
    assert names(replace(question, free=np.array([0.9, 2.0])), split, joined) == ["node-cpu", "node-cpu"]


def test_fewer_tasks_keep_the_peak() -> None:
    assert names(problem(HOT, replace(IDLE, use=0.8)), SPLIT, JOINED) == ["target", "peak"]
    busy = replace(IDLE, use=3.0, state="normal")
    assert "peak" in names(problem(HOT, busy), SPLIT, JOINED._replace(parallelism=2))


def test_state_and_numbers_of_tasks() -> None:
    assert names(problem(replace(HOT, task_memory=4.0)), SPLIT) == []
    assert names(problem(replace(HOT, task_memory=3.0)), SPLIT) == ["task-memory"]
    assert "task-memory" not in rules(problem(replace(HOT, task_memory=3.0)), Scaling((SPLIT,)))
    assert names(problem(HOT, slots=1.0), SPLIT) == ["slots"]
    on_one = problem(
        HOT, slots=9.0, nodes=("n1", "n2"), free=np.full(2, 9.0), now=((0,),), node_slots=np.array([1.0, 8.0])
    )
    assert names(on_one, SPLIT._replace(nodes=(0, 0))) == ["slots"]
    assert names(on_one, SPLIT._replace(nodes=(0, 1))) == []
    one = OperatorScaling(0, 1, ((0, 3),))
    assert set(names(problem(replace(HOT, task_memory=3.0)), one)) == {"target", "task-memory", "peak"}
    assert names(problem(replace(HOT, most=3)), SPLIT) == ["max-parallelism"]


def test_ranges() -> None:
    def faults(*ranges: tuple[int, int], tasks: int = 2, split: str = "load") -> list[str]:
        return [fault for fault, _ in range_faults(HOT, tasks, ranges, split)]

    assert faults((0, 1), (2, 3)) == []
    assert faults((0, 2), (3, 3)) == []
    assert faults((0, 2), (3, 3), split="hash") == ["no ranges"]
    assert faults((0, 2), (2, 3)) == ["with two tasks", "no ranges"]
    assert faults((0, 1), (3, 3)) == ["with no task", "no ranges"]
    assert faults((0, 1), (2, 4)) == ["no such key group"]
    assert faults((2, 3), (0, 1)) == ["no ranges"]
    assert faults((0, 3)) == ["no ranges"]
    assert [fault for fault, _ in range_faults(IDLE, 2, ((0, 1), (2, 3)), "load")] == ["no ranges"]


def test_techniques_and_pauses() -> None:
    question = problem(HOT)
    able = ("checkpoint", "active-backup")
    assert names(question, SPLIT, splits={0: SplitPause("checkpoint", 5.0, able)}) == []
    assert names(question, SPLIT, splits={0: SplitPause("checkpoint", 5.0, able)}, budget_s=4.0) == ["latency-budget"]
    assert names(question, SPLIT, splits={0: SplitPause("assisted", 0.0, able)}) == ["technique"]
    assert names(question, SPLIT, splits={0: SplitPause(None, 0.0, able)}) == ["technique"]


def test_rules_in_force() -> None:
    assert rules(problem(HOT), Scaling((SPLIT,))) == ("ranges", "target", "max-parallelism", "technique")
    assert "target" not in rules(problem(HOT), Scaling())
    everything = problem(
        replace(HOT, task_memory=9.0),
        IDLE,
        free_cpu=9.0,
        quota=99.0,
        nodes=("n1",),
        free=np.ones(1),
        now=((0,), (0,)),
        slots=9.0,
    )
    assert rules(everything, Scaling((SPLIT,)), budget_s=1.0) == RULES
