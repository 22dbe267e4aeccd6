"""Checkpoint allocations as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import Metric
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.kind import Command, PlanKind
from ftplan.planners.registry import Row

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _moves(plan: Plan) -> bool:
    moves = (plan.plan or {})["moves"]
    return moves is None or bool(moves)


_TEXT = """Plan on which node the checkpoint of each key group lies.

Checkpoints go where load runs against their own: when a node is overloaded, its key groups can move to their
checkpoints without a transfer of state. Needs a topology, a cluster with a placement, and statistics.

Any upkeep option keeps the checkpoints in place and moves those that improve the plan most: until it is within
--threshold (0 if not given) of a fresh plan, or --max-moves or --max-bytes is reached. What breaks a rule is
mended first. Without these options the plan is a fresh one.
"""

KIND = PlanKind(
    name="allocate-checkpoints",
    options=CheckpointAllocationOptions,
    table="assignments",
    changes=_moves,
    needs=("topology", "cluster", "stats"),
    plans=(("current", "allocate-checkpoints"),),
    files=("costs",),
    command=Command(
        text=_TEXT,
        default="auto, safe at any size: correlated, then exact in the rest of the time limit",
        changes="moves checkpoints",
        picture="the copies on each node",
    ),
    planners=(
        Row(
            name="auto",
            function="ftplan.planners.allocate_checkpoints.algorithms.auto:auto",
            exact=False,
            guarantee="no worse than correlated; optimal, or the proven gap at the time limit",
            source="correlated, then exact",
            default=True,
        ),
        Row(
            name="baseline",
            function="ftplan.planners.allocate_checkpoints.algorithms.baselines:baseline",
            exact=False,
            guarantee="none: random, never on the primary's node, copies on different nodes",
            source="Madsen & Zhou, CIKM 2015, section 7 (Baseline)",
        ),
        Row(
            name="even",
            function="ftplan.planners.allocate_checkpoints.algorithms.baselines:even",
            exact=False,
            guarantee="at most ceil(copies / nodes) copies on a node; random within that",
            source="Madsen & Zhou, CIKM 2015, section 7 (Even Distribution)",
        ),
        Row(
            name="correlated",
            function="ftplan.planners.allocate_checkpoints.algorithms.baselines:correlated",
            exact=False,
            guarantee="optimal without a balance rule; heuristic with one",
            source="Madsen & Zhou, CIKM 2015, Algorithm 3, mended",
        ),
        Row(
            name="exact",
            function="ftplan.planners.allocate_checkpoints.algorithms.exact:exact",
            exact=True,
            guarantee="optimal, or the proven gap at the time limit",
            source="generalised assignment: Lagrangian dual, reduced costs, branch and cut (SCIP); flow for counts",
        ),
    ),
    metrics=(
        Metric(
            "correlation",
            "min",
            "load",
            "the objective: sum over all copies of load times correlation with the host's key groups",
        ),
        Metric("random-correlation", "min", "load", "expected correlation of a random plan, for comparison"),
        Metric(
            "gain-over-random",
            "max",
            "share",
            "(random - value) / |random|: how far the correlation lies below a random plan's",
        ),
        Metric(
            "imbalance",
            "min",
            "share",
            "largest deviation of a node's checkpointed load from its fair share, relative to that share",
        ),
        Metric(
            "usable-share",
            "max",
            "share",
            "of the copies of key groups on overloaded nodes, over all windows, those whose host could take the group",
        ),
        Metric(
            "assisted-migrations",
            "max",
            "share",
            "of the migrations that relieve overloaded nodes, heaviest key group first, those to a checkpoint's host",
        ),
        Metric("max-copies-per-node", "min", "copies", "most copies on one node"),
        Metric("zone-separation", "max", "share", "copies that lie outside their primary's zone"),
        Metric("lost-groups", "min", "key groups", "key groups whose primary and all copies are on failed nodes"),
        Metric(
            "recoverable-share",
            "max",
            "share",
            "of the key groups whose primary fails, those with a copy on a live node; 1 where none fails",
        ),
        Metric("recoverable-load-share", "max", "share", "the same, weighted by load; 1 where no load fails"),
        Metric(
            "failover-load-ratio",
            "min",
            "share",
            "largest load of a survivor over its fair share after the loss of any one node (zone, for a "
            "plan with anti-affinity zone), each key group at its first live copy",
        ),
        Metric(
            "loss-probability",
            "min",
            "probability",
            "some key group loses its primary and all copies, by failure_probability of nodes and zones",
        ),
        Metric("copysets", "min", "sets", "distinct sets of nodes that hold a key group: primary and copies"),
    ),
    renamed_metrics={"failover-headroom": "failover-load-ratio"},
)
