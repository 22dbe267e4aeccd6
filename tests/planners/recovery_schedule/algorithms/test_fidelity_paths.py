"""Fidelity as a sum over sets of tasks is fidelity."""

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
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.paths import fidelity_paths
from tests.planners.recovery_schedule.algorithms.fidelity_cases import layers
from tests.topologies import topologies


@given(topologies(operators=4, parallelism=3), st.data())
@settings(deadline=None, max_examples=100)
def test_the_sum_is_the_fidelity_of_every_set_of_tasks(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    model = fidelity_model(graph, rates(graph))
    state = np.array([data.draw(st.sampled_from(["live", "asked", "asked", "gone"])) for _ in range(graph.tasks)])
    asked = np.flatnonzero(state == "asked")[:7]
    may_run = np.isin(np.arange(graph.tasks), asked)
    paths = fidelity_paths(model, state == "live", may_run, Budget(3600))
    assert paths is not None
    assert np.all(paths.weight > 0.0)
    assert len(set(paths.sets)) == len(paths.sets)
    for chosen in itertools.product([False, True], repeat=len(asked)):
        live = state == "live"
        live[asked[list(chosen)]] = True
        assert paths.fidelity(live) == pytest.approx(model.fidelity(live), abs=1e-12)


def test_too_many_products_are_not_written_out() -> None:
    graph = TaskGraph(layers(4, 12))
    model = fidelity_model(graph, rates(graph))
    nothing = np.zeros(graph.tasks, dtype=np.bool_)
    assert fidelity_paths(model, nothing, ~nothing, Budget(3600), most=10_000) is None
    assert fidelity_paths(model, nothing, ~nothing, Budget(0.0)) is None
