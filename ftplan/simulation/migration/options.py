"""What can be asked of simulated migrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftplan.io.options.fields import (
    FACTOR,
    Options,
    PlanOptions,
    number,
    one_of,
    option,
    option_of,
    optional,
    seconds,
    some_of,
    whole,
)
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.rebalance.options import RebalanceOptions

MESSAGES, TRACE = "messages", "trace"
LEVELS = (MESSAGES, TRACE)
#: Allocations of checkpoints that adaptation is simulated with.
ALLOCATIONS = ("baseline", "even", "correlated", "usable", "lazy-move")
#: Whether hosts of checkpoints are preferred as targets.
PREFERENCES = ("both", "yes", "no")


@dataclass(frozen=True, kw_only=True)
class MigrationSimulationOptions(Options):
    """The options of ``ftplan simulate migration``."""

    level: str = option(
        MESSAGES,
        one_of(*LEVELS),
        "messages = the moves of PLAN, message by message; trace = adaptation over the load of the statistics, without "
        "a plan.",
    )
    runs: int = option(
        1,
        whole(1, 100_000),
        "messages: simulate so often, each time with other arrivals, delays and ages of checkpoints. One run has the "
        "expected ones. trace: draw so many random allocations.",
        metavar="N",
    )
    messages: int | None = option(
        None,
        optional(whole(10, 10_000_000)),
        "messages: about so many for each move; records are bundled where there are more.  [default: 2000, fewer where "
        "a plan has more than 100 moves]",
        metavar="N",
    )
    seed: int = option_of(PlanOptions, "seed")
    time_limit_s: float | None = seconds(
        None, optional(number(0.0, 1e9, above=True)), "Stop after this time; the runs that are done by then count."
    )

    allocation: tuple[str, ...] = option(
        (),
        some_of(*ALLOCATIONS),
        "trace: how checkpoints are allocated: baseline = at random; even = at random, equally many a node; correlated "
        "and usable = by these objectives; lazy-move = checkpoints are full, and the next one may go anywhere. "
        "Repeatable.  [default: all]",
        metavar="NAME",
    )
    prefer: str = option(
        "both",
        one_of(*PREFERENCES),
        "trace: whether overloaded nodes rather give key groups to hosts of their checkpoints; both = once with and "
        "once without.",
    )
    plan_on: float = option(
        0.5,
        number(0.0, 1.0, above=True, below=True),
        "trace: share of the windows, the first ones, on which checkpoints are planned; the others are simulated.",
        metavar="SHARE",
    )
    period_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9, above=True)),
        "trace: how often the adaptation looks at the load, a multiple of the window.  [default: one window]",
    )
    upkeep_every_s: float | None = seconds(
        None,
        optional(number(0.0, 1e9, above=True)),
        "trace: how often correlated and usable allocations are held against fresh ones.  [default: never]",
    )
    threshold: float = option(
        0.1,
        FACTOR,
        "trace: how far from the fresh one is close enough then, as a share of what a random plan loses against it.",
        metavar="X",
    )
    balance: Any = option(
        "none",
        CheckpointAllocationOptions.options()["balance"].check,
        f"trace: how evenly these allocations are spread over nodes, as {ALLOCATE_CHECKPOINTS.name} has it.",
        metavar="auto|X|count|none",
    )
    copies: int = option_of(CheckpointAllocationOptions, "copies")
    anti_affinity: str = option_of(RebalanceOptions, "anti_affinity")
    protocol: str = option_of(RebalanceOptions, "protocol")
    load: str = option_of(RebalanceOptions, "load")
    capacity_per_core: float | None = option_of(RebalanceOptions, "capacity_per_core")
    overload: float = option(
        RebalanceOptions.overload, FACTOR, "trace: utilisation above which a node is overloaded.", metavar="X"
    )
    checkpoint_age_s: float | None = option_of(RebalanceOptions, "checkpoint_age_s")
    record_bytes: float | None = option_of(RebalanceOptions, "record_bytes")
    bandwidth: float | None = option_of(RebalanceOptions, "bandwidth")
    serialisation: float | None = option_of(RebalanceOptions, "serialisation")
    queue_s: float | None = option_of(RebalanceOptions, "queue_s")
    costs: Any = option_of(RebalanceOptions, "costs")

    @property
    def allocations(self) -> tuple[str, ...]:
        """The allocations that adaptation is simulated with, in the order asked for."""
        return self.allocation or ALLOCATIONS

    @property
    def preferences(self) -> tuple[bool, ...]:
        """Whether hosts of checkpoints are preferred, for each simulation of an allocation."""
        return {"both": (True, False), "yes": (True,), "no": (False,)}[self.prefer]


OPTIONS = MigrationSimulationOptions
#: What ``ftplan simulate migration --help`` says of the command.
HELP = """Simulate the migration of key groups.

By default the moves of PLAN, a plan of kind rebalance, also one made by hand; - is standard input. Records, the
protocols' messages, queues, upstream buffers, checkpoints and transfers are simulated at the rates of the
statistics, phase by phase. Each move's pause and completion stand beside what formulas foretell of them, and every
record is followed: exit code 1 where one is lost, counts twice or comes out of order.

With --level trace no plan, but an adaptation over the load of the statistics: period by period it moves key groups
away from overloaded nodes. Checkpoints are allocated on the first part of the windows, in several ways; the others
tell how many moves they assist, how many copies are usable, and how long key groups are paused in all.

\b
$ ftplan simulate migration rebalance.json
$ ftplan simulate migration rebalance.json --runs 20 --seed 7
$ ftplan simulate migration --level trace --stats stats --runs 10
"""
