"""Why an operator gets so many tasks, or none more; and what is done to replace them, in order and in words."""

from __future__ import annotations

from ftplan.model.violation import over
from ftplan.planners.scale_out.effects import highest_use, lacks_memory, lacks_tasks, required_tasks
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.problem import OperatorScaling, ScalableOperator, ScalingProblem
from ftplan.planners.scale_out.techniques.costs import ACTIVE_BACKUP, CHECKPOINT, TechniqueCost
from ftplan.reports.numbers import SPACE, count, duration, size

TOO_MUCH_STATE = "its tasks suffice at the demand, but one has more state than it may hold"


def steps(problem: ScalingProblem, scaling: OperatorScaling, cost: TechniqueCost) -> list[str]:
    """Return the steps by which an operator gets its new tasks, with the time that each takes.

    They follow Algorithms 2 and 3 of [Mudassar2019], and ``cpal`` of [Madsen2015] for assisted migration.
    """
    return [text.replace(SPACE, " ") for text in _steps(problem, scaling, cost)]


def _steps(problem: ScalingProblem, scaling: OperatorScaling, cost: TechniqueCost) -> list[str]:
    operator = problem.operators[scaling.operator]
    old, new = count(operator.parallelism, "old task"), count(scaling.parallelism, "new task")
    start = f"start {new}"
    if scaling.nodes:
        start += f" on {count(len(set(scaling.nodes)), 'node')}"
    last = f"stop the {old}" if operator.parallelism > 1 else "stop the old task"
    if not operator.keyed:
        divide = "divide the input streams over the new tasks, with sequence numbers to restore the order"
        return [f"{start}, {duration(cost.ready_s)}", divide, last]
    when, until = _when(operator)
    if cost.technique == ACTIVE_BACKUP:
        made = _active_backup(cost, f"{when}{start} as a secondary", until)
    elif cost.technique == CHECKPOINT:
        made = _checkpoint(cost, when, start, until)
    else:
        made = _assisted(cost, f"{until}{start}")
    back = "the secondary" if cost.technique == ACTIVE_BACKUP else "what was prepared"
    if operator.state == "prepared" and cost.technique is not None:
        last += f"; if its score falls below the alarming threshold first, stop {back} instead"
    return [*made, last]


def _when(operator: ScalableOperator) -> tuple[str, str]:
    """Return when an operator is prepared, and when it is promoted."""
    if operator.state == "prepared":
        return "now, as it is above the alarming threshold: ", "once it is above the promotion threshold: "
    return "", ""


def _active_backup(cost: TechniqueCost, start: str, until: str) -> list[str]:
    late = f", {duration(cost.late_s)} late: the old tasks go on until then" if cost.late_s > 0.0 else ""
    return [
        f"{start}, {duration(cost.ready_s - cost.transfer_s)}",
        f"copy the state by key range, {size(cost.moved_bytes)} over the network in {duration(cost.transfer_s)}, and "
        "note which record of each input stream was the last",
        "send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out",
        f"{until}connect the outputs of the new tasks instead of the old ones, {duration(cost.pause_s)}{late}",
    ]


def _checkpoint(cost: TechniqueCost, when: str, start: str, until: str) -> list[str]:
    late = f", of which {duration(cost.late_s)} are left at the promotion" if cost.late_s > 0.0 else ""
    stored = "store the state beside its regular checkpoints, not upstream, and trim upstream buffers"
    again = f" ({count(cost.checkpoints, 'checkpoint')} until then)" if cost.checkpoints > 1 else ""
    prepare = f"{when}{stored}{again}" if cost.checkpoints else f"{when}go on with its regular checkpoints"
    return [
        prepare,
        f"{start}, without state; {'that and the first checkpoint take' if cost.checkpoints else 'that takes'} "
        f"{duration(cost.ready_s)}{late}",
        f"{until}load the newest checkpoint by key range, {size(cost.moved_bytes)} in all, the slowest task in "
        f"{duration(cost.transfer_s)}",
        "send what upstream buffers hold to the new task with its key group, and work it off, "
        f"{duration(cost.replay_s)}; with what comes in meanwhile the pause is {duration(cost.pause_s)}",
        "divide the input streams, with sequence numbers to restore the order, and connect the outputs of the new "
        "tasks when they agree with the old ones",
    ]


def _assisted(cost: TechniqueCost, start: str) -> list[str]:
    made = [
        start,
        "turn the checkpoints that lie there into state and work off what came in since, while the old tasks go on, "
        f"{duration(cost.replay_s)}; all that takes {duration(cost.ready_s)}",
    ]
    if cost.moved_bytes > 0.0:
        made.append(
            f"send the state without a checkpoint there, {size(cost.moved_bytes)} in {duration(cost.transfer_s)}"
        )
    return [*made, f"turn the input streams over to the new tasks, pause {duration(cost.pause_s)}"]


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
