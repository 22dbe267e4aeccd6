"""What an interval between checkpoints costs, and which costs least."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.model.topology import FloatArray


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
