"""The names of the metrics that ``evaluate`` reports, with sense, unit and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ftplan.model.kinds import (
    ALLOCATE_CHECKPOINTS,
    DRAIN_SCHEDULE,
    PEER_RING,
    REBALANCE,
    RECOVERY_SCHEDULE,
    REPLICATE_TASKS,
    SCALE_OUT,
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: ``sense`` says which way is better; ``--fail-under NAME=VALUE`` fails on the worse side of VALUE."""

    name: str
    kind: str
    sense: Literal["min", "max"]
    unit: str
    meaning: str


_ALLOCATION = ALLOCATE_CHECKPOINTS.name
_SCHEDULE = RECOVERY_SCHEDULE.name
_REPLICATION = REPLICATE_TASKS.name
_DRAIN = DRAIN_SCHEDULE.name
_REBALANCE = REBALANCE.name
_SCALE_OUT = SCALE_OUT.name
_RING = PEER_RING.name

METRICS: tuple[Metric, ...] = (
    Metric(
        "correlation",
        _ALLOCATION,
        "min",
        "load",
        "the objective: sum over all copies of load times correlation with the host's key groups",
    ),
    Metric("random-correlation", _ALLOCATION, "min", "load", "expected correlation of a random plan, for comparison"),
    Metric(
        "gain-over-random",
        _ALLOCATION,
        "max",
        "share",
        "(random - value) / |random|: how far the correlation lies below a random plan's",
    ),
    Metric(
        "imbalance",
        _ALLOCATION,
        "min",
        "share",
        "largest deviation of a node's checkpointed load from its fair share, relative to that share",
    ),
    Metric(
        "usable-share",
        _ALLOCATION,
        "max",
        "share",
        "of the copies of key groups on overloaded nodes, over all windows, those whose host could take the group",
    ),
    Metric(
        "assisted-migrations",
        _ALLOCATION,
        "max",
        "share",
        "of the migrations that relieve overloaded nodes, heaviest key group first, those to a checkpoint's host",
    ),
    Metric("max-copies-per-node", _ALLOCATION, "min", "copies", "most copies on one node"),
    Metric("zone-separation", _ALLOCATION, "max", "share", "copies that lie outside their primary's zone"),
    Metric(
        "lost-groups", _ALLOCATION, "min", "key groups", "key groups whose primary and all copies are on failed nodes"
    ),
    Metric(
        "recoverable-share",
        _ALLOCATION,
        "max",
        "share",
        "of the key groups whose primary fails, those with a copy on a live node; 1 where none fails",
    ),
    Metric("recoverable-load-share", _ALLOCATION, "max", "share", "the same, weighted by load; 1 where no load fails"),
    Metric(
        "failover-load-ratio",
        _ALLOCATION,
        "min",
        "share",
        "largest load of a survivor over its fair share after the loss of any one node (zone, for a plan with "
        "anti-affinity zone), each key group at its first live copy",
    ),
    Metric(
        "loss-probability",
        _ALLOCATION,
        "min",
        "probability",
        "some key group loses its primary and all copies, by failure_probability of nodes and zones",
    ),
    Metric("copysets", _ALLOCATION, "min", "sets", "distinct sets of nodes that hold a key group: primary and copies"),
    Metric(
        "queries-back-share",
        _SCHEDULE,
        "max",
        "share",
        "of the queries that failed, those that are whole at the horizon",
    ),
    Metric("priority-back-share", _SCHEDULE, "max", "share", "the same, weighted by priority"),
    Metric("first-back-s", _SCHEDULE, "min", "s", "when the first query is back; undefined where none is"),
    Metric(
        "last-back-s", _SCHEDULE, "min", "s", "when the last query is back; undefined where one is not, or none failed"
    ),
    Metric(
        "mean-back-s",
        _SCHEDULE,
        "min",
        "s",
        "mean time that a failed query is down; until the horizon if it stays down",
    ),
    Metric(
        "priority-time", _SCHEDULE, "min", "s", "sum of priority times seconds down; what stays down counts the horizon"
    ),
    Metric("fidelity-time", _SCHEDULE, "max", "s", "output fidelity integrated over the repair, until the horizon"),
    Metric(
        "prefetched-share", _SCHEDULE, "min", "share", "of the recovered tasks, those begun with left-over capacity"
    ),
    Metric("restore-s", _SCHEDULE, "min", "s", "from the decision until the task runs, summed over all tasks"),
    Metric("unrecovered-tasks", _SCHEDULE, "min", "tasks", "failed tasks that are still down at the end"),
    Metric(
        "output-fidelity",
        _REPLICATION,
        "max",
        "share",
        "how much of the output rests on all of its input, expected over the scenarios of a failure",
    ),
    Metric(
        "key-aligned-fidelity",
        _REPLICATION,
        "max",
        "share",
        "the same, a loss upstream of several streams of one join counting once",
    ),
    Metric(
        "internal-completeness",
        _REPLICATION,
        "max",
        "share",
        "of the records that tasks process without failure, those that live tasks still process",
    ),
    Metric("replicas", _REPLICATION, "min", "replicas", "tasks with an active replica"),
    Metric(
        "priority-time",
        _REPLICATION,
        "min",
        "s",
        "sum of priority times seconds down in the recovery afterwards, for plans made with --then-recover",
    ),
    Metric("rounds", _DRAIN, "min", "rounds", "the objective: rounds of restarts"),
    Metric("duration-s", _DRAIN, "min", "s", "all rounds, one after another"),
    Metric("lowest-fidelity", _DRAIN, "max", "share", "output fidelity in the worst round"),
    Metric(
        "lost-output-s",
        _DRAIN,
        "min",
        "s",
        "1 - output fidelity, integrated over all rounds: seconds of full output that are lost",
    ),
    Metric("queries-down", _DRAIN, "min", "queries", "queries that are down in the worst round"),
    Metric(
        "priority-down", _DRAIN, "min", "priority", "summed priority of the queries that are down, in the worst round"
    ),
    Metric("nodes-at-once", _DRAIN, "min", "nodes", "most nodes that restart together"),
    Metric("moved-tasks", _DRAIN, "min", "moves", "tasks that move away for a round, over all rounds"),
    Metric("unplaced-nodes", _DRAIN, "min", "nodes", "nodes that should restart and are in no round"),
    Metric("latency-s", _REBALANCE, "min", "s", "pauses of all key groups that move, each moved alone"),
    Metric("completion-s", _REBALANCE, "min", "s", "time that all moves take, each alone"),
    Metric("bytes", _REBALANCE, "min", "bytes", "what moves send over the network"),
    Metric("moves", _REBALANCE, "min", "moves", "key groups that move"),
    Metric("assisted-share", _REBALANCE, "max", "share", "of the moves, those over a checkpoint on their target"),
    Metric("longest-pause-s", _REBALANCE, "min", "s", "longest pause of a key group, waiting in its phase included"),
    Metric("duration-s", _REBALANCE, "min", "s", "all phases, one after another"),
    Metric("phases", _REBALANCE, "min", "phases", "phases of moves"),
    Metric("highest-utilisation", _REBALANCE, "min", "share", "load over capacity of the fullest node afterwards"),
    Metric("overloaded-nodes", _REBALANCE, "min", "nodes", "nodes that are overloaded afterwards"),
    Metric("overload-share", _REBALANCE, "min", "share", "windows in which a node is overloaded, with groups moved"),
    Metric(
        "imbalance",
        _REBALANCE,
        "min",
        "share",
        "largest deviation of a node's load from its fair share afterwards, relative to that share",
    ),
    Metric("new-copies-bytes", _REBALANCE, "min", "bytes", "checkpoints that are made anew"),
    Metric("copies-lost", _REBALANCE, "min", "copies", "checkpoint copies that there are fewer afterwards"),
    Metric(
        "payback-s",
        _REBALANCE,
        "min",
        "s",
        "time after which the overload saved outweighs the load that was paused; undefined where none is saved",
    ),
    Metric("blocked-moves", _REBALANCE, "min", "moves", "moves whose target, or what their state comes from, is down"),
    Metric("groups-down", _REBALANCE, "min", "key groups", "key groups that are on failed nodes afterwards"),
    Metric(
        "lost-groups", _REBALANCE, "min", "key groups", "those of them whose checkpoints are all on failed nodes too"
    ),
    Metric(
        "sustained-load",
        _SCALE_OUT,
        "max",
        "share",
        "the objective: share of the demand that jobs sustain with no task above the target, weighted by output",
    ),
    Metric("extra-cpu", _SCALE_OUT, "min", "cores", "cores that tasks reserve more than now, when old ones are gone"),
    Metric("cpu", _SCALE_OUT, "min", "cores", "cores that all tasks reserve afterwards"),
    Metric("highest-utilisation", _SCALE_OUT, "min", "share", "use of the busiest task at the demand, afterwards"),
    Metric("operators-above-target", _SCALE_OUT, "min", "operators", "operators with a task above the target then"),
    Metric(
        "fairness",
        _SCALE_OUT,
        "max",
        "share",
        "cores had over cores needed since the alarming threshold was crossed, with the new tasks; mean over the "
        "operators that are bottlenecks, undefined without one",
    ),
    Metric("pause-s", _SCALE_OUT, "min", "s", "longest pause of an operator that is split"),
    Metric("extra-core-seconds", _SCALE_OUT, "min", "core-s", "what runs beside the tasks that are needed, over all"),
    Metric("state-bytes", _SCALE_OUT, "min", "bytes", "state that new tasks take over"),
    Metric("operators-changed", _SCALE_OUT, "min", "operators", "operators whose tasks are replaced"),
    Metric("tasks-lost", _SCALE_OUT, "min", "tasks", "new tasks on failed nodes"),
    Metric("largest-load", _RING, "min", "share", "the objective: largest load of a node over its fair share by cpu"),
    Metric("zone-violations", _RING, "min", "arcs", "arcs with two of their holders in one zone"),
    Metric(
        "survival",
        _RING,
        "max",
        "probability",
        "nothing is lost within one repair window, by failure_probability of nodes and zones; the worse end where only "
        "an interval is known",
    ),
    Metric("loss-probability", _RING, "min", "probability", "some key group loses its owner and all backups: the rest"),
    Metric("expected-lost-bytes", _RING, "min", "bytes", "expected state that is lost within one repair window"),
    Metric("best-case", _RING, "max", "nodes", "most nodes that may fail together without loss; at least so many"),
    Metric("fatal-zones", _RING, "max", "zones", "fewest zones whose loss, all their nodes at once, loses something"),
    Metric("copysets", _RING, "min", "sets", "distinct sets of nodes that hold all copies of a key group"),
    Metric("moved-bytes", _RING, "min", "bytes", "what travels from the ring in place to this one, copies included"),
    Metric(
        "memory-bytes", _RING, "min", "bytes", "most that a node keeps for others: copies, and tuples not yet in them"
    ),
    Metric("lost-groups", _RING, "min", "key groups", "key groups whose owner and backups all fail"),
    Metric("lost-bytes", _RING, "min", "bytes", "their state"),
    Metric(
        "rereplicate-bytes", _RING, "min", "bytes", "what travels after the failure until all copies are there again"
    ),
    Metric("ready-s", _RING, "min", "s", "from the failure until all that is taken over runs again"),
    Metric("caught-up-s", _RING, "min", "s", "the same until no record waits any more; undefined where that is never"),
    Metric(
        "highest-utilisation", _RING, "min", "share", "load over capacity of the fullest node, with what it takes over"
    ),
    Metric("overloaded-nodes", _RING, "min", "nodes", "nodes that are overloaded then"),
)


#: Names of before that ``--fail-under`` still takes, each with the name of now.
RENAMED: Mapping[str, str] = {"failover-headroom": "failover-load-ratio", "queries-back": "queries-back-share"}


def metrics_of(kind: str) -> tuple[Metric, ...]:
    """Return the metrics of a kind of plan, in the order in which ``evaluate`` shows them."""
    return tuple(m for m in METRICS if m.kind == kind)
