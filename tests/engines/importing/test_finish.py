"""From drafts to documents: identifiers, edges, cycles, zones, what is assumed."""

from __future__ import annotations

import copy
import itertools
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.engines.importing.draft import Draft, DraftEdge, DraftNode, DraftOperator, ImportOptions
from ftplan.engines.importing.edges import cycles, feedback
from ftplan.engines.importing.finish import finish
from ftplan.engines.importing.hosts import zone_map
from ftplan.errors import FtplanError
from ftplan.io.cluster_file import load_cluster
from ftplan.io.topology_file import load_topology
from ftplan.model.names import slug, slugs
from tests.engines.importing.cases import drafts, shuffled

NONE = ImportOptions()


def chain(*parallelism: int, **fields: Any) -> Draft:
    """A line of operators a, b, c, ...; *fields* are of every operator."""
    names = "abcdefgh"[: len(parallelism)]
    draft = Draft("line", [DraftOperator(n, n, p, **fields) for n, p in zip(names, parallelism, strict=True)])
    draft.edges = [DraftEdge(a, b) for a, b in itertools.pairwise(names)]
    return draft


def complaint(draft: Draft, **options: Any) -> str:
    with pytest.raises(FtplanError) as raised:
        finish(draft, ImportOptions(**options))
    return str(raised.value)


@settings(max_examples=40)
@given(drafts(), st.integers(0, 9))
def test_readers_take_what_comes_out_whatever_the_order(draft: Draft, seed: int) -> None:
    other = shuffled(copy.deepcopy(draft), seed)
    made = finish(draft, NONE)
    topology = load_topology(made.topology).value
    load_cluster(made.cluster or {}, topology)
    assert len(topology.operators) == len(draft.operators)
    assert {(e.source, e.target) for e in draft.edges} == {
        (_key(made.topology, e["from"], draft), _key(made.topology, e["to"], draft)) for e in made.topology["edges"]
    }
    again = finish(other, NONE)
    assert again.topology["operators"] == made.topology["operators"]
    assert again.cluster == made.cluster
    assert {w.code for w in again.assumptions} == {w.code for w in made.assumptions}


def _key(topology: dict[str, Any], name: str, draft: Draft) -> str:
    operator = next(o for o in topology["operators"] if o["id"] == name)
    label: str = operator.get("labels", {}).get("engine_id", "")
    return label or next(o.key for o in draft.operators if o.key == name)


@settings(max_examples=30)
@given(drafts(cycles=True))
def test_cut_cycles(draft: Draft) -> None:
    graph = nx.MultiDiGraph([(e.source, e.target) for e in draft.edges])
    if nx.is_directed_acyclic_graph(graph):
        return
    text = complaint(copy.deepcopy(draft))
    assert "cycle:" in text
    assert "--break-cycles" in text
    made = finish(draft, ImportOptions(break_cycles=True))
    left = load_topology(made.topology).value.edges
    cut = [w for w in made.notes if w.code == "CYCLE_CUT"]
    assert len(left) + len(cut) == len({(e.source, e.target) for e in draft.edges})


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), max_size=12, unique=True))
def test_the_fewest_edges_are_cut(pairs: list[tuple[str, str]]) -> None:
    """Against all subsets of edges, smallest first; networkx says what is acyclic, and what is a cycle."""
    cut = feedback(pairs, {})
    assert nx.is_directed_acyclic_graph(nx.DiGraph([p for p in pairs if p not in cut]))
    fewest = next(
        size
        for size in range(len(pairs) + 1)
        for some in itertools.combinations(pairs, size)
        if nx.is_directed_acyclic_graph(nx.DiGraph([p for p in pairs if p not in some]))
    )
    assert len(cut) == fewest
    paths = cycles(pairs)
    parts = nx.strongly_connected_components(nx.DiGraph(pairs))
    loops = {a for a, b in pairs if a == b}
    assert len(paths) == sum(len(part) > 1 or bool(part & loops) for part in parts)
    for path in paths:
        assert path[0] == path[-1]
        assert all(step in pairs for step in itertools.pairwise(path))


