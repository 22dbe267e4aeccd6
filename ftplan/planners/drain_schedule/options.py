"""What can be asked of a drain schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    COSTS,
    FLAG,
    PLAN,
    SELECTORS,
    SHARE,
    Check,
    PlanOptions,
    number,
    one_of,
    option,
    optional,
    seconds,
    texts,
    whole,
)
from ftplan.io.options.shared import replicas_in_place
from ftplan.model.defaults import MAX_CPU, RESTART_S

KEEP_COPIES = ("all", "checkpoints", "none")


def _labels(value: Any) -> tuple[str, ...]:
    listed = texts(value)
    if not all(key and equals for key, equals, _ in (item.partition("=") for item in listed)):
        raise ValueError
    return listed


@dataclass(frozen=True, kw_only=True)
class DrainScheduleOptions(PlanOptions):
    """The options of ``ftplan drain-schedule``."""

    recorded_facts: ClassVar = {"spread": FLAG}

    nodes: tuple[str, ...] = option(
        (),
        SELECTORS,
        "Restart only these nodes, such as node:n1 or zone:rack-a; operator:, task:, query: and key-group: name the "
        "nodes that run the tasks; repeatable.  [default: all nodes]",
        metavar="SELECTOR",
    )
    label: tuple[str, ...] = option(
        (),
        Check("a label such as 'kernel=6.1', or a list of them", _labels, "texts"),
        "Restart only nodes with this label in the cluster file; repeatable: nodes with all of them.",
        metavar="KEY=VALUE",
    )
    min_fidelity: float | None = option(
        None,
        optional(number(0.0, 1.0)),
        "Output fidelity that every round leaves: how much of the output still rests on all of its input.",
        metavar="X",
    )
    keep_priority: float | None = option(
        None,
        optional(number(0.0, 1e9, above=True)),
        "Queries of this priority or more stay up in every round.",
        metavar="P",
    )
    max_per_zone: int | None = option(
        None, optional(whole(1)), "Nodes of one zone that may restart together.", metavar="N"
    )
    max: int | None = option(
        None,
        optional(whole(1)),
        "Nodes that may restart together; the summary also names the most nodes, up to so many, that may stop now.",
        metavar="N",
    )
    no_limits: bool = option(
        False,
        FLAG,
        "Only what is asked for limits a round. Otherwise its nodes are of one zone (of any with --max-per-zone), "
        "never all of the cluster, and leave some output (--min-fidelity asks for more) unless each of them takes all "
        "of it down even alone.",
    )
    keep_copies: str = option(
        "all",
        one_of(*KEEP_COPIES),
        "Which copies of a key group may not restart together: all = its primary and its checkpoints; checkpoints = "
        "these alone; none.",
    )
    move: bool = option(
        False,
        FLAG,
        "Move the tasks of a round's nodes to nodes with room, and back after the round, instead of letting them "
        "stand still.",
    )
    max_cpu: float = option(MAX_CPU, SHARE, "Share of a node's cores that tasks may use, with --move.", metavar="SHARE")
    partial: bool = option(
        False, FLAG, "Leave out nodes that may not restart even alone, instead of refusing; they are named as unplaced."
    )
    restart_s: float = seconds(
        RESTART_S,
        number(0.0, 1e9),
        "How long a node takes to restart; with --costs the recovery of its tasks comes on top.",
    )
    costs: Any = option(
        None,
        COSTS,
        "Recovery costs, as fitted on measured recoveries: rounds also take the recovery of what restarts.",
        metavar="FILE",
    )
    replicas: Any = replicas_in_place()
    checkpoints: Any = option(
        None,
        PLAN,
        "Checkpoint allocation in place; wins over placement.checkpoints.",
        metavar="PLAN",
    )
