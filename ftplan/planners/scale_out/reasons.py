"""Why an operator gets so many tasks, or none more, in words."""

from __future__ import annotations

from ftplan.model.violation import over
from ftplan.planners.scale_out.effects import highest_use, lacks_memory, lacks_tasks, required_tasks
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.problem import ScalableOperator

TOO_MUCH_STATE = "its tasks suffice at the demand, but one has more state than it may hold"


def why_so_many(figures: ScaledFigures, number: int) -> str:
    """Say why an operator has so many tasks afterwards: what the demand needs, and what its busiest task would have."""
    problem, item = figures.problem, figures.scaling.by_operator.get(number)
    operator, target = problem.operators[number], problem.limits.target
    now = highest_use(operator, None)
    if item is None and not operator.use > 0.0:
        return "nothing is demanded of it, or how many tasks that needs is not known: it stays as it is"
    if item is None:
        state = "normal" if operator.state == "scale-in" and operator.parallelism == 1 else operator.state
        if _lacks_memory_alone(operator, target) and state in ("prepared", "promoted"):
            return f"{TOO_MUCH_STATE}: no new tasks find room, or none help"
        return _stays(state, lacks_tasks(operator, target), now, target)
    then = highest_use(operator, item)
    need = required_tasks(operator, target)
    text = f"the demand keeps {operator.use:.3g} tasks busy, {need:,} at {target:g} if it were even"
    skew = f"; with these key ranges the busiest one has {then:.3g}, now {now:.3g}" if operator.keyed else ""
    if item.parallelism < operator.parallelism:
        return f"{text}: {'none suffice, fewer are less busy' if over(then, target) else 'fewer suffice'}{skew}"
    if _lacks_memory_alone(operator, target):
        return f"{TOO_MUCH_STATE}{skew}"
    if operator.state == "normal":
        text = f"a bottleneck before it keeps it idle: {text}"
    return text + skew + ("; no more find room, or none helps" if over(then, target) else "")


def _lacks_memory_alone(operator: ScalableOperator, target: float) -> bool:
    return lacks_memory(operator) and not lacks_tasks(operator, target)


def _stays(state: str, lacks: bool, now: float, target: float) -> str:
    if lacks:
        text = f"its busiest task would have {now:.3g} at the demand, above {target:g}"
        return f"{text}: no new tasks find room, or none help"
    if state in ("prepared", "promoted"):
        return f"its tasks suffice at the demand, the busiest has {now:.3g}: it is not the bottleneck"
    text = f"its tasks suffice at the demand, the busiest has {now:.3g}"
    return f"{text}: fewer do not, or find no room beside the old ones" if state == "scale-in" else text
