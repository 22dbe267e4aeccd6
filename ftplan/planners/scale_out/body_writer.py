"""A scale-out as the plan file holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.model.plan import finite
from ftplan.planners.scale_out.effects import as_it_runs, highest_use, task_state
from ftplan.planners.scale_out.fairness_metrics import fairness_of
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.prepare import PreparedScaling


def body(
    figures: ScaledFigures, reasons: Mapping[int, str] | None = None, steps: Mapping[int, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Return the body of a plan: operators that change in the order in which that is done, then the others.

    *reasons* and *steps* are sentences, by number of the operator.
    """
    changed = [item.operator for item in figures.scaling.operators]
    others = [number for number in range(len(figures.problem.operators)) if number not in set(changed)]
    return {
        "operators": [
            {
                **operator_of(figures, number),
                "steps": list((steps or {}).get(number, ())),
                "reason": (reasons or {}).get(number),
            }
            for number in (*changed, *others)
        ]
    }


def operator_of(figures: ScaledFigures, number: int) -> dict[str, Any]:
    """Return what a plan states of an operator, but for sentences."""
    problem, item = figures.problem, figures.scaling.by_operator.get(number)
    operator = problem.operators[number]
    after = item or as_it_runs(problem, number)
    cost = figures.costs.get(number)
    split = figures.pauses.get(number)
    state = task_state(operator, after.parallelism, after.ranges)
    ranged = after.parallelism <= operator.key_groups  # else some tasks have no key group, as they are now
    known = use_known(figures.prepared, number)
    return {
        "operator": operator.id,
        "score": finite(operator.score),
        "state": operator.state,
        "technique": None if split is None else split.technique,
        "parallelism_from": operator.parallelism,
        "parallelism_to": after.parallelism,
        "key_ranges": [list(pair) for pair in after.ranges] if ranged else None,
        "nodes": [problem.nodes[node] for node in after.nodes] if after.nodes else None,
        "state_bytes": state.tolist() if operator.keyed else None,
        "pause_s": None if cost is None else finite(cost.pause_s),
        "extra_core_s": None if cost is None else finite(cost.extra_core_s),
        "fairness": fairness_of(figures.prepared, number),
        "utilisation_from": highest_use(operator, None) if known else None,
        "utilisation_to": highest_use(operator, item) if known else None,
    }


def use_known(prepared: PreparedScaling, number: int) -> bool:
    """Return whether it is known how many tasks the demand on an operator keeps busy: none, where there is none."""
    return bool(prepared.sized_for[number] == 0.0) or prepared.problem.operators[number].use > 0.0
