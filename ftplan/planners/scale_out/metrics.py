"""What follows from a scale-out: what each operator gets and why, what is done for it, what that costs, how fair it is.

The fairness degree is the resources that operators had over those that they needed: [Mudassar2019], equations 3 to 6.
It leaves open from when on, and in which unit: here in cores, from the window in which the operator crossed the
alarming threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.violation import over
from ftplan.planners.scale_out.parallelism import OperatorSizing
from ftplan.planners.scale_out.prepare import PreparedScaling
from ftplan.planners.scale_out.problem import (
    OperatorScaling,
    ScalableOperator,
    Scaling,
    ScalingProblem,
    highest_use,
    lacks_memory,
    lacks_tasks,
    largest_state,
    required_tasks,
)
from ftplan.planners.scale_out.rules import SplitPause
from ftplan.planners.scale_out.techniques.costs import ACTIVE_BACKUP, CHECKPOINT, TechniqueCost, technique_costs
from ftplan.reports.numbers import SPACE, count, duration, size


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
    return _why_so_many(figures, number).replace(SPACE, " ")


def _why_so_many(figures: ScaledFigures, number: int) -> str:
    problem, item = figures.problem, figures.scaling.by_operator.get(number)
    operator, target = problem.operators[number], problem.limits.target
    now = highest_use(operator, None)
    if item is None and not operator.use > 0.0:
        return "nothing is demanded of it, or how many tasks that needs is not known: it stays as it is"
    bound = bound_by(problem, number, item)
    if item is None:
        if lacks_tasks(operator, target):
            return f"its busiest task would have {now:.3g} at the demand, above {target:g}{_kept(bound)}"
        if lacks_memory(operator):
            return f"the demand keeps {operator.use:.3g} tasks busy, {_too_full(operator, None)}{_kept(bound)}"
        state = "normal" if operator.state == "scale-in" and operator.parallelism == 1 else operator.state
        return _stays(state, now, _fullest(figures.prepared, number))
    then = highest_use(operator, item)
    need = required_tasks(operator, target)
    text = f"the demand keeps {operator.use:.3g} tasks busy, {need:,} at {target:g} if it were even"
    skew = f"; with these key ranges the busiest one has {then:.3g}, now {now:.3g}" if operator.keyed else ""
    if bound == "task-memory":
        sizing = OperatorSizing(operator, problem.split, target)
        text += f", {sizing.enough_for_demand:,} with its key groups; its state needs {item.parallelism:,} of at most "
        text += f"{size(operator.task_memory)} each ({operator.task_memory_by})"
    if item.parallelism < operator.parallelism:
        return f"{text}: {'fewer are no busier' if over(then, target) else 'fewer suffice'}{skew}"
    if operator.state == "normal":
        text = f"a bottleneck before it keeps it idle: {text}"
    if over(largest_state(operator, item), operator.task_memory):
        skew += f", {_too_full(operator, item)}"
    return text + skew + (_kept(bound) if over(then, target) else "")


def bound_by(problem: ScalingProblem, number: int, item: OperatorScaling | None) -> str | None:
    """Return what an operator has so many tasks for, or what keeps it from more: :meth:`OperatorSizing.bound_by`."""
    operator = problem.operators[number]
    if not operator.use > 0.0:
        return None
    return OperatorSizing(operator, problem.split, problem.limits.target).bound_by(item)


def _too_full(operator: ScalableOperator, item: OperatorScaling | None) -> str:
    most = f"of at most {size(operator.task_memory)} ({operator.task_memory_by})"
    return f"its fullest task has {size(largest_state(operator, item))} of state, {most}"


def _kept(bound: str | None) -> str:
    """Say what keeps an operator from more tasks."""
    return {
        "key-group": ": one key group alone is too heavy, no parallelism helps",
        "cores": ": more find no room, or another operator holds its job back",
        "slots": ": all slots together do not suffice",
        "key-groups": ": it has too few key groups",
        "max-parallelism": ": the most tasks that may be do not suffice",
    }.get(bound or "", "")


def _fullest(prepared: PreparedScaling, number: int) -> float:
    """Return the memory in use of the task of an operator that has most in use in the last window, in percent."""
    memory = prepared.histories[number].memory[-1]
    return float(np.nanmax(memory)) if np.isfinite(memory).any() else 0.0


def _stays(state: str, now: float, memory: float) -> str:
    if state in ("prepared", "promoted") and memory >= FULL:
        text = f"its tasks suffice at the demand, the busiest has {now:.3g}; the memory of one is {memory:.3g} % full,"
        return f"{text} and not by the state of its key groups: more tasks do not help"
    if state in ("prepared", "promoted"):
        return f"its tasks suffice at the demand, the busiest has {now:.3g}: it is not the bottleneck"
    text = f"its tasks suffice at the demand, the busiest has {now:.3g}"
    return f"{text}: fewer do not, or find no room beside the old ones" if state == "scale-in" else text


#: Percent of its memory from which a task is said to be full: from here on scores rise.
FULL = 90.0
#: States of a bottleneck, or of what will soon be one.
BOTTLENECK = ("prepared", "promoted")

AUTO = "auto"


def needed_cores(use: FloatArray, target: float, cpu: float) -> FloatArray:
    """Return the cores that an operator needs in each window, (W,): those of the fewest tasks at the target.

    *use* (W,) is how many tasks its demand keeps busy, *cpu* the cores of one task; it needs one task at least. A
    window of unknown demand (NaN) needs NaN cores.
    """
    return np.asarray(np.maximum(np.ceil(use / target * (1.0 - ROUNDING)), 1.0) * cpu)


def fairness_degree(had: FloatArray | float, needed: FloatArray) -> float | None:
    """Return the cores that an operator had over those that it needed, summed over windows (equation 5), at most 1.

    *needed* (W,) are the windows since it crossed the alarming threshold, *had* (W,) or one number. Windows of unknown
    demand are left out; None where none is left. [Mudassar2019] has a degree of at most 1 since a bottleneck needs
    more than it has; what an operator has too much is left out here too.
    """
    known = ~np.isnan(needed)
    if not known.any():
        return None
    total = float(needed[known].sum())
    return min(1.0, float(np.broadcast_to(had, needed.shape)[known].sum()) / total) if total > 0.0 else 1.0


def mean_fairness(degrees: Iterable[float | None]) -> float | None:
    """Return the mean over the operators that are bottlenecks (equation 6), None without any; None is left out."""
    known = [degree for degree in degrees if degree is not None]
    return sum(known) / len(known) if known else None


def fairness_of(prepared: PreparedScaling, number: int, item: OperatorScaling | None = None) -> float | None:
    """Return the fairness degree of an operator ([Mudassar2019], equation 5) from its last crossing to the end.

    As it ran, or as if it had had the tasks of *item*; None for what is no bottleneck.
    """
    operator = prepared.problem.operators[number]
    if operator.state not in BOTTLENECK:
        return None
    needed = needed_cores(prepared.histories[number].needed, prepared.problem.limits.target, operator.cpu)
    since = needed[_crossed(prepared, number) :]
    tasks = operator.parallelism if item is None else item.parallelism
    return fairness_degree(tasks * operator.cpu, since)


def mean_of(prepared: PreparedScaling, scaling: Scaling) -> float | None:
    """Return the mean over all bottlenecks as if they had had the tasks of a scaling (equation 6)."""
    count = len(prepared.problem.operators)
    return mean_fairness(fairness_of(prepared, number, scaling.by_operator.get(number)) for number in range(count))


def _crossed(prepared: PreparedScaling, number: int) -> int:
    """Return the window in which an operator crossed the alarming threshold last, 0 where it always was above."""
    events = prepared.timelines[number].events
    crossings = [e.window for e in events if e.after in BOTTLENECK and e.before not in BOTTLENECK]
    return crossings[-1] if crossings else 0


@dataclass(frozen=True, eq=False)
class ScaledFigures:
    """A scale-out by numbers, and what follows from it."""

    prepared: PreparedScaling
    scaling: Scaling
    #: The technique by which each operator that changes is split, by number; those that are not in it go by the
    #: cheapest one
    stated: Mapping[int, str | None]
    allowed: str = AUTO  # the technique that was asked for, or ``auto``

    @property
    def problem(self) -> ScalingProblem:
        """The question."""
        return self.prepared.problem

    @cached_property
    def options(self) -> Mapping[int, tuple[TechniqueCost, ...]]:
        """What each technique costs for each operator that changes."""
        return {
            item.operator: technique_costs(self.problem, item, self.prepared.setting) for item in self.scaling.operators
        }

    @cached_property
    def costs(self) -> Mapping[int, TechniqueCost | None]:
        """What splitting each operator costs by its technique, None where that is none that there is."""
        return {item.operator: self._cost(item) for item in self.scaling.operators}

    def _cost(self, item: OperatorScaling) -> TechniqueCost | None:
        known = self.options[item.operator]
        if item.operator in self.stated:
            technique = self.stated[item.operator]
            return next((cost for cost in known if cost.technique == technique), None)
        able = [cost for cost in known if cost.technique in self._possible(item.operator)] or list(known)
        return min(able, key=lambda cost: (cost.extra_core_s, cost.pause_s))

    def _possible(self, operator: int) -> tuple[str | None, ...]:
        asked = (AUTO, None)
        return tuple(
            cost.technique
            for cost in self.options[operator]
            if cost.why_not is None and (self.allowed in asked or cost.technique in (None, self.allowed))
        )

    @cached_property
    def pauses(self) -> Mapping[int, SplitPause]:
        """By which technique each operator is split, how long that pauses it, and which ones are possible."""
        made = {}
        for number, cost in self.costs.items():
            technique = self.stated.get(number, None if cost is None else cost.technique)
            pause = math.inf if cost is None else cost.pause_s
            made[number] = SplitPause(technique, pause, tuple(t for t in self._possible(number) if t is not None))
        return made

    @property
    def longest_pause_s(self) -> float:
        """Longest pause of an operator that is split."""
        return max((cost.pause_s for cost in self.costs.values() if cost is not None), default=0.0)

    @property
    def extra_core_s(self) -> float:
        """Core-seconds of what runs beside the tasks that are needed, over all operators."""
        return math.fsum(cost.extra_core_s for cost in self.costs.values() if cost is not None)

    @property
    def moved_bytes(self) -> float:
        """State that is sent to new tasks, over all operators."""
        return math.fsum(cost.moved_bytes for cost in self.costs.values() if cost is not None)
