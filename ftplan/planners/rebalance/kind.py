"""Rebalances as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, Metric
from ftplan.planners.kind import Command, PlanKind
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.registry import Row

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    body = plan.plan or {}
    return bool(body["moves"] or body.get("new_copies"))


_TEXT = """Plan which key groups move where, so that load is balanced and pauses are short.

A key group whose checkpoint lies on its new node only replays what came in since; without one its state is sent.
The moves of least cost are planned that leave no node overloaded (--overload) or uneven (--tolerance), that drain
nodes (--remove) or fill them (--add), in phases in which no node is overloaded either. Each move says what it
costs, each phase how long it takes, and the plan how to undo it and where checkpoints lie afterwards. Needs a
topology, a cluster with a placement, and statistics.
"""

KIND = PlanKind(
    name="rebalance",
    options=RebalanceOptions,
    table="moves",
    changes=_changes,
    needs=("topology", "cluster", "stats"),
    plans=(("checkpoints", ALLOCATE_CHECKPOINTS.name),),
    files=("costs",),
    summary_of_question=("suggestion",),
    command=Command(
        text=_TEXT,
        default="adaptive, safe at any size, with a proven bound",
        changes="moves any key group or makes a checkpoint anew",
        picture="utilisation of each node before and after",
    ),
    planners=(
        Row(
            name="adaptive",
            function="ftplan.planners.rebalance.algorithms.adaptive:adaptive",
            exact=False,
            guarantee="no needless move; phases in which no node is overloaded; a proven bound",
            source="Madsen & Zhou, CIKM 2015, section 7.1: the most with the least loaded node; local search, dual "
            "bound",
            default=True,
        ),
        Row(
            name="exact",
            function="ftplan.planners.rebalance.algorithms.exact:exact",
            exact=True,
            guarantee="least cost of all moves, or the proven gap at the time limit",
            source="integer programs over key groups and nodes; what no phase can take is cut off",
        ),
    ),
    metrics=(
        Metric("latency-s", "min", "s", "pauses of all key groups that move, each moved alone"),
        Metric("completion-s", "min", "s", "time that all moves take, each alone"),
        Metric("bytes", "min", "bytes", "what moves send over the network"),
        Metric("moves", "min", "moves", "key groups that move"),
        Metric("assisted-share", "max", "share", "of the moves, those over a checkpoint on their target"),
        Metric("longest-pause-s", "min", "s", "longest pause of a key group, waiting in its phase included"),
        Metric("duration-s", "min", "s", "all phases, one after another"),
        Metric("phases", "min", "phases", "phases of moves"),
        Metric("highest-utilisation", "min", "share", "load over capacity of the fullest node afterwards"),
        Metric("overloaded-nodes", "min", "nodes", "nodes that are overloaded afterwards"),
        Metric("overload-share", "min", "share", "windows in which a node is overloaded, with groups moved"),
        Metric(
            "imbalance",
            "min",
            "share",
            "largest deviation of a node's load from its fair share afterwards, relative to that share",
        ),
        Metric("new-copies-bytes", "min", "bytes", "checkpoints that are made anew"),
        Metric("copies-lost", "min", "copies", "checkpoint copies that there are fewer afterwards"),
        Metric(
            "payback-s",
            "min",
            "s",
            "time after which the overload saved outweighs the load that was paused; undefined where none is saved",
        ),
        Metric("blocked-moves", "min", "moves", "moves whose target, or what their state comes from, is down"),
        Metric("groups-down", "min", "key groups", "key groups that are on failed nodes afterwards"),
        Metric("lost-groups", "min", "key groups", "those of them whose checkpoints are all on failed nodes too"),
    ),
)
