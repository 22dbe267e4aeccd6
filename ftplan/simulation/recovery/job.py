"""From a problem to a job as it runs: streams, what a record takes, how fast tasks and nodes are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.measures.recovery_time import input_rate
from ftplan.model.rates import FullStream, Rates, most_cores, rates, record_time_s
from ftplan.model.recovery_costs import RecoveryCosts
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray
from ftplan.simulation.dataflow.job import StreamJob

#: Cores of a node that has none left.
LEAST_CORES = 1e-9
#: Records that a query gets in the time over which its latency is a mean, at least.
LEAST_RECORDS = 2.0


@dataclass(frozen=True)
class JobOptions:
    """What the files do not say of a job: see :class:`ftplan.simulation.recovery.options.RecoverySimulationOptions`."""

    batch_s: float
    record_bytes: float
    headroom: float
    window_s: float
    max_streams: int = 1_000_000


@dataclass(frozen=True, eq=False)
class RunningJob:
    """A job, what its tasks usually take of cores, and by what its measured capacity exceeds its input, if known.

    ``slow`` are output tasks that get too few records for their latency to be judged: queries of no simulation.
    """

    job: StreamJob
    usual_cpu: FloatArray  # (T,)
    capacity_factor: float | None = None
    slow: tuple[int, ...] = ()


def running_job(
    graph: TaskGraph, cost: FloatArray, state_bytes: FloatArray, costs: RecoveryCosts | None, options: JobOptions
) -> RunningJob:
    """Return a job at its rates without failure.

    A record takes the topology's ``record_time_s``, else cores over input rate. At its fastest pace a task uses its
    usual cores times the measured capacity of the job over its input, where recovery costs say the capacity; else one
    core, or ``headroom`` times its usual cores, as far as its ``cpu`` covers them, where that is more.

    *cost*: cores of each task at its usual rate, shape (tasks,).

    Raises FtplanError if the job has too many streams, no input at all, or no query that can be judged.
    """
    flow = rates(graph)
    sender, receiver, rate = _streams(graph, flow, options.max_streams)
    fed = np.bincount(receiver, minlength=graph.tasks) > 0
    processed = np.where(fed, flow.into, flow.out)
    if not processed[~fed].any():
        raise FtplanError("topology: no source emits anything: give the sources rate_out above 0")
    share = np.divide(rate, processed[sender], out=np.zeros(len(rate)), where=processed[sender] > 0.0)
    record_time = record_time_s(graph, cost, processed)
    usual = record_time * processed
    factor = None
    if costs is not None and costs.capacity_records_s is not None:
        factor = costs.capacity_records_s.value / input_rate(graph)
        threads = np.where(usual > 0.0, factor * usual, 1.0)
    else:
        threads = most_cores(usual, cost, options.headroom)
    judged = graph.output & (processed * options.window_s >= LEAST_RECORDS)
    if not judged.any():
        raise FtplanError(
            f"every query gets fewer than {LEAST_RECORDS:g} records in {options.window_s:g} s, too few to judge its "
            "latency: give a longer --window"
        )
    deterministic = np.array([operator.deterministic for operator in graph.topology.operators], dtype=np.bool_)
    job = StreamJob(
        rate=np.where(fed, 0.0, flow.out),
        sender=sender,
        receiver=receiver,
        share=share,
        record_time_s=record_time,
        threads=threads,
        output=judged,
        deterministic=deterministic[graph.operator_of],
        state_bytes=state_bytes,
        record_bytes=options.record_bytes,
        batch_s=options.batch_s,
    )
    return RunningJob(job, usual, factor, tuple(np.flatnonzero(graph.output & ~judged).tolist()))


def _streams(graph: TaskGraph, flow: Rates, most: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return sender, receiver and records per second of all streams, at most so many, by (receiver, sender)."""
    operators = graph.topology.operators
    count = sum(
        operators[s.source].parallelism * operators[s.target].parallelism if isinstance(s, FullStream) else len(s.rate)
        for s in flow.streams
    )
    if count > most:
        raise FtplanError(
            f"topology: its tasks exchange records on {count:,} streams, each simulated for itself; --max-streams is "
            f"{most:,}"
        )
    sender, receiver, rate = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for stream in flow.streams:
        from_, to = int(graph.offset[stream.source]), int(graph.offset[stream.target])
        if isinstance(stream, FullStream):
            # at rate 0 it may stand for those receivers alone that measured substreams leave without records
            reached = np.arange(len(stream.share)) if stream.sent.any() else np.flatnonzero(stream.share > 0.0)
            sender.append(from_ + np.repeat(np.arange(len(stream.sent)), len(reached)))
            receiver.append(to + np.tile(reached, len(stream.sent)))
            rate.append(np.outer(stream.sent, stream.share[reached]).ravel())
        else:
            sender.append(from_ + stream.sender)
            receiver.append(to + stream.receiver)
            rate.append(stream.rate)
    pairs = np.concatenate(receiver) * graph.tasks + np.concatenate(sender)
    pair, place = np.unique(pairs, return_inverse=True)
    summed = np.bincount(place, weights=np.concatenate(rate), minlength=len(pair))
    return pair % graph.tasks, pair // graph.tasks, summed.astype(np.float64, copy=False)


def node_cores(free: FloatArray, home: IntArray, running: RunningJob) -> FloatArray:
    """Return the cores that tasks can use on each node, shape (nodes,).

    Where the job at its measured capacity takes more than a node's cores, cores are worth more than files say: on all
    nodes, by the factor of the node that needs most.

    *free*: cores minus what others use there, shape (nodes,). *home*: node of each task at the start, shape (tasks,).
    """
    free = np.maximum(free, LEAST_CORES)
    if running.capacity_factor is None:
        return free
    there = free > LEAST_CORES
    needed = running.capacity_factor * np.bincount(home, running.usual_cpu, minlength=len(free))
    return np.asarray(free * max(1.0, float((needed[there] / free[there]).max(initial=0.0))))
