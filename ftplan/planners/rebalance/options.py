"""What can be asked of a rebalance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    COSTS,
    FACTOR,
    FLAG,
    SELECTORS,
    Check,
    PlanOptions,
    number,
    one_of,
    option,
    optional,
    seconds,
    size,
    speed,
    whole,
    written,
)
from ftplan.io.options.shared import BANDWIDTH, checkpoints_in_place
from ftplan.model.defaults import OVERLOAD
from ftplan.model.units import MEASURES

CRITERIA = ("latency", "completion", "bytes")
PROTOCOL_CHOICES = ("auto", "cpa", "cpal", "lazy", "direct")
_DEMAND = re.compile(r"mean|p(100|[1-9]?\d)|last:[1-9]\d{0,8}")


def _demand(value: Any) -> str:
    if isinstance(value, str) and _DEMAND.fullmatch(value):
        return value
    raise ValueError


def _tolerance(value: Any) -> Any:
    return value if value in ("auto", "none") else written(value)


def _band(value: Any) -> Any:
    low, high = (float(item) for item in (value.split("-") if isinstance(value, str) else value))
    if not 0.0 < low < high <= 1.0:
        raise ValueError
    return low, high


@dataclass(frozen=True, kw_only=True)
class RebalanceOptions(PlanOptions):
    """The options of ``ftplan rebalance``."""

    recorded_facts: ClassVar = {"spread": FLAG}

    objective: str = option(
        "latency",
        one_of(*CRITERIA),
        "What all moves together cost least of: latency = how long each key group is paused; completion = until each "
        "move is done; bytes = what they transfer.",
    )
    protocol: str = option(
        "auto",
        one_of(*PROTOCOL_CHOICES),
        "How key groups move: cpa = turn the checkpoint on the target into state and replay; cpal = so while the old "
        "node goes on; lazy = let the next full checkpoint be stored on the target, then cpa; direct = send the state; "
        "auto = the cheapest that can be, move by move.",
    )
    add: tuple[str, ...] = option(
        (),
        SELECTORS,
        "Fill this node of the cluster file, or all of a selector such as zone:rack-a; repeatable.",
        metavar="NODE",
    )
    remove: tuple[str, ...] = option(
        (),
        SELECTORS,
        "Drain this node, or all of a selector such as zone:rack-a: no key group and no checkpoint stays; repeatable.",
        metavar="NODE",
    )
    within_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9)),
        "With --remove: the nodes are gone after this time; what cannot leave before is recovered from checkpoints.",
    )
    suggest: bool = option(False, FLAG, "Say how many nodes to add or remove for the utilisation of --band.")
    band: Any = option(
        (0.5, 0.75),
        Check("two shares such as 0.5-0.75", _band, "text"),
        "With --suggest: the mean utilisation to stay within.",
        metavar="LOW-HIGH",
    )
    load: str = option("records", one_of(*MEASURES), "What counts as load.")
    demand: str = option(
        "mean",
        Check("mean, a percentile such as p95, or last:N", _demand),
        "Which load a key group is planned with: its mean over the windows, a percentile of them, or the mean of the "
        "last N.",
        metavar="mean|pN|last:N",
    )
    capacity_per_core: float | None = option(
        None,
        optional(number(0.0, 1e18)),
        "Load units per second that a core can take.  [default: 1000 for cpu_ms, else mean utilisation is 0.7]",
        metavar="X",
    )
    overload: float = option(
        OVERLOAD, FACTOR, "No node's utilisation may exceed this, in no phase and afterwards.", metavar="X"
    )
    tolerance: Any = option(
        "auto",
        Check("auto, none or a number from 0 to 1e+09, such as 0.1", _tolerance),
        "How even load is afterwards: X = every node within (1-X) and (1+X) of its fair share by cpu; none = only no "
        "overload; auto = none, but added nodes get (1-X) of their fair share, with the least X of 0.1, 0.2, ... that "
        "can be.",
        metavar="auto|X|none",
    )
    max_moves: int | None = option(None, optional(whole(0)), "Move at most so many key groups.", metavar="N")
    max_bytes: float | None = size(None, optional(number(0.0, 1e24)), "Moves transfer at most so much, such as 20GB.")
    max_pause_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9)),
        "No key group is paused for longer in any phase.  [default: as short as the moves allow]",
    )
    phase_bytes: float | None = size(
        None,
        optional(number(0.0, 1e24)),
        "The moves of a phase transfer at most so much; a single one may transfer more.",
    )
    phase_overhead_s: float = seconds(0.0, number(0.0, 1e9), "What a phase takes beside its moves.")
    anti_affinity: str = option(
        "node", one_of("node", "zone"), "zone: no checkpoint in the zone of its key group, nor two of one in one zone."
    )
    cross_zone_cost: float | None = option(
        None,
        optional(number(0.0, 1e12)),
        "Add to the objective this much for each MiB a second that moves bring between zones, by measured "
        "edges, and take it off for what they save.",
        metavar="X",
    )
    checkpoint_age_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9)),
        "Age of the newest checkpoint when a key group moves, at most the operator's interval.  [default: as --costs "
        "says, else the whole interval]",
    )
    record_bytes: float | None = size(
        None,
        optional(number(0.0, 1e12)),
        "Size of a record in upstream buffers.  [default: as the statistics have it, by operator]",
    )
    bandwidth: float | None = speed(
        None,
        optional(BANDWIDTH),
        "Of transfers between two nodes, such as 100MB/s.  [default: as --costs says, else the cluster's network, else "
        "100MiB/s]",
    )
    serialisation: float | None = speed(
        None, optional(number(1e-6, 1e9)), "How fast state is serialised, and read again.  [default: takes no time]"
    )
    queue_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9)),
        "How long a message waits in input queues.  [default: queue lengths as measured, else the network's delay]",
    )
    costs: Any = option(
        None,
        COSTS,
        "Recovery costs, as fitted on measured recoveries: they price the pauses of moves.",
        metavar="FILE",
    )
    checkpoints: Any = checkpoints_in_place()
