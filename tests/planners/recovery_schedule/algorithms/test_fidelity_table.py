"""The most fidelity at each cost by tables: no set of tasks exceeds it, and behind full edges it is the optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.bound import most_by_table
from tests.planners.recovery_schedule.algorithms.fidelity_cases import layers
from tests.topologies import topologies


@given(topologies(operators=4, parallelism=2), st.sampled_from([1.0, 0.25, 1 / 3, 0.1234567]), st.data())
@settings(deadline=None, max_examples=80)
def test_no_set_of_tasks_exceeds_the_table(topology: Topology, core: float, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    model = fidelity_model(graph, rates(graph))
    toll = graph.per_task("cpu") * core
    state = np.array([data.draw(st.sampled_from(["live", "able", "able", "gone"])) for _ in range(graph.tasks)])
    live, able = state == "live", state == "able"
    limit = np.array([0.0, 1.0, 2.5, 4.0, 100.0]) * core
    most = most_by_table(graph, model, live, able, toll, limit, Budget(3600))
    for chosen in itertools.product([False, True], repeat=int(able.sum())):
        running = live.copy()
        running[np.flatnonzero(able)[list(chosen)]] = True
        used = float(toll[running & able].sum())
        assert np.all(model.fidelity(running) <= most[used <= limit] + 1e-12)


def test_a_chain_of_full_edges_is_the_product_of_its_shares() -> None:
    graph = TaskGraph(layers(4, 12))
    model = fidelity_model(graph, rates(graph))
    nothing = np.zeros(graph.tasks, dtype=np.bool_)
    limit = np.array([0.0, 4.0, 24.0, 26.0, 48.0])
    most = most_by_table(graph, model, nothing, ~nothing, np.ones(graph.tasks), limit, Budget(3600))
    assert most == pytest.approx([0.0, 12.0**-4, 0.5**4, (7 / 12) ** 2 * 0.25, 1.0])
    assert (
        most_by_table(graph, model, nothing, ~nothing, np.ones(graph.tasks), limit, Budget(0.0)).tolist() == [1.0] * 5
    )
