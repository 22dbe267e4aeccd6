"""Recovery costs as an input of plans: one option for every kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.model.defaults import BANDWIDTH_MB_S
from ftplan.model.measures.recovery_time import (
    RecoveryDelays,
    input_rate,
    longest_interval,
    outside_fitted_range,
)
from ftplan.model.plan import Assumption, InputFile, Warn
from ftplan.model.recovery_costs import RecoveryCosts
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray

#: Age of the last checkpoint at a failure, in checkpoint intervals, where nothing says: the expected one.
CHECKPOINT_AGE = 0.5


class GivenCosts(NamedTuple):
    """Recovery costs that were asked for, the fingerprint of their file, and what is said of the file."""

    costs: RecoveryCosts | None = None
    file: InputFile | None = None
    warnings: tuple[Warn, ...] = ()

    @classmethod
    def of(cls, given: Any) -> GivenCosts:
        """Read the option ``costs``; None is nothing.

        Raises
        ------
        FtplanError
            If the file cannot be read or is wrong.
        """
        if given is None:
            return cls()
        loaded = load_recovery_costs(given)
        return cls(loaded.value, loaded.input, loaded.warnings)

    @property
    def remote(self) -> bool:
        """Whether state is fetched from a store whose distance is the same for all nodes."""
        return self.costs is not None and self.costs.state == "remote"

    def remote_state(self) -> tuple[Warn, ...]:
        """Say that the placement of checkpoints does not pay where state is remote."""
        if not self.remote:
            return ()
        text = (
            "by the recovery costs state is remote: a task fetches it from the store wherever it starts, and no copy "
            "on a node makes that faster: the placement of checkpoints no longer pays"
        )
        return (Warn("REMOTE_STATE", text),)

    def bandwidth_mb_s(self, asked: float | None, network: float | None) -> float | None:
        """Return the bandwidth of restores: as asked, else as fitted, else the network's, wherever state lies."""
        fitted = None if self.costs is None else self.costs.bandwidth_mb_s
        if asked is not None:
            return asked
        return network if fitted is None else fitted.value

    def transfer_mb_s(self, asked: float | None, network: float | None) -> tuple[float, tuple[Warn, ...]]:
        """Return the bandwidth of state transfers, which is assumed where nothing says, with a warning."""
        known = self.bandwidth_mb_s(asked, network)
        if known is not None:
            return float(known), ()
        text = (
            f"no bandwidth is known: {BANDWIDTH_MB_S:g} MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in "
            "the cluster file"
        )
        return BANDWIDTH_MB_S, (Assumption("BANDWIDTH_ASSUMED", text, BANDWIDTH_MB_S),)

    def delays(
        self, graph: TaskGraph, cost: FloatArray, age: float | None, headroom: float, replay: bool = True
    ) -> RecoveryDelays:
        """Return what a recovery adds to the return of each task: by the costs, else by its checkpoint interval.

        Parameters
        ----------
        cost
            Cores of each task, (tasks,).
        age
            Of the last checkpoint at the failure, in intervals; None as fitted, else the expected one.
        headroom
            Pace at which a task catches up at most, over the one that it is reserved for.
        replay
            Whether recovered tasks process again what came since the last checkpoint.

        Raises
        ------
        FtplanError
            If by the costs the job never catches up.
        """
        if self.costs is not None:
            delays = RecoveryDelays.of(self.costs, graph, age)
        else:
            delays = RecoveryDelays.of_checkpoints(graph, cost, CHECKPOINT_AGE if age is None else age, headroom)
        return delays if replay else delays._replace(replay_s=0.0, catch_up=0.0)

    def doubts(self, graph: TaskGraph) -> tuple[Warn, ...]:
        """Say where a job lies outside the recoveries that the costs were fitted on, and what is not known of it."""
        if self.costs is None:
            return ()
        interval, replayed = longest_interval(graph), self.costs.replay_share
        said = tuple(outside_fitted_range(self.costs, input_rate(graph), interval))
        if interval is None and replayed is not None and replayed.value > 0.0:
            text = "no operator states checkpoint.interval_s: recoveries count as processing nothing again"
            said += (Warn("INTERVAL_UNKNOWN", text),)
        return said


def recorded_costs(given: Any, path: str | None) -> Any:
    """Return what a plan's options keep of recovery costs: the path, or the document."""
    return path if path is not None or not isinstance(given, Mapping) else dict(given)
