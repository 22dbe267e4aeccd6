"""What can be asked of a task replication."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from ftplan.io.options.fields import (
    CORES,
    COSTS,
    FLAG,
    PLAN,
    SHARE,
    Check,
    FailureOptions,
    number,
    one_of,
    option,
    optional,
    texts,
    whole,
)
from ftplan.model.defaults import MAX_CPU
from ftplan.model.kinds import RECOVERY_SCHEDULE

BUDGETS = ("budget", "budget_cpu", "budget_mb", "target")
METRICS = ("output-fidelity", "internal-completeness", "key-aligned-fidelity")
WEIGHTS = ("rate", "priority")
SAME_ZONE = ("never", "last-resort", "allow")


def _budget(value: Any) -> Any:
    if isinstance(value, str) and len(value) <= 20:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError
    real = float(value)
    if not 0 <= real <= 1e15 or not real.is_integer():
        raise ValueError
    return int(real) if isinstance(value, Integral) else real


@dataclass(frozen=True, kw_only=True)
class TaskReplicationOptions(FailureOptions):
    """The options of ``ftplan replicate-tasks``."""

    recorded_facts: ClassVar = {
        "budget_unit": one_of("tasks", "cores", "mb"),
        "budget_limit": number(0.0, 1e18),
        "cases": Check("a list of ids", texts),
        "spread": FLAG,
    }
    alternatives: ClassVar = (BUDGETS,)
    # dynamic programming lists MC-trees, which know no parts of a task
    unsupported: ClassVar = {"dynamic-programming": {"metric": ("key-aligned-fidelity",)}}

    worst_case: bool = option(False, FLAG, "All tasks may fail, whatever the failure file says.")
    by_probability: bool = option(
        False, FLAG, "Each node and zone with a failure_probability in the cluster fails alone, weighted by it."
    )
    budget: Any = option(
        None,
        optional(Check("a number of replicas, such as 12, or a share, such as '30%'", _budget)),
        "How many replicas: a number, or a share of all tasks, rounded down.",
        metavar="N|X%",
    )
    budget_cpu: float | None = option(None, optional(CORES), "Cores that all replicas may take.", metavar="CORES")
    budget_mb: float | None = option(
        None,
        optional(number(0.0, 1e18)),
        "State, in MiB, that all replicas may hold.",
        metavar="MIB",
    )
    target: float | None = option(None, optional(SHARE), "The fewest replicas that reach this value.", metavar="X")
    least: str = option(
        "replicas", one_of("replicas", "cores", "mb"), "What a target is reached with least of: replicas, cores, MB."
    )
    metric: str = option(
        "output-fidelity",
        one_of(*METRICS),
        "output-fidelity = how much of the output rests on all of its input; internal-completeness = how many records "
        "are still processed, wherever they go; key-aligned-fidelity = output-fidelity where what is lost upstream of "
        "several streams of one join counts once (not by dynamic-programming).",
    )
    then_recover: bool = option(
        False,
        FLAG,
        "Value replicas by what they save in the recovery afterwards: least priority x seconds down, instead of "
        "fidelity during the outage.",
    )
    costs: Any = option(
        None,
        COSTS,
        f"With --then-recover: recovery costs, as fitted on measured recoveries; see {RECOVERY_SCHEDULE.name}.",
        metavar="FILE",
    )
    weight: str = option("rate", one_of(*WEIGHTS), "What an output task counts in fidelity.")
    same_zone: Any = option(
        "never",
        one_of(*SAME_ZONE),
        "Whether a replica may stand in its primary's zone, on another node: never; last-resort = where no other node "
        "with room is as good; allow.",
    )
    max_cpu: float = option(MAX_CPU, SHARE, "Share of a node's cores that may be used.", metavar="SHARE")
    current: Any = option(
        None,
        PLAN,
        "Replicas now in place: says what to activate and to deactivate; wins over placement.replicas of the cluster. "
        "Or a scale-out: its prepared backups are in place beside those.",
        metavar="PLAN",
    )
    max_changes: int | None = option(
        None, optional(whole(0)), "Start and stop at most so many replicas in all.", metavar="N"
    )
    threshold: float | None = option(
        None, optional(number(0.0, 1.0)), "Keep the replicas in place where less would be gained.", metavar="X"
    )
    curve: bool = option(False, FLAG, "Also what every budget buys, up to 100 of them, with a bound.")
