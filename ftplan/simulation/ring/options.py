"""What can be asked of a simulation of a peer ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftplan.io.options.fields import (
    FLAG,
    SELECTORS,
    Check,
    Options,
    PlanOptions,
    number,
    one_of,
    option,
    option_of,
    optional,
    seconds,
    whole,
)
from ftplan.io.options.shared import resolution
from ftplan.planners.peer_ring.options import PeerRingOptions

EVEN, RANDOM = "even", "random"
TIME = number(0.0, 1e9)
POSITIVE_TIME = number(0.0, 1e9, above=True)


def _id(value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError


def _or_plans(name: str) -> Any:
    """Return an option of peer rings that is a plan's unless it is given here."""
    known = PeerRingOptions.__dataclass_fields__[name]
    planned = known.metadata["option"]
    unit = "s" if planned.unit == "time" else ""
    text = f"{planned.help}  [default: PLAN's, else {known.default:g}{unit}]"
    return option(None, optional(planned.check), text, metavar=planned.metavar, unit=planned.unit)


@dataclass(frozen=True, kw_only=True)
class RingSimulationOptions(Options):
    """The options of ``ftplan simulate ring``."""

    fail: tuple[str, ...] = option(
        (),
        SELECTORS,
        "What fails, such as node:n1 or zone:rack-a; repeatable.  [default: as the failure file or PLAN says]",
        metavar="SELECTOR",
    )
    fail_at_s: float | None = seconds(
        None,
        optional(TIME),
        "When it fails, and what the times of a failure file count from.  [default: after three intervals]",
    )
    leave: tuple[str, ...] = option(
        (), SELECTORS, "This node leaves on notice, or all of a selector, one after the other; repeatable.",
        metavar="NODE",
    )  # fmt: skip
    leave_at_s: float | None = seconds(None, optional(TIME), "When the first leaves.  [default: after three intervals]")
    hot: float = option(
        1.0,
        number(0.0, 1e6),
        "From --hot-at on the key groups of a node get so many times their records.",
        metavar="FACTOR",
    )
    hot_node: str | None = option(
        None,
        optional(Check("a node id", _id)),
        "Whose key groups those are.  [default: the most loaded node's, over its cpu]",
        metavar="ID",
    )
    hot_at_s: float | None = seconds(None, optional(TIME), "When that begins.  [default: after three intervals]")
    balance: bool = option(
        False, FLAG, "Overloaded nodes ask their neighbours for help, each --window; where nobody can, a spare joins."
    )
    spares: int = option(
        0, whole(0, 1000), "New nodes of mean cpu that may join, beside those of the cluster that are not on the ring.",
        metavar="N",
    )  # fmt: skip
    tokens: str = option(EVEN, one_of(EVEN, RANDOM), "Without PLAN: where the nodes are.")
    nodes: int | None = option(
        None, optional(whole(1, 10_000)), "Without a cluster: how many nodes.  [default: 12]", metavar="N"
    )
    rate: float | None = option(
        None,
        optional(number(0.0, 1e18, above=True)),
        "Records per second of all together.  [default: as the inputs say; without a topology 15,000]",
        metavar="X",
    )
    replication: int | None = option(
        None, optional(whole(0, 1000)), "Backups of each key group.  [default: PLAN's, else 1]", metavar="R"
    )
    operator: tuple[str, ...] = option_of(PeerRingOptions, "operator")
    capacity_per_core: float | None = option_of(PeerRingOptions, "capacity_per_core")
    overload: float | None = _or_plans("overload")
    accept: float | None = _or_plans("accept")
    queue_high_s: float | None = _or_plans("queue_high_s")
    queue_low_s: float | None = _or_plans("queue_low_s")
    hold: int | None = _or_plans("hold")
    window_s: float = seconds(5.0, POSITIVE_TIME, "How often nodes look at their load.")
    provision_s: float = seconds(30.0, TIME, "Until a new node is there.")
    interval_s: float | None = option_of(PeerRingOptions, "interval_s")
    heartbeat_s: float | None = option_of(PeerRingOptions, "heartbeat_s")
    missed_heartbeats: int | None = _or_plans("missed_heartbeats")
    grace_s: float | None = _or_plans("grace_s")
    takeover_s: float | None = seconds(
        None,
        optional(TIME),
        "From detection until replay begins.  [default: as --costs says, else the network's delay]",
    )
    latency_bound_s: float | None = option_of(PeerRingOptions, "latency_bound_s")
    skew_s: float | None = seconds(
        None,
        optional(TIME),
        "Largest difference between the clocks of two mappers; above --latency-bound records are lost.  [default: 0.9 "
        "of the bound]",
    )
    delay_s: float | None = seconds(
        None,
        optional(TIME),
        "Most that a message is on the way; above --latency-bound records are lost.  [default: as the cluster's "
        "network, else 1ms]",
    )
    replay_rate: float | None = option_of(PeerRingOptions, "replay_rate")
    bandwidth: float | None = option_of(PeerRingOptions, "bandwidth")
    costs: Any = option_of(PeerRingOptions, "costs")
    mappers: int = option(2, whole(1, 1000), "Mappers, each with a clock of its own.", metavar="N")
    tick_s: float | None = seconds(
        None,
        optional(number(1e-4, 1e6)),
        "A mapper sends its records in batches, one a tick; shorter times are not resolved.  [default: a hundredth of "
        "the interval, longer for large rings]",
    )
    until_s: float | None = seconds(
        None,
        optional(number(0.01, 1e9)),
        "When input ends; what waits is processed after that.  [default: five intervals after what happens last]",
    )
    every_s: float | None = resolution(0.001)
    runs: int = option(
        1,
        whole(1, 10_000),
        "Simulate so often, each time with other phases of checkpoints and delays of messages.",
        metavar="N",
    )
    seed: int = option_of(PlanOptions, "seed")


#: Options that peer rings have too, and which then win over the plan's.
INSTEAD = (
    "replication", "operator", "capacity_per_core", "overload", "accept", "queue_high_s", "queue_low_s", "hold",
    "interval_s", "heartbeat_s", "missed_heartbeats", "grace_s", "latency_bound_s", "replay_rate", "bandwidth", "costs",
)  # fmt: skip


OPTIONS = RingSimulationOptions
#: What ``ftplan simulate ring --help`` says of the command.
HELP = """Simulate a peer ring at work, batch by batch.

PLAN is a peer ring, also one made by hand; - is standard input. Without it nodes stand at even or random places;
what is missing of a cluster and a topology is assumed: nodes and key groups that are alike.

Mappers with clocks of their own, queues, copies, asynchronous incremental checkpoints, detection, take-over, replay
and full copies to new backups are simulated; with --balance load moves to neighbours, and spares join.

Every batch of records is followed through every copy: exit code 1 where one is lost though a copy should have been
left. Records may count twice; they are counted.

\b
$ ftplan simulate ring ring.json --fail zone:rack-a --runs 20
$ ftplan simulate ring --nodes 12 --fail node:n1 --fail node:n7 --format table
$ ftplan simulate ring --nodes 3 --hot 3 --balance --until 10m --plot ring.svg
"""
