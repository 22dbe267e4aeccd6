"""What can be asked of a peer ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    COSTS,
    FACTOR,
    FLAG,
    PLAN,
    SELECTORS,
    Check,
    FailureOptions,
    number,
    one_of,
    option,
    option_of,
    optional,
    seconds,
    size,
    texts,
    whole,
)
from ftplan.model.defaults import OVERLOAD
from ftplan.model.units import MEASURES
from ftplan.planners.rebalance.options import RebalanceOptions

_TIME = number(0.0, 1e9)


@dataclass(frozen=True, kw_only=True)
class PeerRingOptions(FailureOptions):
    """The options of ``ftplan peer-ring``."""

    recorded_facts: ClassVar = {"spread": FLAG}
    alternatives: ClassVar = (("rebalance", "add"), ("rebalance", "remove"))
    unsupported: ClassVar = {
        "virtual-nodes": {"rebalance": (True,)},
    }

    replication: int = option(
        1, whole(0, 1000), "Backups of each key group, on the next nodes clockwise: any so many may fail.", metavar="R"
    )
    operator: tuple[str, ...] = option(
        (),
        Check("an operator id, or a list of them", texts, "texts"),
        "Only key groups of this operator; repeatable.  [default: all operators share the ring]",
        metavar="ID",
    )
    current: Any = option(
        None,
        PLAN,
        "The ring in place: what is planned then moves the fewest bytes of the best.  [default: there is none]",
        metavar="PLAN",
    )
    add: tuple[str, ...] = option(
        (),
        SELECTORS,
        "With --current: this node of the cluster file joins the ring, or all of a selector such as zone:rack-a; "
        "repeatable.",
        metavar="NODE",
    )
    remove: tuple[str, ...] = option(
        (), SELECTORS, "This node leaves the ring, or all of a selector; repeatable.", metavar="NODE"
    )
    rebalance: bool = option(
        False,
        FLAG,
        "With --current: nodes keep their order, and load moves between neighbours. paper = as overloaded nodes "
        "negotiate, window by window; exact = the cuts of least largest load, then of fewest bytes.",
    )
    target_load: float | None = option(
        None,
        optional(number(1.0, 1e9)),
        "A largest load, over the fair share by cpu, that is good enough, such as 1.1: with --current fewer bytes are "
        "better than less.  [default: the least there is]",
        metavar="X",
    )
    max_bytes: float | None = size(
        None, optional(number(0.0, 1e24)), "With --current: at most so much travels, such as 20GB, copies included."
    )
    tokens: int = option(
        100, whole(1, 100_000), "Tokens of a node of mean cpu, with virtual-nodes; others in proportion.", metavar="N"
    )
    tier: tuple[str, ...] = option(
        (),
        SELECTORS,
        "Nodes that hold the last copy of everything and nothing else, such as zone:vault (Tiered Replication); "
        "repeatable.",
        metavar="NODES",
    )
    load: str = option("records", one_of(*MEASURES), "What counts as load, with statistics.")
    demand: str = option_of(RebalanceOptions, "demand")
    capacity_per_core: float | None = option_of(RebalanceOptions, "capacity_per_core")
    overload: float = option(
        OVERLOAD, FACTOR, "A node is overloaded above this utilisation; also where it asks for help.", metavar="X"
    )
    accept: float = option(
        0.7,
        FACTOR,
        "A node may take load of its neighbour up to this utilisation, at most that of --overload.",
        metavar="X",
    )
    queue_high_s: float = seconds(1.0, _TIME, "A node asks for help only from this queue on, in time of work.")
    queue_low_s: float = seconds(0.1, _TIME, "A node may take load up to this queue, in time of work.")
    hold: int = option(
        1, whole(1, 1_000_000), "Windows in a row for which a node is overloaded before it asks.", metavar="N"
    )
    interval_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9, above=True)),
        "Between checkpoints.  [default: as the topology states it, the longest; else 10s]",
    )
    heartbeat_s: float | None = seconds(
        None, optional(number(0.0, 1e9, above=True)), "Between heartbeats.  [default: the checkpoint is the heartbeat]"
    )
    missed_heartbeats: int = option(
        1, whole(1, 1_000_000), "A node is taken for dead after so many missed ones.", metavar="N"
    )
    grace_s: float = seconds(0.0, _TIME, "Waited beyond the last missed heartbeat.")
    latency_bound_s: float | None = seconds(
        None,
        optional(_TIME),
        "Bound of delay and clock skew (L_n); backups drop tuples older than the checkpoint by twice this.  [default: "
        "15 times the network's delay]",
    )
    replay_rate: float | None = option(
        None,
        optional(number(0.0, 1e18, above=True)),
        "Records per second that a node replays.  [default: as --costs says, else what its capacity takes]",
        metavar="X",
    )
    bandwidth: float | None = option_of(RebalanceOptions, "bandwidth")
    costs: Any = option(
        None,
        COSTS,
        "Recovery costs, as fitted on measured recoveries: detection, restart and replay of a take-over.",
        metavar="FILE",
    )