def test_a_large_cyclic_part_is_cut_by_the_greedy_rule() -> None:
    names = [f"n{i}" for i in range(40)]
    pairs = [*itertools.pairwise(names), ("n39", "n0"), ("s", "n0"), ("n20", "n5")]
    assert feedback(pairs, {}) == [("n19", "n20")]  # one edge of both cycles
    assert cycles(pairs) == [[*names[5:21], "n5"]]


def test_ties_cut_what_leads_back_then_what_carries_least_then_by_name() -> None:
    loop = [("s", "a"), ("a", "b"), ("b", "c"), ("c", "a")]
    assert feedback(loop, {}) == [("c", "a")]
    assert feedback(loop[1:], {("a", "b"): 3.0, ("b", "c"): 1.0, ("c", "a"): 2.0}) == [("b", "c")]
    assert feedback([("Bolt-2", "Bolt-10"), ("Bolt-10", "Bolt-2")], {}) == [("Bolt-2", "Bolt-10")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Window(…) -> Map", "Window-Map"),
        ("Café: q-1", "Cafe-q-1"),
        ("→", "unnamed"),
        ("a--b", "a--b"),
        ("x" * 90, "x" * 80),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


_TEXTS = st.text(st.sampled_from("a-2 é"), max_size=4)


@given(st.dictionaries(_TEXTS, _TEXTS, max_size=8))
def test_slugs_are_unique_identifiers(names: dict[str, str]) -> None:
    ids = slugs(names)
    assert ids.keys() == names.keys()
    assert len({*ids.values()}) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", i) for i in ids.values())
    assert slugs(dict(reversed(names.items()))) == ids


def test_slugs_of_one_kind_are_numbered() -> None:
    assert slugs({"1": "a b", "2": "a-b", "3": "a/b", "4": "a-b-2"}) == {
        "1": "a-b", "2": "a-b-3", "3": "a-b-4", "4": "a-b-2",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "up", "down", "holds"),
    [
        ("one-to-one", 2, 2, "one-to-one"), ("one-to-one", 2, 3, "full"), ("split", 2, 4, "split"),
        ("split", 4, 2, "merge"), ("merge", 2, 4, "split"), ("merge", 3, 3, "one-to-one"), ("full", 2, 3, "full"),
    ],
)  # fmt: skip
def test_partitionings_that_fit(rule: Any, up: int, down: int, holds: str) -> None:
    draft = chain(up, down)
    draft.edges = [DraftEdge("a", "b", rule)]
    made = finish(draft, NONE)
    assert made.topology["edges"] == [{"from": "a", "to": "b", "partitioning": holds}]
    assert ("PARTITIONING_CHANGED" in {w.code for w in made.assumptions}) == (rule != holds)


def test_parallel_edges_become_one() -> None:
    draft = chain(2, 2)
    draft.edges = [DraftEdge("a", "b", "one-to-one"), DraftEdge("a", "b", "one-to-one")]
    assert finish(draft, NONE).topology["edges"][0]["partitioning"] == "one-to-one"
    draft.edges.append(DraftEdge("a", "b", "full"))
    assert finish(draft, NONE).topology["edges"][0]["partitioning"] == "full"
    draft.edges = [DraftEdge("a", "b", "full", [(0, 0, 1.0), (1, 1, 2.0)]), DraftEdge("a", "b", "full", [(0, 0, 0.5)])]
    assert finish(draft, NONE).topology["edges"] == [{"from": "a", "to": "b", "substreams": [[0, 0, 1.5], [1, 1, 2.0]]}]


