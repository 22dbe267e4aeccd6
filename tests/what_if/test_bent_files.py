"""Whatever a what-if file says, it is refused in a sentence, or its cases are rows; nothing is a fault of ftplan."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.what_if.case_file import load_cases
from tests.places import ROOT
from tests.what_if.cases import CLUSTER, ENVELOPE, FAILURE, TOPOLOGY

LOG = ROOT / "examples" / "what_if" / "alibaba-ssd-bursts.csv.gz"
DOCUMENT: dict[str, Any] = {
    **ENVELOPE,
    "inputs": {"topology": dict(TOPOLOGY), "cluster": dict(CLUSTER), "failure": dict(FAILURE)},
    "run": {
        "command": "recovery-schedule",
        "algorithm": "operator-centric",
        "fail": ["zone:a"],
        "options": {"samples": 0, "max-cpu": 0.9},
    },
    "measures": ["objective", {"name": "summary.after.priority_time", "sense": "min"}, "last-back-s"],
    "cases": [
        {
            "id": "a",
            "remove": ["node:n1"],
            "add": [{"count": 2, "node": {"cpu": 4, "zone": "b"}, "zones": ["a"], "id": "spare"}],
            "set": {
                "operator:join": {"checkpoint.interval_s": 30, "cpu": 1.0},
                "task:sink/1": {"priority": 3},
                "edge:join->sink": {"partitioning": "full"},
                "network": {"delay_s": 1},
                "zone:a": {"failure_probability": 0.1},
                "arrival:new-1": {"at_s": [1, 2], "node.cpu": 3},
            },
            "scale": {"node:*": {"cpu": 0.5}, "operator:join": {"state_bytes": 2}},
            "traffic": {"factor": 1.1, "cpu": False},
            "failures": {"from": "probabilities", "draw": 3, "seed": 1},
            "options": {"horizon": 100},
            "seed": 3,
        },
        {
            "id": "b",
            "remove": "operator:audit",
            "set": {"operator:sink": {"parallelism": 6}, "task:sink/5": {"cpu": 3}},
        },
    ],
    "grid": [
        {"fail": ["each zone", ["node:n1"]]},
        {
            "name": "burst",
            "failures": {
                "from": str(LOG),
                "columns": {"time": "failure_time", "node": "node_id", "zone": "rack_id"},
                "draws": 2,
            },
            "traffic": [1, 2],
        },
    ],
}


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from _places(item, (*place, key))


PLACES = [place for key in ("run", "measures", "cases", "grid") for place in _places(DOCUMENT[key], (key,))]
VALUES = (None, True, -1, 0.5, 4.0, 1e300, "x y", "", "*", "each zone", "node:n1", [], {}, [1, 2], [[]], {"a": 1})


@settings(max_examples=60)
@given(place=st.sampled_from(PLACES), value=st.sampled_from(VALUES), removed=st.booleans())
def test_one_place_is_bent(place: tuple[Any, ...], value: Any, removed: bool) -> None:
    document = copy.deepcopy(DOCUMENT)
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    if removed and place[-1] != "algorithm":
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    try:
        sweep = load_cases(document)
    except ftplan.FtplanError:
        return
    for number in {*range(min(3, len(sweep))), len(sweep) - 1}:
        sweep.case(number)
        assert "fault of ftplan" not in (sweep.row(number)["reason"] or "")
