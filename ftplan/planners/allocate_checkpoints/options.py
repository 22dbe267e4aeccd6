"""What can be asked of a checkpoint allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ftplan.io.options.fields import (
    COSTS,
    FACTOR,
    FLAG,
    PLAN,
    Check,
    PlanOptions,
    number,
    one_of,
    option,
    optional,
    size,
    whole,
    written,
)
from ftplan.model.defaults import OVERLOAD
from ftplan.model.units import MEASURES

if TYPE_CHECKING:
    from ftplan.model.plan import Plan

OBJECTIVES = ("usable", "correlation", "node-correlation")
UPKEEP = ("current", "threshold", "max_moves", "max_bytes")


def _balance(value: Any) -> Any:
    return value if isinstance(value, str) and value in ("auto", "count", "none") else written(value)


def _limit(value: Any) -> float | None:
    return None if value == "none" else written(value)


@dataclass(frozen=True, kw_only=True)
class CheckpointAllocationOptions(PlanOptions):
    """The options of ``ftplan allocate-checkpoints``."""

    recorded_facts: ClassVar = {"spread": FLAG}
    alternatives: ClassVar = (("failover_limit", "minimise"),)

    objective: str = option(
        "usable",
        one_of(*OBJECTIVES),
        "What is optimised: usable = copies whose host could take the key group in the windows in which the "
        "primary's node is overloaded; correlation = load-weighted correlation of each copy with its host's key "
        "groups, summed over these (the paper's); node-correlation = with the host's total load.",
    )
    correlate: str = option(
        "raw",
        one_of("raw", "share", "residual"),
        "Which series are correlated: loads, shares of the total load, or loads without the daily profile.",
    )
    capacity_per_core: float | None = option(
        None,
        optional(number(0.0, 1e18)),
        "Load units per second that a core can take.  [default: 1000 for cpu_ms, else mean utilisation is 0.7]",
        metavar="X",
    )
    overload: float = option(
        OVERLOAD, FACTOR, "A node is overloaded in a window when its utilisation exceeds this.", metavar="X"
    )
    holdout: float | None = option(
        None,
        optional(number(0.0, 1.0, above=True, below=True)),
        "Plan on the first part of the trace and judge on this last share of it, beside even and random plans.",
        metavar="SHARE",
    )
    load: str = option("records", one_of(*MEASURES), "What counts as load.")
    copies: int = option(1, whole(1), "Checkpoint copies of each key group.")
    balance: Any = option(
        "auto",
        Check("auto, count, none or a number from 0 to 1e+09, such as 0.1", _balance),
        "How evenly load is spread over nodes: X = every node within (1-X) and (1+X) of its fair share by cpu; "
        "auto = the smallest feasible X from 0.05 up; count = number of copies instead of load.",
        metavar="auto|X|count|none",
    )
    anti_affinity: str = option(
        "auto",
        one_of("auto", "node", "zone"),
        "zone = no copy in its primary's zone, nor two copies in one zone; node = on other nodes; auto = zone where "
        "the cluster has zones and that is possible, else node.",
    )
    failover_limit: float | None = option(
        None,
        optional(Check("a number from 0 to 1e+09, such as 1.5", _limit)),
        "After the loss of any one node (zone, with --anti-affinity zone), each key group at its first copy: no "
        "survivor's mean load above X times its fair share by cpu. With --balance auto the balance yields to it.",
        metavar="X",
    )
    minimise: str | None = option(
        None,
        optional(one_of("failover")),
        "Find the smallest failover limit first, then the best objective under it.",
    )
    bound: bool = option(False, FLAG, "Prove a bound for the heuristics too.", flag="--bound/--no-bound")
    current: Any = option(
        None,
        PLAN,
        "Upkeep: the plan whose checkpoints are in place now; wins over placement.checkpoints of the cluster.",
        metavar="PLAN",
    )
    threshold: float | None = option(
        None,
        optional(FACTOR),
        "Upkeep: how far from a fresh plan is close enough, as a share of what a random plan loses against it.",
        metavar="X",
    )
    max_moves: int | None = option(None, optional(whole(0)), "Upkeep: move at most so many copies.", metavar="N")
    max_bytes: float | None = size(
        None, optional(number(0.0, 1e24)), "Upkeep: transfer at most so much state, such as 20GB."
    )
    costs: Any = option(
        None,
        COSTS,
        "Recovery costs: where they say that state is remote, a warning says that placing checkpoints no longer pays.",
        metavar="FILE",
    )
    iterations: int | None = option(None, optional(whole(1)), "Bound the search by work instead of time.", metavar="N")

    @property
    def upkeep(self) -> bool:
        """Whether what is in place shall be kept up, instead of a fresh plan made."""
        return any(getattr(self, name) is not None for name in UPKEEP)

    @classmethod
    def asked_by(cls, plan: Plan) -> dict[str, Any]:
        """Return what has to be asked to get a plan again; a limit that was minimised was not asked for."""
        asked = super().asked_by(plan)
        if plan.options.get("minimise") is not None:
            asked["failover_limit"] = None
        return asked
