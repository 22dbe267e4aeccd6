"""How long a recovery takes, by its parts: one function for fitting, planning and judging."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ftplan.errors import OverloadError
from ftplan.model.plan import Warn
from ftplan.model.rates import pace_used, rates
from ftplan.model.recovery_costs import RecoveryCosts
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.model.units import MB

FloatOrArray = TypeVar("FloatOrArray", float, FloatArray)


class RecoveryParameters(NamedTuple):
    """What a recovery's parts depend on, numbers or arrays that broadcast; the defaults take no time.

    The names and units are those of :class:`ftplan.model.recovery_costs.RecoveryCosts`.
    """

    detection_s: ArrayLike = 0.0
    restart_s: ArrayLike = 0.0
    bandwidth_mb_s: ArrayLike = np.inf
    replay_share: ArrayLike = 0.0
    capacity_records_s: ArrayLike = np.inf

    @classmethod
    def of(cls, costs: RecoveryCosts) -> RecoveryParameters:
        """Return the fitted values; a part without an estimate takes no time."""
        return cls(**{name: item.value for name, item in costs.estimates.items()})


class RecoveryParts(NamedTuple):
    """The seconds of a recovery's parts, each of the shape that the arguments broadcast to."""

    detection_s: FloatArray
    restart_s: FloatArray
    transfer_s: FloatArray
    replay_s: FloatArray
    catch_up_s: FloatArray

    @property
    def stopped_s(self) -> FloatArray:
        """Seconds in which nothing is processed."""
        return self.detection_s + self.restart_s + self.transfer_s

    @property
    def behind_s(self) -> FloatArray:
        """Seconds from when tasks run again until they have caught up."""
        return self.replay_s + self.catch_up_s

    @property
    def total_s(self) -> FloatArray:
        """Seconds from the failure until tasks have caught up, infinite where they never do."""
        return self.stopped_s + self.behind_s


def recovery_time(
    parameters: RecoveryParameters, rate: ArrayLike, interval_s: ArrayLike = 0.0, state_bytes: ArrayLike = 0.0
) -> RecoveryParts:
    """Return the parts of a recovery; all arguments broadcast against each other.

    A failure is noticed after ``detection_s``, tasks start within ``restart_s`` and fetch their state. What came in
    during ``replay_share`` of an interval is then processed again at full capacity, and what has come in since the
    failure, and comes in meanwhile, with the share 1 - rho of capacity that the input leaves, rho = rate / capacity.
    With D the time until tasks run again the sum is ``D + (replay_share * interval + D) * rho / (1 - rho)``; the 60
    recoveries that [Geldenhuys2022] measured lie within 6 % of it (median). Where rho is 1 or more it has no end.

    Parameters
    ----------
    rate
        Records per second into the job.
    interval_s
        Seconds between checkpoints.
    state_bytes
        Bytes to fetch: 0 where state lies on the node.
    """
    given = (np.asarray(item, dtype=np.float64) for item in (*parameters, rate, interval_s, state_bytes))
    detection, restart, bandwidth, share, capacity, arriving, interval, size = np.broadcast_arrays(*given)
    rho = arriving / capacity
    transfer = size / (bandwidth * MB)
    replay = share * interval * rho
    behind = detection + restart + transfer + replay
    keeps_up = rho < 1.0
    ratio = np.divide(rho, 1.0 - rho, out=np.full(rho.shape, np.inf), where=keeps_up)
    catch_up = np.multiply(behind, ratio, out=np.zeros(rho.shape), where=keeps_up | (behind > 0.0))
    return RecoveryParts(detection + 0.0, restart + 0.0, transfer, replay, catch_up)


