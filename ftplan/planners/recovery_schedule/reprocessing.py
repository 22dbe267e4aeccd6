"""What recovered tasks process again before they have caught up, by the options of a recovery schedule."""

from __future__ import annotations

import numpy as np

from ftplan.costs.option import GivenCosts
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.plan import Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions

#: Age of the last checkpoint at a failure, in checkpoint intervals, where nothing says: the expected one.
CHECKPOINT_AGE = 0.5


def delays_of(
    recovery: GivenCosts, graph: TaskGraph, cost: FloatArray, options: RecoveryScheduleOptions
) -> RecoveryDelays:
    """Return what a recovery adds to the return of each task: by measured costs, else by its checkpoint interval.

    Raises
    ------
    FtplanError
        If by the costs the job never catches up.
    """
    if recovery.costs is None:
        age = CHECKPOINT_AGE if options.checkpoint_age is None else options.checkpoint_age
        delays = RecoveryDelays.of_checkpoints(graph, cost, age, 1.0 / options.max_cpu)
    else:
        delays = recovery.delays(graph, options.checkpoint_age)
    return delays if options.replay else delays._replace(replay_s=0.0, catch_up=0.0)


def replay_doubts(
    recovery: GivenCosts, graph: TaskGraph, failed: BoolArray, options: RecoveryScheduleOptions
) -> tuple[Warn, ...]:
    """Say where replay counts for a part of the failed tasks only; *failed* has shape (tasks,)."""
    if recovery.costs is not None or not options.replay:
        return ()
    operators = [graph.topology.operators[i] for i in np.unique(graph.operator_of[failed]).tolist()]
    unknown = [operator.id for operator in operators if operator.checkpoint.interval_s is None]
    if not unknown or len(unknown) == len(operators):
        return ()
    named = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else "")
    text = (
        f"{named}: no checkpoint.interval_s, so that these tasks count as processing nothing again, and the others do "
        "not; state it for all operators, or give --no-replay"
    )
    return (Warn("REPLAY_UNKNOWN", text),)
