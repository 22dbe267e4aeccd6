"""Internal completeness against a sum by hand, and live MC-trees against the list of all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ftplan.io.topology_file import load_topology
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.replicate_tasks.mc_trees import count_mc_trees, trees_through
from ftplan.planners.replicate_tasks.prepare import completeness_model
from tests.io.examples import topology
from tests.planners.replicate_tasks.mc_tree_cases import mc_trees


def graph() -> TaskGraph:
    return TaskGraph(load_topology(topology()).value)


def test_what_is_processed_without_some_tasks() -> None:
    """Four flights and two weathers emit 1 each; every join gets 1 + 0.5, every report two joins' 1.5."""
    job = graph()
    whole = 6 + 4 * 1.5 + 2 * 3.0
    assert completeness_model(job, rates(job)).fidelity(np.ones(job.tasks, dtype=np.bool_)) == pytest.approx(1.0)
    live = np.ones(job.tasks, dtype=np.bool_)
    live[job.number("flights", 0)] = False
    kept = 5 + (3 * 1.5 + 0.5) + (3.0 + 2.0)
    assert completeness_model(job, rates(job)).fidelity(live) == pytest.approx(kept / whole)
    live[job.number("report", 0)] = False
    assert completeness_model(job, rates(job)).fidelity(live) == pytest.approx((kept - 2.0) / whole)


def test_live_trees_are_those_of_live_tasks() -> None:
    job = graph()
    trees = list(mc_trees(job))
    assert count_mc_trees(job, np.ones(job.tasks, dtype=np.bool_)) == count_mc_trees(job) == len(trees)
    for dead in itertools.combinations(range(job.tasks), 2):
        live = np.ones(job.tasks, dtype=np.bool_)
        live[list(dead)] = False
        assert count_mc_trees(job, live) == sum(not tree & set(dead) for tree in trees)
        assert trees_through(job, live, dead[0]) == sum(dead[0] in tree and dead[1] not in tree for tree in trees)
