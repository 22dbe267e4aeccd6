"""Annealing over tasks: within room and pool, repeatable, and never less with more passes."""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.search import gains_of
from ftplan.planners.recovery_schedule.algorithms.repair.search.task_annealing import anneal_tasks
from tests.planners.recovery_schedule.algorithms.fidelity_cases import random_job
from tests.planners.recovery_schedule.algorithms.repair_cases import scattered
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first


def test_more_passes_never_gain_less_and_everything_fits() -> None:
    for seed in range(15):
        problem = random_job(seed, 8)
        instance = at_first(problem)
        own = gains_of(instance, problem.graph, fidelity_model(problem.graph, rates(problem.graph)), Budget(3600))
        start = scattered(instance, Budget(3600), seed)
        values = [own.gained(start)]
        for passes in (0, 1, 2, 3, 7):
            found = anneal_tasks(instance, start, own.gained, Budget(3600, iterations=passes), seed)
            assert instance.fits(found.host)
            assert sorted(found.order.tolist()) == list(range(len(instance.task)))
            values.append(own.gained(found))
        assert np.all(np.diff(values) >= 0.0)
        again = anneal_tasks(instance, start, own.gained, Budget(3600, iterations=7), seed)
        assert again.host.tolist() == found.host.tolist()
        assert anneal_tasks(instance, start, own.gained, Budget(0.0), seed) is start
