"""Key-aligned fidelity: the example, its relation to output fidelity, and what always holds."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.fidelity_gains import gains, useful
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Partitioning, Substreams, Topology
from ftplan.planners.replicate_tasks.key_aligned_fidelity import key_aligned_model
from tests.topologies import joined_topologies, operator, topologies


def diamond(tasks: int, sink: int) -> TaskGraph:
    """A feeds B and C one-to-one; D joins them."""
    made = [operator(name, tasks) for name in "abc"] + [operator("d", sink, inputs="correlated", output=True)]
    last: Partitioning = "one-to-one" if sink == tasks else "merge"
    edges = (Edge(0, 1, "one-to-one"), Edge(0, 2, "one-to-one"), Edge(1, 3, last), Edge(2, 3, last))
    return TaskGraph(Topology(tuple(made), edges))


def test_half_of_a_shared_source_is_lost_once() -> None:
    graph = diamond(2, 1)
    live = np.array([False] + [True] * 6)
    assert fidelity_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 4)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 2)


def test_streams_that_lack_different_keys_have_none_in_common() -> None:
    """The one way to lie below output fidelity."""
    graph = diamond(2, 1)
    live = np.array([True, True, False, True, True, False, True])
    assert fidelity_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 4)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == 0.0


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_equals_a_walk_over_keys(tasks: int, sink: int, data: st.DataObject) -> None:
    """One key for each slice: a join has it if both sides do."""
    sink = min(tasks, sink)
    graph = diamond(tasks, sink)
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    a, b, c, d = live[:tasks], live[tasks : 2 * tasks], live[2 * tasks : 3 * tasks], live[3 * tasks :]
    kept = sum(bool(a[k] and b[k] and c[k] and d[k * sink // tasks]) for k in range(tasks))
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(kept / tasks)


@given(st.one_of(topologies(), joined_topologies(tasks=12)), st.data())
def test_in_range_monotone_and_whole(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    model = key_aligned_model(graph, rates(graph))
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    more = live | np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    assert -1e-12 <= model.fidelity(live) <= model.fidelity(more) + 1e-9
    assert model.fidelity(np.ones(graph.tasks, dtype=np.bool_)) == pytest.approx(1.0)


@given(topologies(), st.data())
def test_equals_output_fidelity_without_joins(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(Topology(tuple(replace(o, inputs="independent") for o in topology.operators), topology.edges))
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    expected = fidelity_model(graph, rates(graph)).fidelity(live)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 6), st.data())
def test_above_output_fidelity_where_only_the_shared_source_fails(tasks: int, data: st.DataObject) -> None:
    graph = diamond(tasks, 1)
    live = np.ones(graph.tasks, dtype=np.bool_)
    live[:tasks] = [data.draw(st.booleans()) for _ in range(tasks)]
    assert key_aligned_model(graph, rates(graph)).fidelity(live) >= fidelity_model(graph, rates(graph)).fidelity(live)


def test_ten_thousand_tasks() -> None:
    graph = diamond(3_000, 1_000)
    live = np.ones(graph.tasks, dtype=np.bool_)
    live[:1_500] = False
    tracemalloc.start()
    try:
        assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000**2  # less than a byte for each pair of tasks


def keyed_diamond(tasks: tuple[int, int, int, int], groups: tuple[int | None, ...] = (8, 8, 8, 8)) -> TaskGraph:
    """A feeds B and C over full edges, and these D, which joins them."""
    made = [
        operator(
            name, size, key_groups=count, inputs="correlated" if name == "d" else "independent", output=name == "d"
        )
        for name, size, count in zip("abcd", tasks, groups, strict=True)
    ]
    return TaskGraph(Topology(tuple(made), tuple(Edge(*ends, "full") for ends in ((0, 1), (0, 2), (1, 3), (2, 3)))))


def down(graph: TaskGraph, *tasks: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    live = np.ones(graph.tasks, dtype=np.bool_)
    for name in tasks:
        live[graph.number(name[0], int(name[1:]))] = False
    return live


def test_half_of_the_key_groups_is_lost_once_over_full_edges() -> None:
    """A lacks half of the key groups, and so do B and C: D has the other half, whatever their parallelism is."""
    for tasks in ((2, 2, 2, 2), (2, 4, 8, 1), (2, 1, 2, 4)):
        graph = keyed_diamond(tasks)
        live = down(graph, "a0")
        assert fidelity_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 4)
        assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 2)


def test_key_ranges_of_both_streams_overlap() -> None:
    """B lacks the first half of the key groups and C the second quarter: half is left; or C the last: a quarter."""
    graph = keyed_diamond((1, 2, 4, 2))
    model = key_aligned_model(graph, rates(graph))
    assert model.fidelity(down(graph, "b0", "c1")) == pytest.approx(1 / 2)
    assert model.fidelity(down(graph, "b0", "c3")) == pytest.approx(1 / 4)
    assert model.fidelity(down(graph, "b0", "d0")) == pytest.approx(1 / 2)


@pytest.mark.parametrize("groups", [(8, 8, 8, None), (8, 4, 8, 8), (None, None, None, None), (8, 1, 8, 8)])
def test_full_edges_between_unlike_key_groups_are_unrelated(groups: tuple[int | None, ...]) -> None:
    """D has no key groups, B has others, nobody has, or B's are fewer than its tasks."""
    graph = keyed_diamond((2, 2, 2, 2), groups)
    assert key_aligned_model(graph, rates(graph)).task_of is None


