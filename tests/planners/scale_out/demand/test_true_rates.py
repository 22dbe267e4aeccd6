"""True rates and parallelism after DS2, by its formula and by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.scale_out.bottlenecks.histories import mean_true_rate, true_rates
from ftplan.planners.scale_out.demand.operator_demand import OperatorFlow, propagated, tasks_kept_busy
from ftplan.planners.scale_out.problem import required_tasks
from tests.effort import examples
from tests.planners.scale_out.scaling_cases import operator

NAN = math.nan


def test_only_the_time_of_work_counts() -> None:
    """A task that waits half of the time is as fast as one that never does."""
    records = np.array([[100.0, 50.0, 0.0, 10.0], [300.0, 150.0, 0.0, 10.0]])
    busy_s = np.array([[1.0, 0.5, 0.0, NAN], [3.0, 1.5, 0.0, NAN]])
    rates = true_rates(records, busy_s)
    np.testing.assert_array_equal(rates, [100.0, 100.0, NAN, NAN])
    assert mean_true_rate(rates) == 100.0
    assert math.isnan(mean_true_rate(rates[2:]))


def test_windows_whose_busy_time_is_unknown_are_left_out() -> None:
    assert true_rates(np.array([[80.0], [1e9], [20.0]]), np.array([[1.0], [NAN], [1.0]])).tolist() == [50.0]


#: By hand, after the formula of DS2's section 3: optimal parallelism of an operator = what reaches it at the rates of
#: the sources, over its aggregated true rate by its number of instances, rounded up.
#: source 1,000/s -> split (2 instances of 250/s, 2 records out for each in) -> count (300/s and 500/s)
#: source 400/s -> filter (1 of 150/s, passes a quarter) -> join <- count (sends every tenth); join takes 90/s
DS2 = {
    "words": (0, 1_000.0, [4_000.0], 1),
    "clicks": (1, 400.0, [800.0], 1),
    "split": (2, 1_000.0, [250.0, 250.0], 4),
    "count": (3, 2_000.0, [300.0, 500.0], 5),
    "filter": (4, 400.0, [150.0], 3),
    "join": (5, 2_000.0 * 0.1 + 400.0 * 0.25, [90.0], 4),
}
FLOWS = [
    OperatorFlow(0, 2, 1.0),
    OperatorFlow(2, 3, 2.0),
    OperatorFlow(1, 4, 1.0),
    OperatorFlow(3, 5, 0.1),
    OperatorFlow(4, 5, 0.25),
]


def test_parallelism_of_a_topology_by_hand() -> None:
    offered = np.full((6, 1), NAN)
    offered[0], offered[1] = 1_000.0, 400.0
    demand = propagated(range(6), FLOWS, offered)
    for number, needed, rates, tasks in DS2.values():
        assert demand[number, 0] == pytest.approx(needed)
        use = tasks_kept_busy(demand[number, 0], mean_true_rate(np.array(rates)))
        assert required_tasks(operator(use=use), 1.0) == tasks


@pytest.mark.parametrize(
    ("demand", "rate", "target", "tasks"),
    [
        (1_000.0, 250.0, 1.0, 4),  # exactly: no instance more for rounding
        (1_000.1, 250.0, 1.0, 5),
        (0.1 + 0.2, 0.1, 1.0, 3),
        (1_000.0, 250.0, 0.7, 6),
        (0.0, 250.0, 1.0, 1),
        (NAN, 250.0, 1.0, 1),
        (1_000.0, NAN, 1.0, 1),
    ],
)
def test_required_parallelism(demand: float, rate: float, target: float, tasks: int) -> None:
    assert required_tasks(operator(use=tasks_kept_busy(demand, rate)), target) == tasks


@st.composite
def _graphs(draw: st.DrawFn) -> tuple[int, list[OperatorFlow]]:
    count = draw(st.integers(1, 7))
    pairs = [(i, j) for j in range(count) for i in range(j) if draw(st.booleans())]
    return count, [OperatorFlow(i, j, draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))) for i, j in pairs]


@settings(max_examples=examples(100))
@given(_graphs(), st.lists(st.floats(0, 1e6), min_size=7, max_size=7))
def test_demand_is_what_all_paths_from_sources_bring(
    graph: tuple[int, list[OperatorFlow]], rates: Sequence[float]
) -> None:
    """Each path multiplies its selectivities; networkx lists the paths."""
    count, flows = graph
    known = nx.DiGraph()
    known.add_nodes_from(range(count))
    known.add_edges_from((flow.source, flow.target, {"s": flow.selectivity}) for flow in flows)
    sources = [i for i in range(count) if known.in_degree(i) == 0]
    offered = np.full((count, 2), NAN)
    for i in sources:
        offered[i] = rates[i], 2.0 * rates[i]
    demand = propagated(list(nx.topological_sort(known)), flows, offered)
    for i in range(count):
        expected = rates[i] if i in sources else 0.0
        for source in sources:
            for path in nx.all_simple_paths(known, source, i) if i != source else ():
                expected += rates[source] * math.prod(known.edges[edge]["s"] for edge in nx.utils.pairwise(path))
        assert demand[i] == pytest.approx([expected, 2.0 * expected])


def test_what_is_known_by_itself_is_not_derived_and_what_is_not_stays_unknown() -> None:
    offered = np.array([[NAN], [7.0], [NAN], [NAN]])
    demand = propagated(range(4), [OperatorFlow(0, 1, 1.0), OperatorFlow(1, 2, 3.0), OperatorFlow(0, 3, 1.0)], offered)
    np.testing.assert_array_equal(demand, [[NAN], [7.0], [21.0], [NAN]])
