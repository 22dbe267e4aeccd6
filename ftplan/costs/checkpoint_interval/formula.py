"""How often a job fails, as said or as the nodes of a log do; what an interval costs, and which costs least."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.costs.checkpoint_interval.options import FAILURES, CheckpointIntervalOptions
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name
from ftplan.io.failure_file import read_failure_log
from ftplan.io.options.fields import flag
from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import Estimate
from ftplan.model.topology import FloatArray

DAY_S = 86400.0
#: Part of the distribution of a rate that lies beyond each of its limits.
TAIL = 0.025


class FailureRate(NamedTuple):
    """Failures per second, with limits where they were counted, and the log."""

    per_s: Estimate
    file: InputFile | None = None
    warnings: tuple[Warn, ...] = ()


def failure_rate(options: CheckpointIntervalOptions) -> FailureRate:
    """Return how often the job fails.

    A log counts the failures after its first one, as a Poisson process of all its nodes; the limits hold 95 % of what
    the rate may be. Nodes that fail together count one by one.

    Raises
    ------
    FtplanError
        If it is not said, said twice, or the log says nothing.
    """
    given = [name for name in FAILURES if getattr(options, name) is not None]
    if len(given) != 1:
        said = " and ".join(map(flag, given)) + " say it twice: give one" if given else "give one"
        raise FtplanError(f"how often does the job fail? {said} of {', '.join(map(flag, FAILURES))}")
    if options.failure_log is None:
        for name in ("nodes", "log_nodes"):
            if getattr(options, name) is not None:
                raise FtplanError(f"{flag(name)}: goes with --failure-log only")
        mtbf = options.mtbf_s
        return FailureRate(Estimate((options.failures_per_day or 0.0) / DAY_S if mtbf is None else 1.0 / mtbf))
    return _of_log(options)


def _of_log(options: CheckpointIntervalOptions) -> FailureRate:
    from scipy.special import gammaincinv

    if options.nodes is None:
        raise FtplanError("--nodes: is missing: on how many nodes does the job run? the log tells how often one fails")
    log = read_failure_log(options.failure_log, time=options.log_time, node=options.log_node)
    name, failing = display_name(options.failure_log), len(set(log.node))
    span_s, counted = float(np.ptp(log.time_s)), len(log.time_s) - 1
    if counted < 1 or span_s <= 0.0:
        raise FtplanError(f"{name}: all its failures are of one time: that tells no rate")
    watched = options.log_nodes
    warnings: tuple[Warn, ...] = ()
    if watched is None:
        text = f"of the nodes that {name} watches only the {failing:,} that fail in it are known: --log-nodes says more"
        watched, warnings = failing, (Warn("NODES_OF_LOG_UNKNOWN", f"{text}; the rate is too high by that"),)
    elif watched < failing:
        raise FtplanError(f"--log-nodes: {watched:,} are fewer than the {failing:,} nodes that fail in {name}")
    exposure = span_s * watched / options.nodes
    low, high = float(gammaincinv(counted, TAIL)), float(gammaincinv(counted + 1, 1.0 - TAIL))
    rate = Estimate(counted / exposure, low / exposure, high / exposure)
    return FailureRate(rate, InputFile("failure-log", name, log.sha256), warnings)


class LostTime(NamedTuple):
    """A job that checkpoints, fails and recovers; all in seconds.

    Failures come at random with a rate per second, whatever the job does. A checkpoint stops it for ``checkpoint_s`` at
    every interval. A recovery takes ``fixed_s + per_interval * interval``; a failure meanwhile begins it anew. Time is
    lost while the job stands for a checkpoint or has not caught up.
    """

    checkpoint_s: float
    failure_rate: float  # failures per second
    fixed_s: float
    per_interval: float
    shortest_s: float  # the shortest interval at which the job keeps up with its input

    @classmethod
    def of(
        cls,
        parameters: RecoveryParameters,
        rate: float,
        state_bytes: float,
        checkpoint_s: float,
        failure_rate: float,
    ) -> LostTime:
        """Return what a job loses by the parts of its recovery; *rate* is below its capacity, in records per second."""
        none, second = recovery_time(parameters, rate, [0.0, 1.0], state_bytes).total_s.tolist()
        rho = rate / float(np.asarray(parameters.capacity_records_s))
        return cls(checkpoint_s, failure_rate, none, second - none, checkpoint_s / (1.0 - rho))

    def recovery_s(self, interval_s: ArrayLike) -> FloatArray:
        """Return how long a recovery takes, of the shape of *interval_s*."""
        return np.asarray(self.fixed_s + self.per_interval * np.asarray(interval_s, dtype=np.float64))

    def checkpointing(self, interval_s: ArrayLike) -> FloatArray:
        """Return the share of all time that checkpoints take, of the shape of *interval_s*."""
        interval = np.asarray(interval_s, dtype=np.float64)
        up = np.exp(-self.failure_rate * self.recovery_s(interval))
        return np.asarray(np.minimum(self.checkpoint_s / interval, 1.0) * up)

    def recovering(self, interval_s: ArrayLike) -> FloatArray:
        """Return the share of all time that the job has not caught up, of the shape of *interval_s*.

        Between two recoveries it is up for 1 / rate seconds. A recovery, which failures begin anew, takes
        (exp(rate * R) - 1) / rate seconds on average: the share is 1 - exp(-rate * R).
        """
        return np.asarray(-np.expm1(-self.failure_rate * self.recovery_s(interval_s)))

    def share(self, interval_s: ArrayLike) -> FloatArray:
        """Return the share of all time that is lost: 1 - (1 - checkpoint / interval) exp(-rate * R(interval))."""
        return self.checkpointing(interval_s) + self.recovering(interval_s)

    @property
    def best_s(self) -> float:
        """The interval that loses least, in closed form; infinite where longer ones cost nothing.

        The logarithm of what is not lost, ln(1 - C / t) - rate * (a + b t), is strictly concave for t > C; its slope
        C / (t (t - C)) - rate * b is 0 at C / 2 + sqrt(C^2 / 4 + C / (rate * b)). Where the job would not keep up
        then, the shortest interval at which it does is best.
        """
        slope = self.failure_rate * self.per_interval
        half = self.checkpoint_s / 2.0
        free = half + math.sqrt(half * half + self.checkpoint_s / slope) if slope > 0.0 else math.inf
        return max(free, self.shortest_s)

    def longest_s(self, max_recovery_s: float) -> float:
        """Return the longest interval whose recoveries take no longer; below ``shortest_s`` where none keeps up."""
        left = max_recovery_s - self.fixed_s
        if self.per_interval == 0.0:
            return math.inf if left >= 0.0 else -math.inf
        return left / self.per_interval


def young(checkpoint_s: float, mtbf_s: float) -> float:
    """Return the interval of [Young1974]: sqrt(2 C M), which replays half an interval at full speed."""
    return math.sqrt(2.0 * checkpoint_s * mtbf_s)


def daly(checkpoint_s: float, mtbf_s: float) -> float:
    """Return the interval of [Daly2006], equation 37, from the begin of a checkpoint to that of the next one.

    The paper counts the seconds between the end of a checkpoint and the begin of the next one.
    """
    if checkpoint_s >= 2.0 * mtbf_s:
        return mtbf_s + checkpoint_s
    part = checkpoint_s / (2.0 * mtbf_s)
    return math.sqrt(2.0 * checkpoint_s * mtbf_s) * (1.0 + math.sqrt(part) / 3.0 + part / 9.0)