class RecoveryDelays(NamedTuple):
    """What a recovery adds to the return of each task of a job, in seconds; the defaults add nothing.

    ``replay_s`` and ``catch_up`` are numbers for all tasks or arrays of shape (tasks,).
    """

    detection_s: float = 0.0  # from when a task fails until it can be started
    restart_s: float = 0.0  # from its start until its state is fetched
    replay_s: float | FloatArray = (
        0.0  # from when it runs until it has caught up, however short it was down: inf, never
    )
    catch_up: float | FloatArray = 0.0  # seconds of catching up for each second that it was down

    @classmethod
    def of(cls, costs: RecoveryCosts, graph: TaskGraph, age: float | None = None) -> RecoveryDelays:
        """Return the delays of a job at its rates and its longest checkpoint interval.

        The last checkpoint is *age* intervals old, None for as old as the costs say.

        Raises
        ------
        OverloadError
            If its input takes all of its capacity, so that it never catches up.
        """
        rate, interval = input_rate(graph), longest_interval(graph)
        require_keeping_up(costs, rate)
        parameters = RecoveryParameters.of(costs)
        if age is not None:
            parameters = parameters._replace(replay_share=age)
        running = parameters._replace(detection_s=np.array([0.0, 1.0]), restart_s=0.0)
        none, second = recovery_time(running, rate, interval or 0.0).behind_s.tolist()
        detection, restart = costs.detection_s, costs.restart_s
        return cls(
            0.0 if detection is None else detection.value,
            0.0 if restart is None else restart.value,
            none,
            second - none,
        )

    @classmethod
    def of_checkpoints(cls, graph: TaskGraph, cost: FloatArray, age: float, headroom: float) -> RecoveryDelays:
        """Return the delays of tasks without measured costs, each at its own rate and checkpoint interval.

        A task processes again what came in during *age* intervals, at its fastest pace, and catches up with the share
        1 - rho of it that its input leaves: together ``(age * interval + down) * rho / (1 - rho)`` (as
        :func:`recovery_time`; rho as :func:`ftplan.model.rates.pace_used`); where rho is 1 it never does. Of an
        operator that states no interval nothing is known, and nothing is added unless rho is more than 1.
        """
        rho = pace_used(graph, cost, headroom)
        operators = graph.topology.operators
        stated = np.array(
            [o.checkpoint.interval_s if o.checkpoint.interval_s is not None else np.nan for o in operators]
        )
        interval = stated[graph.operator_of]
        known = ~np.isnan(interval)
        never = (rho > 1.0 + NOISE) | ((rho > 1.0 - NOISE) & known)
        if not (known | never).any():
            return cls()
        catch_up = np.divide(rho, 1.0 - rho, out=np.zeros(len(rho)), where=known & ~never)
        return cls(replay_s=np.where(never, np.inf, age * np.nan_to_num(interval) * catch_up), catch_up=catch_up)

    def starts(self, at_s: float, failed_s: float) -> float:
        """Return when a task runs that is recovered at *at_s*, without its state; it failed at *failed_s*."""
        return max(at_s, failed_s + self.detection_s) + self.restart_s

    def caught_up(
        self, ready_s: FloatOrArray, down_s: FloatOrArray | float, task: Any = slice(None), savepoint: bool = False
    ) -> FloatOrArray:
        """Return when tasks have caught up that run from *ready_s* on and were down since *down_s*.

        *task* is the number of one task, or an index of as many as *ready_s* is for. *savepoint*: they were stopped
        with a checkpoint of that moment, and process nothing again.
        """
        replay_s, catch_up = self.of_tasks(task)
        caught_up: FloatOrArray = ready_s + (0.0 if savepoint else replay_s) + catch_up * (ready_s - down_s)
        return caught_up

    def of_tasks(self, task: Any = slice(None)) -> tuple[Any, Any]:
        """Return ``replay_s`` and ``catch_up`` of some tasks: numbers where all tasks have the same or one is asked."""
        one = isinstance(task, int)
        replay_s = self.replay_s if isinstance(self.replay_s, float) else self.replay_s[task]
        catch_up = self.catch_up if isinstance(self.catch_up, float) else self.catch_up[task]
        return (float(replay_s), float(catch_up)) if one else (replay_s, catch_up)

    def never(self, tasks: int) -> BoolArray:
        """Return which tasks of a job never catch up once they were down, shape (tasks,)."""
        return np.broadcast_to(np.isinf(self.replay_s), tasks)

    @property
    def fastest(self) -> tuple[float, float]:
        """``replay_s`` and ``catch_up`` that no task falls below."""
        return float(np.min(self.replay_s)), float(np.min(self.catch_up))


#: Without recovery costs.
AT_ONCE = RecoveryDelays()


def require_keeping_up(costs: RecoveryCosts, rate: float, after: str = "a failure") -> None:
    """Refuse a job whose input takes all of its capacity.

    Raises
    ------
    OverloadError
        As it never catches up.
    """
    capacity = costs.capacity_records_s
    if capacity is not None and rate >= capacity.value:
        raise OverloadError(
            f"--costs: the job can process {capacity.value:g} records/s and gets {rate:g}: it never catches up after "
            f"{after}"
        )


def outside_fitted_range(
    costs: RecoveryCosts, rate: float | None, interval_s: float | None, state_bytes: float | None = None
) -> Iterator[Warn]:
    """Say where a job lies outside the recoveries that its costs were fitted on; None is not known, and passed over."""
    for what, fitted, now in (
        ("records/s", costs.rates, rate),
        ("seconds between checkpoints", costs.intervals_s, interval_s),
        ("bytes to restore", costs.state_bytes, state_bytes),
    ):
        if fitted is not None and now is not None and not fitted.holds(now):
            text = f"the recovery costs were fitted on {fitted.low:g} to {fitted.high:g} {what}, the job has {now:g}"
            yield Warn("OUTSIDE_FITTED_RANGE", f"{text}: durations are a guess")


def input_rate(graph: TaskGraph) -> float:
    """Return the records per second that come into a job: what its sources emit."""
    sources = np.array([not edges for edges in graph.in_edges], dtype=np.bool_)
    return float(rates(graph).out[sources[graph.operator_of]].sum())


def longest_interval(graph: TaskGraph) -> float | None:
    """Return the longest checkpoint interval of a job in seconds, None where no operator states one."""
    stated = [operator.checkpoint.interval_s for operator in graph.topology.operators]
    return max((seconds for seconds in stated if seconds is not None), default=None)
