"""Which nodes a selector names."""

from __future__ import annotations

import pytest

from ftplan.model.cluster import Cluster, Node
from ftplan.model.names import parse_selector

#: n1 and n2 have no zone; n3 stands in a zone that is called like n2.
CLUSTER = Cluster((Node("n1", 1.0), Node("n2", 1.0), Node("n3", 1.0, zone="n2"), Node("n4", 1.0, zone="a")))


@pytest.mark.parametrize(
    ("selector", "nodes"),
    [
        ("node:n1", "n1"),
        ("zone:n1", "n1"),
        ("node:n2", "n2"),
        ("zone:n2", "n2 n3"),
        ("zone:n4", ""),
        ("zone:a", "n4"),
        ("node:a", ""),
        ("zone:b", ""),
        ("operator:n1", ""),
        ("task:n1/0", ""),
    ],
)
def test_nodes_of_a_selector(selector: str, nodes: str) -> None:
    """A node without a zone is a zone of its own, also where another zone has the same name."""
    assert CLUSTER.nodes_of(parse_selector(selector)) == set(nodes.split())


def test_two_zones_of_one_name_stay_two() -> None:
    """A copy on n3 is outside of the zone of a primary on n2, though ``zone:n2`` names both."""
    assert CLUSTER.zone_names == ("node:n1", "node:n2", "n2", "a")
    assert len(set(CLUSTER.zone_index.tolist())) == 4
