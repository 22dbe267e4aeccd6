"""How often a job fails: as said, or as the nodes of a log do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.costs.checkpoint_interval.options import FAILURES, CheckpointIntervalOptions
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name
from ftplan.io.failure_file import read_failure_log
from ftplan.io.options.fields import flag
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import Estimate

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
