"""Peer rings that the figures of Kumbhare et al. are simulated on."""

from __future__ import annotations

from typing import Any

import ftplan
from reproduce.row import Table

PAPER = "Kumbhare2015"
#: What the text leaves open, chosen such that figures 6 c and 8 b have the paper's range: records per second that a
#: node replays.
REPLAY_RATE = 20_000.0

Document = dict[str, Any]
ASSUMED = (
    f"a node replays {REPLAY_RATE:,.0f} records a second, which is chosen such that figures 6 c and 8 b have the "
    "paper's range, so that their shape is what is tested; L_n is 15 ms; the text gives no values of single points"
)


def problem(nodes: int, rate: float, groups: int) -> Any:
    """Return one operator on nodes that are alike."""
    topology = {
        "format": "ftplan/topology", "format_version": "1.0",
        "operators": [
            {"id": "map", "parallelism": 1, "rate_out": rate},
            {"id": "reduce", "parallelism": 1, "key_groups": groups, "state_bytes": groups * 2**16},
        ],
        "edges": [{"from": "map", "to": "reduce"}],
    }  # fmt: skip
    names = [{"id": f"n{k}", "cpu": 1} for k in range(1, nodes + 1)]
    return ftplan.load(topology=topology, cluster={"format": "ftplan/cluster", "format_version": "1.0", "nodes": names})


def by_hand(tokens: dict[str, float]) -> Document:
    """Return a ring made by hand."""
    entries = [{"node": node, "token": token} for node, token in sorted(tokens.items(), key=lambda item: item[1])]
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "peer-ring", "plan": {"ring": entries}}


def simulated(given: Any, plan: Any, **options: Any) -> Document:
    """Simulate a ring whose nodes can process as fast as they replay; nothing may be lost."""
    answer = ftplan.simulate(
        "ring", given, plan,
        **{"replay_rate": REPLAY_RATE, "capacity_per_core": REPLAY_RATE, "latency_bound_s": 0.015, **options},
    )  # fmt: skip
    if answer.unmet is not None:
        raise RuntimeError(answer.unmet)
    document: Document = answer.to_dict()
    return document


def three_nodes(**options: Any) -> Document:
    """Simulate three nodes, in the order 1, 3, 2, under 4,000 records a second at 40, 35 and 25 %."""
    plan = by_hand({"n1": 0.0, "n3": 0.4, "n2": 0.75})
    usual = {"replication": 1, "interval_s": 10.0, "tick_s": 0.5, "every_s": 5.0}
    return simulated(problem(3, 4000.0, 320), plan, **(usual | options))


def node(document: Document, name: str) -> Document:
    """Return what a node was like over time."""
    over_time: Document = next(item["over_time"] for item in document["nodes"] if item["node"] == name)
    return over_time


def rates(document: Document, extra: str, values: Any) -> Table:
    """Return the rates of the three nodes over time, with other values beside them, for a drawing."""
    time_s = document["time_s"]
    rows = [(f"n{k}", *point) for k in (1, 3, 2) for point in zip(time_s, node(document, f"n{k}")["rate"], strict=True)]
    rows += [(extra, *point) for point in zip(time_s, values, strict=True)]
    return Table(("node", "seconds", "records"), tuple(rows))
