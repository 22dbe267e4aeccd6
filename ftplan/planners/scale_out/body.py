"""The body of a scale-out: its fields, and what writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, KeyGroups, NonNegative
from ftplan.model.plan import finite
from ftplan.planners.scale_out.metrics import ScaledFigures, bound_by, fairness_of
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import as_it_runs, highest_use, task_state


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
        "bound_by": bound_by(problem, number, item),
    }


def use_known(prepared: PreparedScaling, number: int) -> bool:
    """Return whether it is known how many tasks the demand on an operator keeps busy: none, where there is none."""
    return bool(prepared.sized_for[number] == 0.0) or prepared.problem.operators[number].use > 0.0


class OperatorScalingModel(FileModel):
    """An operator: whether it is a bottleneck, and what it gets."""

    operator: Id = Field(description="Operator id")
    score: float | None = Field(None, description="Of its worst task in the last window, 0 to 100")
    state: Literal["normal", "prepared", "promoted", "scale-in"] = Field(description="By the scores of all windows")
    technique: str | None = Field(
        None, description="active-backup, checkpoint or assisted; null where no state has to go, or nothing changes"
    )
    parallelism_from: Index = Field(description="Tasks now")
    parallelism_to: Index = Field(description="Tasks afterwards")
    key_ranges: list[KeyGroups] | None = Field(
        None,
        description="First and last key group of each task afterwards; null without keyed state, and where tasks that "
        "stay outnumber key groups",
    )
    nodes: list[Id] | None = Field(None, description="Node of each task afterwards; null where unknown")
    state_bytes: list[NonNegative] | None = Field(None, description="State of each task afterwards")
    pause_s: NonNegative | None = Field(None, description="Seconds without output while it is split")
    extra_core_s: NonNegative | None = Field(
        None, description="Core-seconds of tasks that run beside those that are needed before and afterwards"
    )
    fairness: float | None = Field(
        None, description="Cores that it had over those that it needed, since it crossed the alarming threshold"
    )
    steps: list[str] | None = Field(None, description="What is done, in order")
    reason: str | None = Field(None, description="Why so many tasks, and why by this technique")
    utilisation_from: NonNegative | None = Field(None, description="Of its busiest task at the demand, as it runs now")
    utilisation_to: NonNegative | None = Field(None, description="Of its busiest task at the demand, afterwards")
    bound_by: str | None = Field(
        None,
        description="What it has so many tasks for: demand or task-memory; or what keeps it from those that it lacks: "
        "key-group, max-parallelism, key-groups, slots, cores",
    )


class ScaleOutBody(FileModel):
    """What a plan of kind scale-out holds; one made by hand needs operator, state and the two parallelisms."""

    operators: list[OperatorScalingModel] = Field(
        description="Those that change in the order in which that is done, then the others"
    )


BODY = ScaleOutBody
