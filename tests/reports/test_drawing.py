"""Drawings: layers, ticks, colours, and what --plot writes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftplan
from ftplan.io.topology_file import load_topology
from ftplan.reports.charts import ticks
from ftplan.reports.layers import BOXES, MOST_LAYERS, layered
from ftplan.reports.palette import DARK, LETTERINGS, LIGHT, SHAPES
from ftplan.reports.plot_file import check_plot, plot
from tests.reports import cases


@st.composite
def graphs(draw: st.DrawFn) -> nx.DiGraph:
    """An acyclic graph of up to 20 operators."""
    size = draw(st.integers(1, 20))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] < pair[1])
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(draw(st.sets(pairs, max_size=40)) if size > 1 else ())
    return graph


def _topology(graph: nx.DiGraph) -> object:
    return load_topology(
        {
            "format": "ftplan/topology",
            "format_version": "1.0",
            "operators": [{"id": f"o{k}", "parallelism": 2} for k in graph.nodes],
            "edges": [{"from": f"o{a}", "to": f"o{b}", "partitioning": "full"} for a, b in graph.edges],
        }
    ).value


@given(graphs())
def test_layers_are_those_of_networkx(graph: nx.DiGraph) -> None:
    topology = _topology(graph)
    drawn = layered(topology, [1] * len(graph))  # type: ignore[arg-type]
    assert drawn is not None
    layers = [sorted(i for box in layer if box >= 0 for i in drawn.boxes[box]) for layer in drawn.layers]
    assert layers == [sorted(layer) for layer in nx.topological_generations(graph)]
    if all(len(box) == 1 for box in drawn.boxes):
        assert {(drawn.boxes[a][0], drawn.boxes[b][0]) for a, b, _ in drawn.streams} == set(graph.edges)
    assert all(len([box for box in layer if box >= 0]) <= BOXES for layer in drawn.layers)


def test_streams_that_could_be_parallel_do_not_cross() -> None:
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(range(6))
    graph.add_edges_from([(0, 5), (1, 4), (2, 3)])
    drawn = layered(_topology(graph), [1] * 6)  # type: ignore[arg-type]
    assert drawn is not None
    place = {drawn.boxes[box][0]: k for layer in drawn.layers for k, box in enumerate(layer)}
    assert [place[a] for a, _ in sorted(graph.edges)] == [place[b] for _, b in sorted(graph.edges)]


def test_too_many_layers_are_not_drawn() -> None:
    assert layered(_topology(nx.path_graph(MOST_LAYERS + 1, create_using=nx.DiGraph)), [1] * (MOST_LAYERS + 1)) is None  # type: ignore[arg-type]


@given(st.floats(0, 1e9), st.floats(1e-3, 1e9), st.integers(2, 12), st.booleans())
def test_ticks_are_few_and_within(low: float, span: float, most: int, times: bool) -> None:
    values = ticks(low, low + span, most, times)
    assert len(values) <= most + 1
    assert all(low - 1e-6 * (low + span) <= value <= (low + span) * (1 + 1e-6) for value in values)


def _contrast(a: str, b: str) -> float:
    """The ratio of WCAG 2.2."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(a), light(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_lines_stand_out(theme: dict[str, str]) -> None:
    """Text by 4.5, outlines and bars by 3 (WCAG 1.4.3 and 1.4.11)."""
    grounds = {
        "paper": ("ink", "muted", "accent"),
        "panel": ("ink", "muted"),
        "calm": ("ink", "mark"),
        "good-ground": ("good",),
        "warn-ground": ("warn", "ink"),
        "bad-ground": ("bad", "ink"),
        "chosen": ("mark",),
        **{f"s{k}": ("mark",) for k in range(6)},
    }
    for ground, texts in grounds.items():
        for text in texts:
            assert _contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
    for line in ("outline", "accent", "bad", "good"):
        assert _contrast(theme[line], theme["paper"]) >= 3.0, line
    assert LIGHT.keys() == DARK.keys()


def test_styles_name_known_colours() -> None:
    named = {colour for style in SHAPES.values() for colour in (style.fill, style.stroke) if colour is not None}
    assert named | {lettering.fill for lettering in LETTERINGS.values()} <= LIGHT.keys()


@pytest.mark.parametrize("form", ["svg", "png"])
@pytest.mark.parametrize("name", ["recovery", "replication", "allocation", "drain", "rebalance", "ring", "scale-out"])
def test_plots_of_every_kind(name: str, form: str, tmp_path: Path) -> None:
    pytest.importorskip({"svg": "jinja2", "png": "matplotlib"}[form])
    plan = cases.document(name)
    paths = [tmp_path / f"{one}.{form}" for one in "ab"]
    for path in paths:
        check_plot(path)
        plot(plan, path)
    data = paths[0].read_bytes()
    assert data == paths[1].read_bytes()
    if form == "svg":
        root = ElementTree.fromstring(data)
        assert root.tag.endswith("svg")
        assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
            *("svg", "title", "desc", "style", "defs", "pattern", "path", "marker", "rect", "text"),
        }
    else:
        assert data[:5] == b"\x89PNG\r"


def test_a_plan_without_figures_cannot_be_plotted(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    for plan, why in ((cases.refused(), "its status is infeasible"), (cases.by_hand("peer-ring"), "has no figure")):
        with pytest.raises(ftplan.FtplanError, match=why):
            plot(plan, tmp_path / "plan.svg")
