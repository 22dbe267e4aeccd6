"""What can be asked of the generators: their knobs as options, with what is right and the help of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.generators.knobs import CHANCE, FRACTION, MAX_ROWS, SEED, TopologyKnobs, between, held, or_none
from ftplan.io.options.fields import FLAG, Options, number, one_of, option, optional, seconds, size, speed, whole
from ftplan.io.options.quantities import seconds_of
from ftplan.model import ranges


@dataclass(frozen=True, kw_only=True)
class ClusterKnobs(Options):
    """The options of ``ftplan generate cluster``. Memory in units of 2^20 bytes, bandwidth in these per second."""

    seed: int = SEED
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
        4096.0,
        or_none(number(1.0, 1e6)),
        "Memory per core, in MiB.",
        metavar="X|none",
    )
    zones: int = option(
        4,
        whole(0, 1_000_000),
        "Zones, dealt to nodes in turn, no more than nodes; 0: none.",
        metavar="N",
    )
    utilisation: float | None = option(
        None,
        optional(held(ranges.Range(1e-3, 1.0), 1.0)),
        "Share of all cores in use; what tasks leave of it is other work.  [default: 0.6 with a topology]",
        metavar="SHARE",
    )
    placement: str = option(
        "zones",
        one_of("round-robin", "zones", "random", "none"),
        "Where tasks lie: zones = an operator's in zone after zone; random = where there is room; or none.",
    )
    copies: int = option(0, whole(0, 100), "Checkpoint copies of each key group in place.", metavar="N")
    replicas: float = option(0.0, FRACTION, "Share of tasks with replicas in place.", metavar="SHARE")
    node_failure: Any = option((0.001, 0.01), CHANCE, "Probability that a node fails.", metavar="X|LOW-HIGH|none")
    zone_failure: Any = option((0.001, 0.01), CHANCE, "Probability that a zone fails.", metavar="X|LOW-HIGH|none")
    bandwidth: float | None = speed(100.0, optional(number(1e-6, 1e9)), "Between two nodes.")
    delay_s: float | None = seconds(0.001, optional(held(ranges.SECONDS, 1e6)), "Between two nodes.")


@dataclass(frozen=True, kw_only=True)
class StatsKnobs(Options):
    """The options of ``ftplan generate stats``: load of a key group in a window, and how it varies."""

    seed: int = SEED
    windows: int = option(144, whole(1, 10_000_000), "Number of windows.", metavar="N")
    window_s: float = seconds(600.0, number(1e-3, 1e9), "Length of a window.")
    sizes: str = option("lognormal", one_of("lognormal", "zipf"), "How sizes of key groups are distributed.")
    skew: float = option(
        1.0,
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
    cycle_s: float = seconds(86_400.0, number(1e-3, 1e10), "Length of the cycle of loads.")
    over_time: str = option(
        "sine",
        one_of("sine", "square", "ramp"),
        "sine: a cycle; square: high and low in turn; ramp: up or down from end to end.",
    )
    level: float = option(
        1.2, number(0.0, 1e6), "Mean load over the swing of the cycle; below 1 loads reach 0.", metavar="X"
    )
    camps: int = option(
        0,
        whole(0, 1_000_000),
        "Phases that key groups share: 1 = all rise together, 2 = half against the other half, 0 = random phases.",
        metavar="N",
    )
    camps_by: str = option(
        "key-group", one_of("key-group", "operator"), "Whether an operator's key groups are in all camps or in one."
    )
    strength: float = option(
        1.0, FRACTION, "Correlation within a camp; the rest is each key group's own.", metavar="SHARE"
    )
    poisson: bool = option(True, FLAG, "Draw counts around these loads.", flag="--poisson/--no-poisson")
    record_bytes: float | None = size(None, optional(number(1e-3, 1e9)), "Of a record.  [default: no column]")
    cpu: bool = option(True, FLAG, "Cpu time, by the topology's cpu.", flag="--cpu/--no-cpu")
    state: bool = option(True, FLAG, "State, by the topology's.", flag="--state/--no-state")
    tasks: bool = option(False, FLAG, "Also a table of tasks.")
    substreams: bool = option(False, FLAG, "Also a table of substreams.")
    max_rows: int = option(MAX_ROWS, whole(1), "Refuse to make a table of more rows than this.", metavar="N")


@dataclass(frozen=True, kw_only=True)
class FailureKnobs(Options):
    """The options of ``ftplan generate failure``: what fails, which nodes arrive in its place, and alternatives."""

    seed: int = SEED
    fail: str = option(
        "burst",
        one_of("nodes", "zones", "burst", "operators", "tasks", "everything", "nothing"),
        "What fails; a burst is of nodes, mostly of a zone.",
    )
    count: int = option(1, whole(1, 1_000_000), "How many of these, or how many bursts.", metavar="N")
    burst: float = option(3.0, number(1.0, 1e6), "Mean nodes of a burst.", metavar="X")
    burst_sizes: str = option(
        "geometric", one_of("geometric", "fixed"), "Whether sizes of bursts vary, or are all the mean."
    )
    spill: float = option(
        0.1,
        FRACTION,
        "Chance that a burst goes on in any zone.",
        metavar="SHARE",
    )
    spacing_s: float = seconds(0.0, held(ranges.TIME_S, 1e6), "Time between two failures.")
    arrivals: int | None = option(
        None, optional(whole(0, 1_000_000)), "Nodes that arrive.  [default: as many as are lost]", metavar="N"
    )
    arrival_time_s: Any = option(
        (120.0, 360.0),
        between(1e-3, 1e6, seconds_of),
        "Time until a node can host tasks, such as 2m-6m.",
        metavar="TIME|LOW-HIGH",
    )
    uncertain: bool = option(False, FLAG, "Write the range of an arrival, not a time drawn from it.")
    scenarios: str = option(
        "none",
        one_of("none", "nodes", "zones", "both", "bursts"),
        "Alternatives: each node, each zone, both, or bursts.",
    )
    bursts: int = option(10, whole(1, 1_000_000), "How many bursts as alternatives.", metavar="N")
    probability: float = option(
        0.01,
        number(1e-6, 1.0),
        "Of an alternative whose probability the cluster does not say; of all bursts together.",
        metavar="X",
    )


OPTIONS: Mapping[str, type[Options]] = {
    "topology": TopologyKnobs,
    "cluster": ClusterKnobs,
    "stats": StatsKnobs,
    "failure": FailureKnobs,
}
