"""The default: what structure-aware chooses, improved and bounded by exact in the rest of the time."""

from __future__ import annotations

from dataclasses import replace

from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.exact import curve, exact
from ftplan.planners.replicate_tasks.algorithms.planner import PLANNED, Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.structure_aware import plans, structure_aware
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

__all__ = ["auto", "curve", "plans"]

#: Iterations of the proof where none are given: solvers end at a node of their tree, not at a time.
ITERATIONS = 1_000


def auto(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose replicas by structure-aware, then look for better ones and a bound by exact.

    Work is bounded: what ends before the time limit ends alike in every run.

    Guarantee: no worse than structure-aware; ``optimal`` only where it is proven.
    """
    clock = Budget.of(options)
    first = structure_aware(problem, replace(options, time_limit_s=PLANNED * options.time_limit_s))
    assert first.answer is not None
    work = ITERATIONS if options.iterations is None else options.iterations
    rest = replace(options, time_limit_s=clock.left_s, iterations=work)
    result = exact(problem, rest, first.answer.nodes())
    return replace(result, warnings=tuple(dict.fromkeys((*first.warnings, *result.warnings))))
