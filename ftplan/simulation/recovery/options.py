"""What can be asked of a simulated recovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    CORES,
    COSTS,
    FLAG,
    PLAN,
    SELECTORS,
    SHARE,
    Options,
    PlanOptions,
    number,
    one_of,
    option,
    option_of,
    optional,
    seconds,
    size,
    some_of,
    whole,
)
from ftplan.io.options.shared import checkpoints_in_place, replicas_in_place, resolution, restore_bandwidth
from ftplan.model.defaults import COORDINATOR_CPU, MAX_CPU
from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.planners.registry import rows
from ftplan.simulation.recovery.modes import MODES

#: Incremental, with all new nodes at one time; the other modes are those of :data:`MODES`.
BEST_CASE = "best-case"
MODE_NAMES = (*MODES, BEST_CASE)

_TIME = number(0.0, 1e9)
_POSITIVE_TIME = number(0.0, 1e9, above=True)
_BYTES = number(0.0, 1e18)
#: The longest simulated time.
LONGEST_S = 1e7


@dataclass(frozen=True, kw_only=True)
class RecoverySimulationOptions(Options):
    """The options of ``ftplan simulate recovery``. What is None is as the plan says, else by default."""

    unrecorded: ClassVar = ("seed", "jobs")

    fail: tuple[str, ...] = option(
        (), SELECTORS, "What fails, such as node:n1 or zone:rack-a; repeatable.", metavar="SELECTOR"
    )
    complete_failure: bool = option(
        False, FLAG, "All nodes fail; the first new one hosts the coordinator, then recovery goes on step by step."
    )
    coordinator_cpu: float | None = option(
        None,
        optional(CORES),
        f"What the coordinator takes there, with --complete-failure.  [default: {COORDINATOR_CPU:g}]",
        metavar="CORES",
    )
    arrivals: bool = option(True, FLAG, "No node arrives, whatever the failure file says.", flag="--no-arrivals")
    mode: tuple[str, ...] = option(
        (),
        some_of(*MODE_NAMES),
        f"How the job recovers: {', '.join(MODES)}, or {BEST_CASE} (incremental, with all new nodes at "
        "--best-case). Repeatable: all are compared with the first, on the same random numbers.  "
        "[default: incremental]",
        metavar="MODE",
    )
    best_case_s: float = seconds(180.0, _TIME, "When all new nodes arrive in mode best-case.")
    against: Any = option(
        None, PLAN, "Another recovery schedule, to compare on the same random numbers.", metavar="PLAN"
    )
    algorithm: str | None = option(
        None,
        optional(one_of(*(row.name for row in rows(RECOVERY_SCHEDULE.name)))),
        "Without a plan: what makes one, for when nodes are expected.  [default: auto]",
    )
    max_cpu: float | None = option(
        None,
        optional(SHARE),
        f"Share of a node's cores that such plans may use.  [default: {MAX_CPU:g}]",
        metavar="SHARE",
    )
    runs: int = option(
        1,
        whole(1, 100_000),
        "Simulate so often, each time with other arrival times and another age of the last checkpoint. One run has "
        "the expected ones.",
        metavar="N",
    )
    jobs: int | None = option(None, optional(whole(1, 1024)), "Processes.  [default: one a core]", metavar="N")
    seed: int = option_of(PlanOptions, "seed")
    time_limit_s: float | None = seconds(
        None, optional(_POSITIVE_TIME), "Stop after this time; the runs that are done by then count."
    )
    iterations: int | None = option(
        None, optional(whole(0)), "Bound the search for a plan by work instead of time.", metavar="N"
    )
    replicas: Any = replicas_in_place()
    checkpoints: Any = checkpoints_in_place()
    costs: Any = option(
        None,
        COSTS,
        "Recovery costs: when failures are noticed, how long tasks take to start and to fetch their state, how fast "
        "they can work.",
        metavar="FILE",
    )
    bandwidth: float | None = restore_bandwidth()
    detection_s: float | None = seconds(
        None, optional(_TIME), "Until a failure is noticed.  [default: as --costs says, else 0]"
    )
    restart_s: float | None = seconds(
        None,
        optional(_TIME),
        "Until a task that is started, or taken back, loads its state.  [default: as --costs says, else 0]",
    )
    correlated_failures: int = option(
        2,
        whole(1),
        "Failed nodes since the last checkpoint from which on mode incremental goes step by step, not blocking.",
        metavar="N",
    )
    takeover_s: float = seconds(0.0, _TIME, "From when a failure is noticed until a replica's output is on.")
    replica_lag_s: float = seconds(0.0, _TIME, "How much of its output a replica sends again then.")
    warming_s: float = seconds(0.0, _TIME, "So long after it starts, a task works at --warming-pace only.")
    warming_pace: float = option(1.0, SHARE, "Share of its fastest pace.", metavar="SHARE")
    checkpoint_interval_s: float | None = seconds(
        None,
        optional(_POSITIVE_TIME),
        "Between checkpoints.  [default: the longest that the topology states, else 10s]",
    )
    checkpoint_age_s: float | None = seconds(
        None,
        optional(_TIME),
        "How old the last checkpoint's begin is at the failure.  [default: as --costs says, else half an interval, in "
        "one run; uniform around that in several]",
    )
    batch_s: float = seconds(0.1, number(1e-3, 60.0), "Input that goes through the job as one batch.")
    queue_s: float = seconds(
        1.0,
        number(1e-3, 1e6),
        "Input that a task may be ahead of those that it feeds (back-pressure), two batches at least.",
    )
    max_streams: int = option(
        1_000_000, whole(1, 100_000_000), "Most streams between two tasks; more take long, and memory.", metavar="N"
    )
    headroom: float | None = option(
        None,
        optional(number(1.0, 1e6, above=True)),
        "How much faster than usual a task can work at least.  [default: 1 / --max-cpu]",
        metavar="X",
    )
    record_bytes: float = size(100.0, _BYTES, "Of a record in a buffer.")
    buffer_memory: float | None = size(
        None,
        optional(_BYTES),
        "For buffered output, in sum; what is beyond it is spilled to disk.  [default: all of it]",
    )
    warm_up_s: float = seconds(30.0, number(1.0, 1e6), "Simulated before the failure.")
    until_s: float | None = seconds(
        None,
        optional(number(1.0, LONGEST_S)),
        "Simulated after the failure.  [default: five minutes more than the last arrival, or failure; longer if "
        "queries are not back by then, at most eight times as long]",
    )
    every_s: float | None = resolution(0.1)
    threshold: float = option(
        1.2,
        number(1.0, 1e6, above=True),
        "A query is available while its latency is below so many times its usual one.",
        metavar="X",
    )
    window_s: float = seconds(10.0, number(0.1, 1e6), "Latency is a mean over this.")
    max_down: float | None = option(
        None,
        optional(number(0.0, 1e18)),
        "Exit 1 where the priority x seconds down, a mean over the runs, are more than this in the first mode.",
        metavar="X",
    )

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that are simulated, the first one first."""
        return self.mode or ("incremental",)

    def recorded(self) -> dict[str, Any]:
        """Return the options as the answer keeps them: without how the work was divided, and with all modes."""
        return {**super().recorded(), "mode": list(self.modes)}


OPTIONS = RecoverySimulationOptions
#: What ``ftplan simulate recovery --help`` says of the command.
HELP = """Simulate a failure and the recovery from it, batch by batch.

PLAN is a recovery schedule, also one made by hand; - is standard input. Without it one is made
for least downtime; its steps wait for their nodes. Needs a topology, a cluster with a placement, and what fails; a plan
names its own.

Sources' logs, queues, buffers, checkpoints, failures, their detection, restores and replay are simulated at the
topology's rates. A query is available while its latency is below --threshold times its usual one.

\b
$ ftplan simulate recovery schedule.json --mode incremental --mode blocking --runs 100
$ ftplan simulate recovery a.json --against b.json --runs 100 --costs recovery.yaml --plot recovery.svg
"""
