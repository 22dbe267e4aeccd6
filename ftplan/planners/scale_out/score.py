"""What a scale-out is worth on other statistics, and which of its new tasks are on nodes that fail."""

from __future__ import annotations

from ftplan.io.selector_checks import check_selector
from ftplan.model.failure import Failure
from ftplan.model.names import parse_selector
from ftplan.model.plan import Plan, finite
from ftplan.model.problem import Problem
from ftplan.model.violation import over
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.scale_out.from_plan import figures_of, numbered, question_of
from ftplan.planners.scale_out.metrics import mean_of
from ftplan.planners.scale_out.problem import extra_cpu, highest_use, sustained_load
from ftplan.planners.scenarios import with_scenario_fails


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Return the metrics of a scale-out. Nodes that fail take their new tasks with them; nothing else depends on them.

    Raises FtplanError if an input is missing, or the plan names what the problem does not have.
    """
    prepared = question_of(plan, problem)
    question = prepared.problem
    scaling = numbered(plan, question)
    figures = figures_of(plan, prepared, scaling)
    failure = with_scenario_fails(problem).failure or Failure()
    failures = [entry.select for entry in failure.fail] + [parse_selector(text) for text in asked.fail]
    for selector in failures:
        check_selector(selector, prepared.topology, prepared.cluster, [a.node for a in failure.arrivals])
    gone: set[str] = set()
    if prepared.cluster is not None:
        zones = [s for s in failures if s.kind in ("node", "zone")]
        gone = {node for selector in zones for node in prepared.cluster.nodes_of(selector)}
    placed = [question.nodes[node] for item in scaling.operators for node in item.nodes]
    uses = [highest_use(operator, scaling.by_operator.get(k)) for k, operator in enumerate(question.operators)]
    extra = extra_cpu(question, scaling)
    return Scores(
        {
            "sustained-load": sustained_load(question, scaling),
            "extra-cpu": extra,
            "cpu": sum(operator.parallelism * operator.cpu for operator in question.operators) + extra,
            "highest-utilisation": max(uses, default=0.0),
            "operators-above-target": float(sum(over(use, question.limits.target) for use in uses)),
            "fairness": mean_of(prepared, scaling),
            "pause-s": finite(figures.longest_pause_s),
            "extra-core-seconds": finite(figures.extra_core_s),
            "state-bytes": figures.moved_bytes,
            "operators-changed": float(len(scaling.operators)),
            "tasks-lost": float(sum(node in gone for node in placed)),
        },
        tuple(dict.fromkeys(map(str, failures))),
        question.warnings,
    )
