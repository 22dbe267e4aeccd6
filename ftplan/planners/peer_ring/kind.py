"""Peer rings as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import Metric
from ftplan.planners.kind import Command, PlanKind
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.registry import Row

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    return any(item.get("event") != "failure" for item in (plan.plan or {}).get("moves") or ())


_TEXT = """Plan where workers stand on a consistent-hashing ring, so that load is even and failures lose nothing.

A worker owns the key groups from its token up to the next one, and the next --replication workers clockwise keep
copies. Tokens and the order of zones are planned so that no zone takes all copies with it, and copies lie in
different zones, wherever that can be; then load is as even as key groups allow, then as few bytes as possible move
away from the ring in place (--current).
The plan says which failures lose what and how likely that is, what each move sends, how long take-overs last, and
with --fail what one failure does to it. Needs a topology and a cluster; load comes from statistics, else from the
topology's rates.
"""

KIND = PlanKind(
    name="peer-ring",
    options=PeerRingOptions,
    table="ring",
    changes=_changes,
    needs=("topology", "cluster"),
    plans=(("current", "peer-ring"),),
    files=("costs",),
    answers_failure=True,
    summary_of_question=("before", "random", "virtual_nodes"),
    command=Command(
        text=_TEXT,
        default="auto, exact but for rings in place of several tokens a node",
        changes="moves any key group, owner or copy",
        picture="the ring: who owns which arc",
    ),
    planners=(
        Row(
            name="exact",
            function="ftplan.planners.peer_ring.algorithms.exact:exact",
            exact=True,
            guarantee="fewest losses by a zone, violations, least load, bytes, load again, each optimal or with "
            "its gap",
            source="zone order by blocks or integer program (CP-SAT); circular partition; dynamic programming over "
            "cuts",
        ),
        Row(
            name="paper",
            function="ftplan.planners.peer_ring.algorithms.paper:paper",
            exact=False,
            guarantee="none: random tokens, then neighbours take half an arc of the overloaded; a proven bound",
            source="Kumbhare et al. 2015, sections V-A and VI",
        ),
        Row(
            name="virtual-nodes",
            function="ftplan.planners.peer_ring.algorithms.baselines:virtual_nodes",
            exact=False,
            guarantee="none: many hashed tokens a node, no look at load or zones; a node that joins moves only its "
            "arcs",
            source="DeCandia et al., SOSP 2007 (Dynamo)",
        ),
        Row(
            name="auto",
            function="ftplan.planners.peer_ring.algorithms.auto:auto",
            exact=True,
            guarantee="that of exact; of virtual-nodes where a ring of many tokens a node moves less and as safely",
            source="exact, compared with virtual-nodes",
            default=True,
        ),
    ),
    metrics=(
        Metric("largest-load", "min", "share", "the objective: largest load of a node over its fair share of free cpu"),
        Metric("zone-violations", "min", "arcs", "arcs with two of their holders in one zone"),
        Metric(
            "survival",
            "max",
            "probability",
            "nothing is lost within one repair window, by failure_probability of nodes and zones; the worse "
            "end where only an interval is known",
        ),
        Metric("loss-probability", "min", "probability", "some key group loses its owner and all backups: the rest"),
        Metric("expected-lost-bytes", "min", "bytes", "expected state that is lost within one repair window"),
        Metric("best-case", "max", "nodes", "most nodes that may fail together without loss; at least so many"),
        Metric("fatal-zones", "max", "zones", "fewest zones whose loss, all their nodes at once, loses something"),
        Metric("copysets", "min", "sets", "distinct sets of nodes that hold all copies of a key group"),
        Metric("moved-bytes", "min", "bytes", "what travels from the ring in place to this one, copies included"),
        Metric("memory-bytes", "min", "bytes", "most that a node keeps for others: copies, and tuples not yet in them"),
        Metric("lost-groups", "min", "key groups", "key groups whose owner and backups all fail"),
        Metric("lost-bytes", "min", "bytes", "their state"),
        Metric("rereplicate-bytes", "min", "bytes", "what travels after the failure until all copies are there again"),
        Metric("ready-s", "min", "s", "from the failure until all that is taken over runs again"),
        Metric("caught-up-s", "min", "s", "the same until no record waits any more; undefined where that is never"),
        Metric(
            "highest-utilisation", "min", "share", "load over capacity of the fullest node, with what it takes over"
        ),
        Metric("overloaded-nodes", "min", "nodes", "nodes that are overloaded then"),
    ),
)
