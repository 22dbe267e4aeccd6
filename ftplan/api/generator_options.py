"""What can be asked of the generators: their knobs as options, with what is right and the help of the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.api.option_fields import FLAG, MOST, Check, Options, number, one_of, option, optional, whole
from ftplan.generators import knobs
from ftplan.generators.knobs import ClusterKnobs, FailureKnobs, StatsKnobs, TopologyKnobs
from ftplan.model import ranges

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?"
#: What a document may hold of tasks, key groups or nodes.
MOST_TASKS = 10_000_000


def between(low: float, high: float, kind: type = float) -> Check:
    """Return a check for a number within limits, or for a range of them: ``5-10``, or a pair in Python."""
    single = whole(int(low), int(high)) if kind is int else number(low, high)

    def take(value: Any) -> tuple[Any, Any]:
        if isinstance(value, str):
            parts = re.fullmatch(rf"\s*({_NUMBER})\s*(?:-\s*({_NUMBER})\s*)?", value)
            if not parts:
                raise ValueError
            value = [kind(part) for part in (parts[1], parts[2] or parts[1])]
        ends = tuple(map(single.take, value)) if isinstance(value, (tuple, list)) else (single.take(value),) * 2
        if len(ends) != 2 or ends[0] > ends[1]:
            raise ValueError
        return ends

    shown = f"{low:,} to {high:,}" if kind is int else f"{low:g} to {high:g}"
    return Check(f"a {'whole ' * (kind is int)}number or a range such as 2-8, from {shown}", take)


def held(allowed: ranges.Range, high: float) -> Check:
    """Return a check for 0 or a number that a file may hold, up to a limit."""
    single = number(0.0, high)

    def take(value: Any) -> Any:
        taken = single.take(value)
        if 0.0 < taken < allowed.low:
            raise ValueError
        return taken

    return Check(f"0, or a number from {allowed.low:g} to {high:g}", take, "number", low=0.0, high=high)


def _whole_numbers(value: Any) -> tuple[int, ...]:
    listed = value.split(",") if isinstance(value, str) and value else value or ()
    return tuple(_TASKS.take(int(item) if isinstance(item, str) else item) for item in listed)


_TASKS = whole(1, MOST_TASKS)
_SEED = option(0, whole(0, MOST), "Seed of every random choice.")
_SHARE = number(0.0, 1.0)


def or_none(check: Check) -> Check:
    """Return a check that lets None pass too, which the command line spells ``none``."""

    def take(value: Any) -> Any:
        return (
            None if value is None or value == "none" else check.take(float(value) if check.form == "number" else value)
        )

    return Check(f"{check.right}, or none", take)


_CHANCE = or_none(between(1e-9, 1.0))


@dataclass(frozen=True, kw_only=True)
class TopologyGeneration(Options, TopologyKnobs):
    """The options of ``ftplan generate topology``."""

    seed: int = _SEED
    shape: str = option(
        TopologyKnobs.shape,
        one_of(*knobs.SHAPES),
        "tree: every operator feeds one other; layers, dag: some; chain, diamond; queries: operators of one task that "
        "queries share; shared-tasks: the same as two operators, for thousands of queries.",
    )
    operators: Any = option(
        TopologyKnobs.operators, between(1, MOST_TASKS, int), "Number of operators, or a range.", metavar="N|LOW-HIGH"
    )
    parallelism: Any = option(
        TopologyKnobs.parallelism, between(1, MOST_TASKS, int), "Tasks of an operator.", metavar="N|LOW-HIGH"
    )
    tasks: Any = option(
        TopologyKnobs.tasks,
        Check("whole numbers such as 16,8,4", _whole_numbers),
        "Tasks of each operator, instead of --operators and --parallelism.",
        metavar="N,N,...",
    )
    same_parallelism: float = option(
        TopologyKnobs.same_parallelism, _SHARE, "Share of operators with as many tasks as a neighbour.", metavar="SHARE"
    )
    full: float = option(
        TopologyKnobs.full, _SHARE, "Share of edges that are full; others are one-to-one, split or merge.",
        metavar="SHARE",
    )  # fmt: skip
    joins: float = option(TopologyKnobs.joins, _SHARE, "Share of operators that join their inputs.", metavar="SHARE")
    outputs: int = option(TopologyKnobs.outputs, whole(1, MOST_TASKS), "Number of output operators.", metavar="N")
    width: int = option(TopologyKnobs.width, whole(1, MOST_TASKS), "layers: operators in a layer.", metavar="N")
    fan_in: Any = option(
        TopologyKnobs.fan_in,
        between(1, 1000, int),
        "layers, dag: operators that an operator reads from.",
        metavar="N|LOW-HIGH",
    )
    zipf: float = option(
        TopologyKnobs.zipf, number(0.0, 5.0), "Skew of an operator's tasks: load falls as rank^-X.", metavar="X"
    )
    rate: float = option(
        TopologyKnobs.rate, number(1e-6, 1e9), "Records per second of the busiest task of a source.", metavar="X"
    )
    selectivity: Any = option(
        TopologyKnobs.selectivity,
        between(0.0, 1e6),
        "Records that an operator emits, over all edges, for each that it reads.",
        metavar="X|LOW-HIGH",
    )
    cpu: Any = option(
        TopologyKnobs.cpu, between(0.0, 1e4), "Cores of a task; mean of its operator.", metavar="X|LOW-HIGH"
    )
    costs: str = option(
        TopologyKnobs.costs, one_of(*knobs.COSTS), "load: cpu and state of a task follow its load; operator: all alike."
    )
    cpu_sigma: float = option(
        TopologyKnobs.cpu_sigma, number(0.0, 5.0), "Lognormal spread of cpu and state among tasks.", metavar="X"
    )
    state_bytes: Any = option(
        TopologyKnobs.state_bytes, between(0.0, 1e15), "State of a task, drawn by its logarithm.", metavar="X|LOW-HIGH"
    )
    stateful: float = option(TopologyKnobs.stateful, _SHARE, "Share of operators that have state.", metavar="SHARE")
    key_groups: int = option(
        TopologyKnobs.key_groups, whole(0, MOST_TASKS), "Key groups of a stateful operator with inputs.", metavar="N"
    )
    priority: str = option(
        TopologyKnobs.priority, one_of(*knobs.PRIORITIES), "Of queries: all one, uniform, by rank, or by load."
    )
    priorities: Any = option(
        TopologyKnobs.priorities, between(1e-6, 1e6), "Least and highest priority.", metavar="X|LOW-HIGH"
    )
    queries: int = option(
        TopologyKnobs.queries, whole(1, MOST_TASKS), "queries, shared-tasks: number of queries.", metavar="N"
    )
    query_tasks: Any = option(
        TopologyKnobs.query_tasks,
        between(1, 10_000, int),
        "queries, shared-tasks: tasks of a query.",
        metavar="N|LOW-HIGH",
    )
    pool: int = option(
        TopologyKnobs.pool, whole(1, MOST_TASKS), "shared-tasks: tasks that queries are drawn from.", metavar="N"
    )
    largest_share: int = option(
        TopologyKnobs.largest_share, whole(1, 10_000), "queries: most queries that a task is in.", metavar="N"
    )
    share_zipf: float = option(
        TopologyKnobs.share_zipf, number(0.0, 3.0), "queries, shared-tasks: skew of sharing.", metavar="X"
    )
    shared_by: str = option(
        TopologyKnobs.shared_by,
        one_of(*knobs.SHARED_BY),
        "queries: whether the chance of a share is Zipf, or the shares by rank.",
    )
    max_tasks: int = option(
        TopologyKnobs.max_tasks, whole(1, MOST_TASKS), "Refuse to make more tasks than this.", metavar="N"
    )


@dataclass(frozen=True, kw_only=True)
class ClusterGeneration(Options, ClusterKnobs):
    """The options of ``ftplan generate cluster``."""

    seed: int = _SEED
    nodes: int | None = option(
        None, optional(whole(1, 1_000_000)), "Number of nodes.  [default: what the topology needs, else 10]",
        metavar="N",
    )  # fmt: skip
    cores: Any = option(
        None,
        optional(between(1e-3, 1e6)),
        "Cores of a node; in a range sizes double from the least.  [default: 4, or what the utilisation takes]",
        metavar="X|LOW-HIGH",
    )
    memory_per_core: float | None = option(
        ClusterKnobs.memory_per_core,
        or_none(number(1.0, 1e6)),
        "Memory per core, in units of 2^20 bytes.",
        metavar="X|none",
    )
    zones: int = option(
        ClusterKnobs.zones, whole(0, 1_000_000), "Zones, which nodes belong to in turn; 0: none.", metavar="N"
    )
    utilisation: float | None = option(
        None,
        optional(held(ranges.Range(1e-3, 1.0), 1.0)),
        "Share of all cores in use; what tasks leave of it is other work.  [default: 0.6 with a topology]",
        metavar="SHARE",
    )
    placement: str = option(
        ClusterKnobs.placement,
        one_of(*knobs.PLACEMENTS),
        "Where tasks lie: zones = an operator's in zone after zone; random = where there is room; or none.",
    )
    copies: int = option(
        ClusterKnobs.copies, whole(0, 100), "Checkpoint copies of each key group in place.", metavar="N"
    )
    replicas: float = option(ClusterKnobs.replicas, _SHARE, "Share of tasks with a replica in place.", metavar="SHARE")
    node_failure: Any = option(
        ClusterKnobs.node_failure, _CHANCE, "Probability that a node fails.", metavar="X|LOW-HIGH|none"
    )
    zone_failure: Any = option(
        ClusterKnobs.zone_failure, _CHANCE, "Probability that a zone fails.", metavar="X|LOW-HIGH|none"
    )
    bandwidth: float | None = option(
        ClusterKnobs.bandwidth, optional(number(1e-6, 1e9)), "Between two nodes.", metavar="SPEED", unit="speed"
    )
    delay_s: float | None = option(
        ClusterKnobs.delay_s, optional(held(ranges.SECONDS, 1e6)), "Between two nodes.", metavar="TIME", unit="time"
    )


@dataclass(frozen=True, kw_only=True)
class StatsGeneration(Options, StatsKnobs):
    """The options of ``ftplan generate stats``."""

    seed: int = _SEED
    windows: int = option(StatsKnobs.windows, whole(1, 10_000_000), "Number of windows.", metavar="N")
    window_s: float = option(StatsKnobs.window_s, number(1e-3, 1e9), "Length of a window.", metavar="TIME", unit="time")
    sizes: str = option(StatsKnobs.sizes, one_of(*knobs.LOADS), "How sizes of key groups are distributed.")
    skew: float = option(
        StatsKnobs.skew,
        number(0.0, 5.0),
        "Sigma of lognormal sizes, or Zipf's exponent; within each task without --records.",
        metavar="X",
    )
    records: float | None = option(
        None,
        optional(number(1e-6, 1e12)),
        "Records in a window of the median (lognormal) or heaviest (Zipf) key group.  [default: by the topology's "
        "rates]",
        metavar="X",
    )
    cycle_s: float = option(
        StatsKnobs.cycle_s, number(1e-3, 1e10), "Length of the cycle of loads.", metavar="TIME", unit="time"
    )
    over_time: str = option(
        StatsKnobs.over_time, one_of(*knobs.SHAPES_OVER_TIME), "sine: a cycle; ramp: up or down from end to end."
    )
    level: float = option(
        StatsKnobs.level, number(0.0, 1e6), "Mean load over the swing of the cycle; below 1 loads reach 0.", metavar="X"
    )
    camps: int = option(
        StatsKnobs.camps,
        whole(0, 1_000_000),
        "Phases that key groups share: 1 = all rise together, 2 = half against the other half, 0 = random phases.",
        metavar="N",
    )
    camps_by: str = option(
        StatsKnobs.camps_by, one_of(*knobs.CAMPS), "Whether an operator's key groups are in all camps or in one."
    )
    strength: float = option(
        StatsKnobs.strength, _SHARE, "Correlation within a camp; the rest is each key group's own.", metavar="SHARE"
    )
    poisson: bool = option(StatsKnobs.poisson, FLAG, "Draw counts around these loads.", flag="--poisson/--no-poisson")
    record_bytes: float | None = option(
        None, optional(number(1e-3, 1e9)), "Bytes of a record.  [default: no column]", metavar="X"
    )
    cpu: bool = option(StatsKnobs.cpu, FLAG, "Cpu time, by the topology's cpu.", flag="--cpu/--no-cpu")
    state: bool = option(StatsKnobs.state, FLAG, "State, by the topology's.", flag="--state/--no-state")
    tasks: bool = option(StatsKnobs.tasks, FLAG, "Also a table of tasks.")
    substreams: bool = option(StatsKnobs.substreams, FLAG, "Also a table of substreams.")
    max_rows: int = option(StatsKnobs.max_rows, whole(1), "Refuse to make a table of more rows than this.", metavar="N")


@dataclass(frozen=True, kw_only=True)
class FailureGeneration(Options, FailureKnobs):
    """The options of ``ftplan generate failure``."""

    seed: int = _SEED
    fail: str = option(FailureKnobs.fail, one_of(*knobs.FAILING), "What fails; a burst is of nodes, mostly of a zone.")
    count: int = option(FailureKnobs.count, whole(1, 1_000_000), "How many of these, or how many bursts.", metavar="N")
    burst: float = option(FailureKnobs.burst, number(1.0, 1e6), "Mean nodes of a burst.", metavar="X")
    burst_sizes: str = option(
        FailureKnobs.burst_sizes, one_of(*knobs.BURST_SIZES), "Whether sizes of bursts vary, or are all the mean."
    )
    spill: float = option(
        FailureKnobs.spill, _SHARE, "Chance that a burst goes on in any zone, not in one that is hit.", metavar="SHARE"
    )
    spacing_s: float = option(
        FailureKnobs.spacing_s, held(ranges.TIME_S, 1e6), "Time between two failures.", metavar="TIME", unit="time"
    )
    arrivals: int | None = option(
        None, optional(whole(0, 1_000_000)), "Nodes that arrive.  [default: as many as are lost]", metavar="N"
    )
    arrival_time_s: Any = option(
        FailureKnobs.arrival_time_s, between(1e-3, 1e6), "Seconds until a node can host tasks.", metavar="X|LOW-HIGH"
    )
    uncertain: bool = option(FailureKnobs.uncertain, FLAG, "Write the range of an arrival, not a time drawn from it.")
    scenarios: str = option(
        FailureKnobs.scenarios, one_of(*knobs.SCENARIOS), "Alternatives: each node, each zone, both, or bursts."
    )
    bursts: int = option(FailureKnobs.bursts, whole(1, 1_000_000), "How many bursts as alternatives.", metavar="N")
    probability: float = option(
        FailureKnobs.probability,
        number(1e-6, 1.0),
        "Of an alternative whose probability the cluster does not say; of all bursts together.",
        metavar="X",
    )


OPTIONS: Mapping[str, type[Options]] = {
    "topology": TopologyGeneration,
    "cluster": ClusterGeneration,
    "stats": StatsGeneration,
    "failure": FailureGeneration,
}
