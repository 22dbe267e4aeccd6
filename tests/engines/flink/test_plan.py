"""Plans of Flink in both shapes, held to what Flink itself makes of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.engines.flink.plan import Vertex, chain_name, default_max_parallelism, plan_vertices
from ftplan.errors import FtplanError
from tests.places import ROOT

PLANS = ROOT / "tests" / "data" / "flink" / "plans"


def plan(name: str) -> Any:
    return json.loads((PLANS / f"{name}.json").read_text())


def named(vertices: list[Vertex]) -> dict[str, str]:
    return {vertex.id: vertex.name or chain_name(vertex.description) for vertex in vertices}


@pytest.mark.parametrize("job", ["streams", "sql"])
def test_both_shapes_give_the_vertices_of_the_job_graph(job: str) -> None:
    flink = plan(f"{job}-vertices")
    rest, info = (plan_vertices(plan(f"{job}-{shape}"), shape) for shape in ("rest", "info"))
    assert named(rest) == {key: name for key, (name, _) in flink.items()}
    assert sorted((named(info)[v.id], v.parallelism) for v in info) == sorted(map(tuple, flink.values()))
    edges = [
        sorted((named(shape)[s.source], s.shipped, named(shape)[v.id]) for v in shape for s in v.inputs)
        for shape in (rest, info)
    ]
    assert edges[0] == edges[1]


def test_a_running_job_is_called_as_its_plan_tells() -> None:
    answers = PLANS.parent / "answers"
    vertices = plan_vertices(json.loads((answers / "job_plan.json").read_text()), "plan")
    job = json.loads((answers / "job.json").read_text())
    assert named(vertices) == {vertex["id"]: vertex["name"] for vertex in job["vertices"]}


def test_default_max_parallelism_is_flinks() -> None:
    for parallelism, most in plan("max-parallelism").items():
        assert default_max_parallelism(int(parallelism)) == most


def test_a_chain_that_bites_its_tail_is_cut() -> None:
    nodes = [
        {"id": i, "type": f"m{i}", "pact": "Operator", "contents": f"m{i}", "parallelism": 2,
         "predecessors": [{"id": 3 - i, "ship_strategy": "FORWARD"}]} for i in (1, 2)
    ]  # fmt: skip
    (vertex,) = plan_vertices({"nodes": nodes}, "plan")
    assert set(vertex.name.split(" -> ")) == {"m1", "m2"}


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30))
def test_chains_are_those_of_a_forest(sources: list[int]) -> None:
    """Every operator is in one chain; a forwarded only input joins the chain before it."""
    nodes: list[dict[str, Any]] = []
    for i, source in enumerate(sources):
        node: dict[str, Any] = {"id": i, "type": f"o{i}", "pact": "Operator", "contents": f"o{i}", "parallelism": 1}
        if source < i:
            node["predecessors"] = [{"id": source, "ship_strategy": "FORWARD" if source % 3 else "HASH"}]
        nodes.append(node)
    vertices = plan_vertices({"nodes": nodes}, "plan")
    members = [name for vertex in vertices for name in re.findall(r"o\d+", vertex.name)]
    assert sorted(members) == sorted(node["type"] for node in nodes)
    assert {int(v.id) for v in vertices} == {i for i, s in enumerate(sources) if s >= i or s % 3 == 0}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"nodes": []}, "lists no nodes"),
        ({"plan": {"nodes": "x"}}, "lists no nodes"),
        ({"nodes": [{"parallelism": 1}]}, r"plan.nodes\[0\]: has no id"),
        ({"nodes": [{"id": "a"}, {"id": "a"}]}, r"plan.nodes\[1\].id: 'a' stands twice"),
        ({"nodes": [{"id": "a", "inputs": [{"id": "b"}]}]}, "reads 'b', which is no node"),
        ({"nodes": [{"id": "a", "inputs": [{}]}]}, "an input has no id"),
        (7, "lists no nodes"),
    ],
)
def test_what_is_no_plan(document: Any, text: str) -> None:
    with pytest.raises(FtplanError, match=text):
        plan_vertices(document, "job.json")
