"""How systems recover: what goes back, what is kept, when tasks start, and what they fetch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to recover.

    Attributes
    ----------
    rolls_back
        When live tasks go back to the last complete checkpoint: at the first failure since it only, at every failure,
        or never.
    buffers
        When tasks other than sources keep their output: from the first failure until the next complete checkpoint,
        always, or never.
    stops
        Whether at a failure live tasks go on until they are rolled back, or the whole job stops.
    waits
        What recovery waits for: for the steps of the schedule, for its last step (all tasks start at once), or for
        nothing (tasks start at once on the nodes that live, however full).
    fetches
        Whose state is fetched when the job goes back: that of all tasks, of those that start elsewhere (the others
        have it on their own disk), or of none (standbys have it).
    coordinated
        Whether checkpoints are those of the whole job, or each task's own.
    """

    name: str
    says: str
    rolls_back: Literal["once", "always", "never"]
    buffers: Literal["after-failure", "always", "never"]
    stops: Literal["failed", "all"]
    waits: Literal["steps", "last-step", "nothing"]
    fetches: Literal["all", "moved", "none"]
    coordinated: bool = True


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(
            "incremental",
            "[SuZhouTR]: tasks start as room arrives; live tasks go back once, keep their output until all are back",
            "once", "after-failure", "failed", "steps", "moved",
        ),
        Mode(
            "blocking",
            "wait for the last node, then take all tasks back and replay from the sources",
            "always", "never", "failed", "last-step", "moved",
        ),
        Mode(
            "source-replay",
            "at every failure all tasks go back and the sources replay, as soon as the failed tasks have a place",
            "always", "never", "all", "steps", "all",
        ),
        Mode(
            "eager",
            "restart failed tasks at once on the nodes that live, however full they get",
            "always", "never", "failed", "nothing", "moved",
        ),
        Mode(
            "task-local",
            "Flink: the job restarts as a whole; tasks whose node lives restore from its disk",
            "always", "never", "all", "last-step", "moved",
        ),
        Mode(
            "standby",
            "Clonos: passive standbys with state in place take over and replay logged input; no task goes back",
            "never", "always", "failed", "steps", "none",
        ),
        Mode(
            "uncoordinated",
            "CheckMate: each task has its own checkpoints, failed ones alone go back, logged input is replayed",
            "never", "always", "failed", "steps", "moved", False,
        ),
    )
}  # fmt: skip
