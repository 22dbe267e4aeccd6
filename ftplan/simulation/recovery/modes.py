"""How systems recover: what goes back, what is kept, when tasks start, and what they fetch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to recover."""

    name: str
    says: str
    #: When live tasks go back to the last complete checkpoint. Once: when the first failure is detected, and not again
    #: until a checkpoint was completed. Always: whenever failed tasks start, as nothing but the sources' logs is kept.
    #: Never: failed tasks alone go back.
    rolls_back: Literal["once", "always", "never"]
    #: When tasks other than sources keep their output: from the rollback until the next complete checkpoint, always, or
    #: never
    buffers: Literal["after-failure", "always", "never"]
    #: When records wait for their batch (the order in which a task processes is then the same again): while output is
    #: kept after a failure, always, or never
    batches: Literal["after-failure", "always", "never"]
    #: Whether when a failure is detected live tasks go on until they are rolled back, or the whole job stops
    stops: Literal["failed", "all"]
    #: What recovery waits for: for the steps of the schedule, for the last step that has a task which is down (all
    #: start at once then), or for nothing: tasks start at once on the live nodes with least work for their cores
    waits: Literal["steps", "last-step", "nothing"]
    #: Whose state is fetched: that of the tasks that failed, of those of them that start elsewhere (a node that lives
    #: has it on its disk), of the whole job, or of none (standbys have it)
    fetches: Literal["failed", "moved", "all", "none"]
    coordinated: bool = True  # whether checkpoints are those of the whole job, or each task's own
    #: Whether it is known in which order tasks processed, so that one which is not deterministic does the same again.
    #: Otherwise a job with such a task goes back as a whole whenever a failure is detected.
    logs_order: bool = False


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(
            "incremental",
            "[SuZhouTR]: tasks start as room arrives; live tasks go back once, keep their output until all are back",
            "once", "after-failure", "after-failure", "failed", "steps", "failed",
        ),
        Mode(
            "blocking",
            "wait for the last node, then take all tasks back and replay from the sources",
            "always", "never", "never", "failed", "last-step", "failed",
        ),
        Mode(
            "source-replay",
            "Storm: as soon as failed tasks have a place all tasks go back and the sources replay, at every failure",
            "always", "never", "never", "failed", "steps", "failed",
        ),
        Mode(
            "eager",
            "Spark Streaming: output is kept; failed tasks restart at once on the nodes that live, however full",
            "never", "always", "always", "failed", "nothing", "failed",
        ),
        Mode(
            "task-local",
            "Flink: the job stops and restarts as a whole; tasks whose node lives restore from its disk",
            "always", "never", "never", "all", "last-step", "moved",
        ),
        Mode(
            "standby",
            "Clonos: passive standbys with state in place take over and replay logged input; no task goes back",
            "never", "always", "never", "failed", "steps", "none", logs_order=True,
        ),
        Mode(
            "uncoordinated",
            "CheckMate: each task has its own checkpoints, failed ones alone go back, logged input is replayed",
            "never", "always", "never", "failed", "steps", "failed", coordinated=False,
        ),
    )
}  # fmt: skip