def test_a_stream_by_range_meets_one_over_a_full_edge() -> None:
    """B takes A's key groups one-to-one and has none of its own; C has the same over a full edge."""
    made = [operator(name, 2, key_groups=None if name == "b" else 4, output=name == "d") for name in "abcd"]
    made[3] = replace(made[3], inputs="correlated")
    kinds: list[tuple[int, int, Partitioning]] = [(0, 1, "one-to-one"), (0, 2, "full"), (1, 3, "full"), (2, 3, "full")]
    graph = TaskGraph(Topology(tuple(made), tuple(Edge(*edge) for edge in kinds)))
    model = key_aligned_model(graph, rates(graph))
    assert model.fidelity(down(graph, "a0")) == pytest.approx(1 / 2)
    assert model.fidelity(down(graph, "b0", "c0", "d0")) == pytest.approx(1 / 2)
    assert model.fidelity(down(graph, "b0", "c1")) == 0.0


def test_records_between_tasks_without_a_common_key_say_that_keys_differ() -> None:
    """B sends D 0 records of D 1's keys too: half of A is then lost in each stream for itself."""
    graph = keyed_diamond((2, 2, 2, 2))
    index = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    for rate, kept in ((0.0, 1 / 2), (0.5, 1 / 4)):
        crossing = Substreams(*index, np.array([1.0, rate, rate, 1.0]))
        edges = [replace(e, substreams=crossing if e.target == 3 else None) for e in graph.topology.edges]
        measured = TaskGraph(replace(graph.topology, edges=tuple(edges)))
        model = key_aligned_model(measured, rates(measured))
        assert model.fidelity(down(measured, "a0")) == pytest.approx(kept)


#: Key groups of the simulated jobs; every number of tasks divides them.
KEYS = 12


@st.composite
def keyed_jobs(draw: st.DrawFn) -> tuple[Topology, dict[int, int]]:
    """Draw keyed sources, unions and joins of one key, a join at the end; and the records of each source by key.

    Some edges are measured: a pair of tasks carries the records of the keys that both have.
    """
    sources, unions = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    joins = draw(st.integers(0, 1)) + 1
    count = sources + unions + joins
    sizes = [draw(st.sampled_from([1, 2, 3, 4, 6])) for _ in range(count)]
    records = {i: draw(st.integers(1, 3)) for i in range(sources)}
    rate = {i: float(count) for i, count in records.items()}  # by key
    made, edges = [], []
    for i, size in enumerate(sizes):
        joined = i >= sources + unions
        fields = {"rate_out": records[i] * KEYS / size} if i < sources else {}
        inputs = "correlated" if joined else "independent"
        made.append(operator(f"o{i}", size, key_groups=KEYS, inputs=inputs, output=i == count - 1, **fields))
        if i < sources:
            continue
        above = st.integers(0, i - 1)
        for source in draw(st.lists(above, min_size=1 + joined, max_size=3, unique=True)):
            low, high = sorted((size, sizes[source]))
            narrow = "one-to-one" if low == high else "split" if sizes[source] == low else "merge"
            nests = high % low == 0 and draw(st.booleans())
            carried = _carried(sizes[source], size, rate[source]) if draw(st.booleans()) else None
            edges.append(Edge(source, i, narrow if nests else "full", carried))  # type: ignore[arg-type]
            rate[i] = rate.get(i, 0.0) + rate[source]
    return Topology(tuple(made), tuple(edges)), records


def _carried(senders: int, receivers: int, rate: float) -> Substreams:
    keys = np.arange(KEYS)
    pairs, common = np.unique([keys * senders // KEYS, keys * receivers // KEYS], axis=1, return_counts=True)
    return Substreams(pairs[0], pairs[1], common * rate)


@given(keyed_jobs(), st.data())
def test_equals_the_share_of_whole_records_of_a_keyed_job(
    job: tuple[Topology, dict[int, int]], data: st.DataObject
) -> None:
    """Sources emit records of every key; a union passes them on, a join pairs those of one key: which are whole?"""
    topology, emitted = job
    graph = TaskGraph(topology)
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    whole, every = 0, 0
    for key in range(KEYS):
        records: dict[int, list[bool]] = {}
        for i, made in enumerate(topology.operators):
            up = bool(live[graph.number(made.id, key * made.parallelism // KEYS)])
            arriving = [records[edge.source] for edge in graph.in_edges[i]]
            if i in emitted:
                records[i] = [up] * emitted[i]
            elif made.inputs == "correlated":
                records[i] = [up and all(pair) for pair in itertools.product(*arriving)]
            else:
                records[i] = [up and record for stream in arriving for record in stream]
        whole, every = whole + sum(records[i]), every + len(records[i])
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(whole / every)


@given(joined_topologies(), st.data())
def test_useful_tasks_and_single_changes(topology: Topology, data: st.DataObject) -> None:
    """Without all useless tasks nothing changes, without any useful one it does; on rows as on tasks."""
    graph = TaskGraph(topology)
    model = key_aligned_model(graph, rates(graph))
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    needed, value = useful(model, live), model.fidelity(live)
    assert not (needed & ~live).any()
    assert model.fidelity(needed) == pytest.approx(value, abs=1e-12)
    change = gains(model, live).change
    for task in range(graph.tasks):
        other = live.copy()
        other[task] = not live[task]
        without = model.fidelity(other)
        if live[task]:
            assert (without < value) == needed[task]
        assert change[task] >= 0.0
        if not live[task] and change[task] > 1e-12:
            assert without > value