def test_what_is_not_said_is_assumed_and_strict_refuses_it() -> None:
    draft = chain(1, 0, key_groups=4)
    draft.nodes = [DraftNode("10.0.0.1", cpu=4.0, zone="rack a"), DraftNode("[::1]")]
    draft.tasks = {"a": ["[::1]"]}
    made = finish(copy.deepcopy(draft), NONE)
    assert [w.code for w in made.assumptions] == [
        "PARALLELISM_UNKNOWN", "CPU_UNKNOWN", "RATES_UNKNOWN", "STATE_UNKNOWN", "ZONE_UNKNOWN", "CORES_UNKNOWN",
    ]  # fmt: skip
    assert made.cluster is not None
    assert made.cluster["nodes"] == [
        {"id": "1", "cpu": 2.0, "labels": {"host": "[::1]"}},
        {"id": "10.0.0.1", "cpu": 4.0, "zone": "rack-a"},
    ]
    assert made.cluster["placement"]["tasks"] == {"a": ["1"]}
    text = complaint(copy.deepcopy(draft), strict=True)
    assert text.startswith("line: --strict: 6 assumptions, the first: b: parallelism 1")
    told = chain(1, 2, cpu=0.5, rate_out=3.0)
    assert finish(told, ImportOptions(strict=True)).assumptions == ()


def test_options_about_operators() -> None:
    draft = chain(0, 3)
    draft.operators[1].name = "join (b)"
    draft.operators[0].correlated = True
    made = finish(
        draft, ImportOptions(correlated=("join-b",), independent=("a",), parallelism=("4", "join (b)=2"), name="mine")
    )
    assert made.topology["name"] == "mine"
    assert [(o["parallelism"], o.get("inputs")) for o in made.topology["operators"]] == [(4, None), (2, "correlated")]
    assert complaint(chain(1), correlated=("b",)).startswith("--correlated: there is no operator 'b'")
    assert "with --correlated too" in complaint(chain(1), correlated=("a",), independent=("a",))
    twins = Draft("d", [DraftOperator("k1", "Map it", 1), DraftOperator("k2", "Map it", 1)])
    said = "--correlated: 2 operators are called 'Map it': say which by id: Map-it, Map-it-2"
    assert complaint(copy.deepcopy(twins), correlated=("Map it",)) == said
    for name in ("k2", "Map-it-2"):
        made = finish(copy.deepcopy(twins), ImportOptions(parallelism=(f"{name}=3",)))
        assert [o["parallelism"] for o in made.topology["operators"]] == [1, 3]
    assert "measured 2 tasks" in complaint(chain(2, cpu=[1.0, 2.0]), parallelism=("a=3",))
    for wrong in ("x", "a=", "=3", "0", "a=0", "999999999"):
        assert "neither a whole number" in complaint(chain(1), parallelism=(wrong,))


def test_drafts_that_are_none() -> None:
    assert "has no operators" in complaint(Draft("empty"))
    assert "stands twice" in complaint(Draft("d", [DraftOperator("a", "a", 1), DraftOperator("a", "b", 1)]))
    assert "none of the operators" in complaint(Draft("d", [DraftOperator("a", "a", 1)], [DraftEdge("a", "b")]))
    assert "beyond what a file may hold" in complaint(chain(1, cpu=1e9))
    assert complaint(chain(1, rate_out=float("nan"))).startswith("line: the job goes beyond")


def test_zone_maps(tmp_path: Path) -> None:
    def read(name: str, text: str) -> dict[str, str]:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return zone_map(path)

    assert read("z.yaml", "Host-1: a\nh2: 3\n") == {"host-1": "a", "h2": "3"}
    assert read("z.csv", "host,zone\nh1, a\n\nh2,b\n") == {"h1": "a", "h2": "b"} == zone_map({"h1": "a", "h2": "b"})
    assert zone_map(None) == {}
    for name, text, said in (
        ("z.csv", "h1\n", "line 1: 1 columns"), ("z.csv", "h1,a\nh1,b\n", "line 2: host 'h1'"),
        ("z.yaml", "- h1\n", "is no zone map"), ("z.yaml", "h1: [a]\n", "its zone must be a name"),
        ("z.yaml", "h1: a\nH1: b\n", "stands twice"),
    ):  # fmt: skip
        with pytest.raises(FtplanError, match=re.escape(said)):
            read(name, text)
