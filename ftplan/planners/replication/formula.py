"""The formula behind a problem's score, where exact methods know it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.metrics.fidelity import FidelityModel, fidelity_model
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.replication.problem import ReplicationProblem


def formula(problem: ReplicationProblem) -> FidelityModel | None:
    """Return a model whose fidelity is what the problem maximises; None where the score is something else."""
    if problem.score == problem.model.fidelity:
        return problem.model
    if problem.metric == "internal-completeness":
        model = completeness_model(problem)
        return model if _agrees(problem, model) else None
    return None


def completeness_model(problem: ReplicationProblem) -> FidelityModel:
    """Return internal completeness as a fidelity: all inputs independent, every task an output by what it processes.

    What a task emits shrinks as its input does, so what is intact of its output is the part of its input that arrives.
    """
    topology = problem.graph.topology
    operators = tuple(replace(operator, inputs="independent") for operator in topology.operators)
    graph = TaskGraph(replace(topology, operators=operators))
    model = fidelity_model(graph, problem.rates)
    source = np.array([not edges for edges in graph.in_edges], dtype=np.bool_)[graph.operator_of]
    processed = np.where(source, problem.rates.out, problem.rates.into)
    total = processed.sum()
    weight = processed / total if total > 0.0 else np.full(graph.tasks, 1.0 / max(1, graph.tasks))
    return FidelityModel(model.levels, np.arange(graph.tasks), weight)


def _agrees(problem: ReplicationProblem, model: FidelityModel) -> bool:
    """Return whether a model gives the problem's score, by samples: operators may count what a formula cannot tell."""
    draw = np.random.default_rng(0)
    samples = [np.ones(problem.tasks, dtype=np.bool_)]
    samples += [draw.random(problem.tasks) < part for part in (0.95, 0.8, 0.5)]
    return all(abs(problem.score(live) - model.fidelity(live)) <= 1e-9 for live in samples)
