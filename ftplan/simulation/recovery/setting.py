"""What is simulated: one failure with one outcome of everything that is random, drawn beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.recovery.modes import MODES, Mode


@dataclass(frozen=True, slots=True)
class SimulatedNode:
    """A node: cores for tasks, and from when on it is there (minus infinity: from the start)."""

    id: str
    cores: float
    from_s: float = -np.inf


@dataclass(frozen=True, slots=True, eq=False)
class NodeFailure:
    """What fails at a time: nodes with all that runs there by then, and tasks named for themselves."""

    at_s: float
    nodes: frozenset[int]
    tasks: IntArray


@dataclass(frozen=True, slots=True)
class RecoveryStart:
    """The schedule starts a task: on a node (number), not before *at_s*, nor before the node is there.

    *local_bytes* of its state lie there already. A task that a schedule splits over nodes runs on the first of them.
    """

    at_s: float
    task: int
    node: int
    local_bytes: float = 0.0


@dataclass(frozen=True)
class RecoveryTiming:
    """How long the parts of a recovery take."""

    detection_s: float = 0.0  # from a failure until the coordinator knows of it
    restart_s: float = 0.0  # from the order to start or to roll back until a task loads its state
    bandwidth_bytes_s: float = np.inf  # of restores; those of one node go one after another
    transfer_delay_s: float = 0.0  # before each transfer
    #: ``takeover_s``, ``replica_lag_s``: from the detection until a replica's output is on; how much of its output it
    #: sends again ([SuZhou2016], V-B)
    takeover_s: float = 0.0
    replica_lag_s: float = 0.0
    #: ``warming_s``, ``warming_pace``: so long after a task has started again, or has gone back, it works at this share
    #: of its fastest pace: code is not compiled, caches are cold
    warming_s: float = 0.0
    warming_pace: float = 1.0
    #: Node failures since the last complete checkpoint from which on recovery is incremental; with fewer it blocks:
    #: waits for the last step, and the whole job goes back ([SuZhouTR], section 4.2.1)
    correlated_failures: int = 2
    #: Source time that the whole job's state is rebuilt from where there are no checkpoints; 0: from the begin
    replay_window_s: float = 0.0


@dataclass(frozen=True, eq=False)
class RecoverySetting:
    """A failure at time 0, after *warm_up_s* without one, and until *until_s*."""

    job: StreamJob  # what runs; its batch 0 begins at :attr:`begin_s`
    nodes: tuple[SimulatedNode, ...]  # all nodes that are ever there
    home: IntArray  # node of each task at the start, shape (tasks,)
    failures: tuple[NodeFailure, ...]  # in the order of time; the first at 0
    #: What the schedule starts, in its order; not used by a mode that waits for nothing
    starts: tuple[RecoveryStart, ...]
    replica: IntArray | None = None  # node of each task's active replica, -1 without one, shape (tasks,)
    mode: Mode = MODES["incremental"]
    timing: RecoveryTiming = field(default_factory=RecoveryTiming)
    #: ``checkpoint_s``, ``checkpoint_age_s``: seconds between checkpoints, infinite for none; how old the last
    #: punctuation is when the first failure strikes, at most a whole interval
    checkpoint_s: float = 10.0
    checkpoint_age_s: float = 0.0
    delay_s: float = 0.001
    queue_batches: int = 10
    warm_up_s: float = 30.0  # least seconds before the failure
    until_s: float = 600.0
    bin_s: float = 1.0
    names: tuple[str, ...] | None = None  # what errors call the tasks; their numbers if None

    def task_name(self, task: int) -> str:
        """Return what errors call a task."""
        return str(task) if self.names is None else self.names[task]

    @property
    def begin_s(self) -> float:
        """When batch 0 begins, before the failure: such that the last punctuation has its age."""
        if np.isinf(self.checkpoint_s):
            return -self.warm_up_s
        intervals = max(1.0, np.ceil((self.warm_up_s - self.checkpoint_age_s) / self.checkpoint_s - 1e-9))
        return float(-(intervals * self.checkpoint_s + self.checkpoint_age_s))
