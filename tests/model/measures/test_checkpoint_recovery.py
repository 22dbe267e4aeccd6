"""What a failure takes of an allocation, and what of that has a live copy."""

from __future__ import annotations

import pytest

from ftplan.errors import FtplanError
from ftplan.model.cluster import Node
from ftplan.model.measures.planned_copies import RecoverableGroups, recovery
from ftplan.model.names import parse_selector
from tests.planners.allocate_checkpoints.algorithms.cases import Case

#: Operator a with four groups of loads 1 to 4; two tasks own two groups each.
CASE = Case(
    groups=tuple(("a", g) for g in range(4)),
    loads=((1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)),
    homes=("n1", "n1", "n2", "n2"),
    states_mb=(0.0,) * 4,
    nodes=(Node("n1", 1.0, zone="x"), Node("n2", 1.0, zone="x"), Node("n3", 1.0, zone="y")),
    parallelism=2,
)
COPIES = (["n2"], ["n3"], ["n3"], ["n1", "n3"])


def judged(*failures: str) -> RecoverableGroups:
    assignments = [
        {"operator": "a", "key_group": g, "primary": home, "checkpoints": copies}
        for g, (home, copies) in enumerate(zip(CASE.homes, COPIES, strict=True))
    ]
    selectors = [parse_selector(text) for text in failures]
    return recovery(assignments, selectors, CASE.topology(), CASE.cluster(), CASE.series())


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        ((), (0, 0.0, 0, 0.0)),
        (("node:n1",), (2, 3.0, 2, 3.0)),
        (("zone:x",), (4, 10.0, 3, 9.0)),
        (("node:n1", "node:n2"), (4, 10.0, 3, 9.0)),
        (("operator:a",), (4, 10.0, 4, 10.0)),
        (("task:a/1",), (2, 7.0, 2, 7.0)),
        (("key-group:a/2", "node:n3"), (1, 3.0, 0, 0.0)),
    ],
)
def test_what_fails_and_what_comes_back(failures: tuple[str, ...], expected: tuple[float, ...]) -> None:
    assert judged(*failures) == RecoverableGroups(*expected)  # type: ignore[arg-type]


def test_a_query_is_no_part_that_fails() -> None:
    with pytest.raises(FtplanError, match="query:a/0: a query is no part that fails"):
        judged("query:a/0")
