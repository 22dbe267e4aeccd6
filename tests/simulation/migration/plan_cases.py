"""Moves of the small job of the rebalances, listed by hand."""

from __future__ import annotations

from typing import Any

from ftplan.model.plan import FORMAT_VERSION

#: Where each key group goes by which protocol: to a checkpoint of it, or to n6 and n7, where there is none.
MOVES = [
    ("agg", 0, "n1", "n2", "cpa"),
    ("agg", 1, "n1", "n5", "cpal"),
    ("agg", 2, "n2", "n7", "direct"),
    ("join", 0, "n1", "n6", "lazy"),
]


def by_hand(*moves: tuple[Any, ...], phases: list[int] | None = None, **body: Any) -> dict[str, Any]:
    """Return a plan that nobody but a person made."""
    listed = [
        {"operator": operator, "key_group": group, "from": source, "to": to, "protocol": protocol}
        for operator, group, source, to, protocol in moves
    ]
    for item, phase in zip(listed, phases or (), strict=False):
        item["phase"] = phase
    return {
        "format": "ftplan/plan",
        "format_version": FORMAT_VERSION,
        "kind": "rebalance",
        "plan": {"moves": listed, **body},
    }
