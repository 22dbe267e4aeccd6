"""Internal completeness: how many of the records that tasks would process they still process ([Bellavista2014]).

It counts work that never reaches an output, and knows no joins: [SuZhou2016], section VI-B, shows where it
misleads. It is here for comparison.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel, fidelity_model
from ftplan.model.rates import Rates
from ftplan.model.task_graph import TaskGraph


def completeness_model(graph: TaskGraph, rates: Rates) -> FidelityModel:
    """Return a model whose ``fidelity`` is the internal completeness, and whose ``slope`` is how that grows.

    Where joins count as independent, the share of its records that a live task still processes obeys the recursion
    of what is intact in output fidelity. So all tasks are its outputs, and each weighs what it processes without
    failure: its input, a source its ``rate_out``; all weigh the same where nothing is processed at all.
    """
    operators = tuple(replace(operator, inputs="independent") for operator in graph.topology.operators)
    unjoined = TaskGraph(replace(graph.topology, operators=operators))
    processed = rates.into.copy()
    for i, edges in enumerate(graph.in_edges):
        if not edges:
            processed[graph.slice_of(i)] = rates.out[graph.slice_of(i)]
    total = processed.sum()
    weight = processed / total if total > 0.0 else np.full(graph.tasks, 1.0 / max(1, graph.tasks))
    return replace(fidelity_model(unjoined, rates), outputs=np.arange(graph.tasks), weight=weight)
