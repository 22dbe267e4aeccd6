"""What a page says of a rebalance, from a plan made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ftplan.model.plan import Plan
from ftplan.planners.rebalance.figure import figures, highlights, lead, outages


def by_hand(**options: Any) -> Plan:
    """Two key groups move in 5 s; the third is lost with its node after 2 s, and comes back in the last phase."""
    common = {"operator": "sums", "from": "n1", "bytes": 2**20}
    body = {
        "moves": [
            {**common, "key_group": 0, "phase": 0, "to": "n2", "protocol": "cpal", "pause_s": 0.1},
            {**common, "key_group": 1, "phase": 1, "to": "n3", "protocol": "direct", "pause_s": 2.0},
            {**common, "key_group": 2, "phase": 2, "to": "n2", "protocol": "recover", "pause_s": 4.0},
        ],
        "phases": [
            {"phase": 0, "moves": 1, "duration_s": 3.0, "longest_pause_s": 0.1},
            {"phase": 1, "moves": 1, "duration_s": 2.0, "longest_pause_s": 2.0},
            {"phase": 2, "moves": 1, "duration_s": 4.0, "longest_pause_s": 4.0},
        ],
    }
    summary = {
        "before": {"highest_utilisation": 0.9},
        "after": {"highest_utilisation": 0.6, "longest_pause_s": 4.0, "duration_s": 9.0},
        "nodes": [{"node": "n1", "before": 0.9, "after": None}, {"node": "n2", "before": 0.2, "after": 0.6}],
        "front": [{"duration_s": 9.0, "longest_pause_s": 4.0}, {"duration_s": 6.0, "longest_pause_s": 5.0}],
    }
    return Plan("rebalance", body, options=options, summary=summary)


def test_who_is_lost_is_down_from_the_loss_until_the_end_of_its_pause() -> None:
    """The node is gone at 2 s, the last phase begins at 5 s, and takes 4 s: down for 7 s."""
    assert outages(by_hand(within_s=2.0)) == [pytest.approx(7.0)]
    assert outages(by_hand(within_s=20.0)) == [pytest.approx(4.0)]
    assert outages(by_hand()) == [None]


def test_the_lead_says_what_happens() -> None:
    said = " ".join(lead(by_hand(within_s=2.0))).replace("\u00a0", " ")
    for part in (
        "3 key groups move in 3 phases, 1 of them to a node that has a checkpoint",
        "1 of them come back from checkpoints after their node is gone, the last 7 s later",
        "The fullest node is at 60 %, before at 90 %",
    ):
        assert part in said
    assert lead(Plan("rebalance", {"moves": []})) == ["No key group has to move."]


def test_what_the_plan_does_not_state_is_not_drawn() -> None:
    assert [figure.title for figure in figures(by_hand())] == [
        "Utilisation by node", "Phases over time", "Longest pause against time",
    ]  # fmt: skip
    bare = Plan("rebalance", {"moves": [{"operator": "sums", "key_group": 0, "from": "n1", "to": "n2"}]})
    assert list(figures(bare)) == []
    assert [item.what for item in highlights(bare)] == ["Key groups that move"]
