"""What it costs to replace the tasks of an operator, by the technique that carries its state over.

``active-backup`` and ``checkpoint`` are those of [Mudassar2019] (Algorithms 2 and 3), ``assisted`` moves key groups to
the nodes where checkpoints of them lie, as [Madsen2015] (section 4) does. Shapes: O operators of a problem, P tasks of
one operator afterwards, K key groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.metrics.scaling_effects import even_ranges, task_use
from ftplan.metrics.scaling_problem import OperatorScaling, ScalableOperator, ScalingProblem
from ftplan.model.defaults import DELAY_S
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MB

ACTIVE_BACKUP, CHECKPOINT, ASSISTED = "active-backup", "checkpoint", "assisted"
#: The first of equals is taken.
TECHNIQUES: Final = (CHECKPOINT, ASSISTED, ACTIVE_BACKUP)


@dataclass(frozen=True, eq=False)
class TechniqueSetting:
    """What the cost of replacing tasks depends on: numbers, or arrays of shape (O,), one value for each operator.

    Attributes
    ----------
    setup_s
        Seconds that new tasks take to start, without state.
    bandwidth_mb_s
        Into and out of a node, or of each task without a cluster, in units of 2^20 bytes per second.
    lead_s
        Seconds from when an operator is prepared until it is promoted or normal again. 0 where it went straight past
        the promotion; NaN where nothing presses, so that it is prepared exactly as long before as that takes.
    interval_s
        Between checkpoints of an operator that is prepared.
    regular
        Whether it makes checkpoints at that interval in any case, so that they cost nothing extra.
    rate, record_bytes
        Records per second into the operator, and the size of one, for what is sent again from upstream buffers.
    serialisation_mb_s
        At which state is serialised, and read again.
    delay_s
        Of a message.
    queue_s
        Time that a message waits in an input queue: C of [Madsen2015].
    remote
        Checkpoints lie in a store that is as far from every node.
    """

    setup_s: float
    bandwidth_mb_s: float
    lead_s: ArrayLike = math.nan
    interval_s: ArrayLike = 60.0
    regular: ArrayLike = False
    rate: ArrayLike = 0.0
    record_bytes: ArrayLike = 0.0
    serialisation_mb_s: float = math.inf
    delay_s: float = DELAY_S
    queue_s: ArrayLike = DELAY_S
    remote: bool = False


class TechniqueCost(NamedTuple):
    """What replacing the tasks of an operator by a technique costs, and what it is made of.

    Attributes
    ----------
    technique
        None for an operator without keyed state.
    pause_s
        Seconds without output, until its records are as late as before; infinite where it never catches up.
    extra_core_s
        Core-seconds of new tasks before they take over and of old ones afterwards, and of extra checkpoints.
    bytes
        What goes over the network.
    ready_s
        From when it is prepared until it can be promoted.
    late_s
        How much of that is left when it is to be promoted.
    transfer_s, replay_s
        Of the task that takes longest: until its state is there, and the work on what came in since the checkpoint.
    checkpoints
        Extra ones that are made.
    moved_bytes
        State that is sent to a node, of all tasks.
    why_not
        Why it cannot be used, None where it can.
    """

    technique: str | None
    pause_s: float
    extra_core_s: float
    bytes: float = 0.0
    ready_s: float = 0.0
    late_s: float = 0.0
    transfer_s: float = 0.0
    replay_s: float = 0.0
    checkpoints: int = 0
    moved_bytes: float = 0.0
    why_not: str | None = None


def task_state(operator: ScalableOperator, ranges: Sequence[tuple[int, int]]) -> FloatArray:
    """Return the state of each task in bytes, by the first and last key group of each, (P,); none without any."""
    return _sums(operator.state_bytes, ranges)


def state_by_node(problem: ScalingProblem, scaling: OperatorScaling) -> FloatArray:
    """Return the bytes of each new task's state that lie on each node, (P, N): as checkpoints, else as it is now.

    Where state is not known each key group counts as one byte.
    """
    operator = problem.operators[scaling.operator]
    lies = operator.copies if any(operator.copies) else [(node,) for node in _homes(problem, scaling.operator)]
    state = operator.state_bytes if operator.state_bytes.any() else np.ones(operator.key_groups)
    by_group = np.zeros((operator.key_groups, len(problem.nodes)))
    for group, held in enumerate(lies):
        by_group[group, list(held)] = state[group]
    return np.array([by_group[first : last + 1].sum(axis=0) for first, last in scaling.ranges])


def technique_costs(
    problem: ScalingProblem, scaling: OperatorScaling, setting: TechniqueSetting
) -> tuple[TechniqueCost, ...]:
    """Return what each technique costs for one operator, in the order of :data:`TECHNIQUES`. Cost O(K).

    An operator without keyed state has a single entry, of no technique: its new tasks start beside the old ones, and
    the streams are turned over to them; ``extra`` = p_to cpu setup.

    With u_i the use of new task i (rho of [Madsen2015]), S_i its state, age the time since the checkpoint that it
    starts from, L the lead, and copy_i = S_i / bandwidth with S_i / serialisation each time that state is written or
    read:

    - ``active-backup``: the secondary starts when the operator is prepared, copies the state of the primary and takes
      the same input; at the promotion outputs are swapped. ready = setup + max_i copy_i, pause = delay,
      extra = p_to cpu max(L, ready). The primary runs on where the secondary is late.
    - ``checkpoint``: state is stored from when it is prepared on, every interval c; at the promotion each new task
      loads its part and works off what came in since. ready = max(setup, storing), late = max(0, ready - L),
      age = c, or L where that is less, pause = delay + max_i (late + copy_i + replay_i) / (1 - u_i), with
      replay_i = age u_i + its records in upstream buffers / bandwidth; the old tasks run until outputs agree:
      extra = p_to cpu (setup - late) + p_from cpu pause + the time that storing takes tasks.
    - ``assisted``: new tasks start on nodes with checkpoints of their key groups, turn them into state and work off
      what came in since, while the old ones go on (``cpal``): then the pause is queue / (1 - u_i). What has no
      checkpoint on its node is sent there in the end (``direct``), which takes copy_i / (1 - u_i) + delay.
      pause = the longest, extra = p_to cpu (setup + longest replay and its catching up) + p_from cpu pause.

    [Mudassar2019] gives no formulas: those of ``checkpoint`` follow from Algorithm 3 as
    :func:`ftplan.metrics.recovery_time.recovery_time` has them, with which the pause agrees but for the delay, and
    those of ``assisted`` from :func:`ftplan.metrics.migration_costs.migration_costs`. Where u_i is 1 or more nothing
    that has to be worked off ever is: then only ``active-backup`` can be used. Tasks on one node share its link, in
    any order, so that the last of them waits for the sum.
    """
    operator = problem.operators[scaling.operator]
    if not operator.keyed:
        extra = scaling.parallelism * operator.cpu * setting.setup_s
        return (TechniqueCost(None, 0.0, extra, ready_s=setting.setup_s),)
    split = _Split(problem, scaling, setting)
    by_name = {ACTIVE_BACKUP: _active_backup, CHECKPOINT: _checkpoint, ASSISTED: _assisted}
    return tuple(by_name[name](split) for name in TECHNIQUES)


class _Split:
    """One operator that is split: what all techniques look at."""

    def __init__(self, problem: ScalingProblem, scaling: OperatorScaling, setting: TechniqueSetting) -> None:
        self.problem, self.scaling, self.setting = problem, scaling, setting
        self.operator = problem.operators[scaling.operator]
        self.use = task_use(self.operator, scaling.parallelism, scaling.ranges)
        self.state = task_state(self.operator, scaling.ranges)
        self.keeps_up = bool((self.use < 1.0).all())
        pressed = scaling.parallelism > self.operator.parallelism
        self.lead_s = self.value(setting.lead_s) if pressed else math.nan
        self.speed = setting.bandwidth_mb_s * MB
        self.catch_up = np.divide(1.0, 1.0 - self.use, out=np.full(len(self.use), np.inf), where=self.use < 1.0)
        self.old_cpu = self.operator.parallelism * self.operator.cpu
        self.new_cpu = scaling.parallelism * self.operator.cpu

    def value(self, given: ArrayLike) -> float:
        """Return the value for this operator."""
        array = np.asarray(given, dtype=np.float64)
        return float(array if array.ndim == 0 else array[self.scaling.operator])

    @property
    def old_nodes(self) -> tuple[int, ...]:
        """Node of each task now, () where it is not known."""
        return self.problem.now[self.scaling.operator] if self.problem.now else ()

    @property
    def target(self) -> IntArray:
        """Node of each key group afterwards, (K,); -1 without nodes."""
        nodes = self.scaling.nodes or (-1,) * self.scaling.parallelism
        return np.repeat(np.array(nodes, dtype=np.int64), [last - first + 1 for first, last in self.scaling.ranges])

    @property
    def old_state(self) -> FloatArray:
        """State of each task now."""
        return task_state(self.operator, even_ranges(self.operator.key_groups, self.operator.parallelism))

    def serialised(self, state: FloatArray) -> FloatArray:
        """Return the seconds that tasks take to write, or to read, so much state."""
        return np.asarray(state / (self.setting.serialisation_mb_s * MB))

    def over_links(self, state: FloatArray, nodes: tuple[int, ...]) -> FloatArray:
        """Return the seconds until what goes to or from each task is over the link of its node."""
        if not nodes:
            return np.asarray(state / self.speed)
        where = np.array(nodes, dtype=np.int64)
        return np.asarray(np.bincount(where, state)[where] / self.speed)

    def buffered(self, age_s: float) -> FloatArray:
        """Return the bytes of each new task's records in upstream buffers that came in over *age_s*."""
        share = self.use / self.operator.use if self.operator.use > 0.0 else np.zeros(len(self.use))
        return np.asarray(share * (self.value(self.setting.rate) * self.value(self.setting.record_bytes) * age_s))

    def impossible(self, technique: str, why: str) -> TechniqueCost:
        """Return the entry of a technique that cannot be used."""
        return TechniqueCost(technique, math.inf, math.inf, why_not=why)

    @property
    def never(self) -> str:
        """Why nothing is ever worked off."""
        return f"a task that is busy {self.use.max():.0%} of the time never catches up"


def _active_backup(split: _Split) -> TechniqueCost:
    setting = split.setting
    homes, leaves = _homes(split.problem, split.scaling.operator), split.operator.state_bytes
    if len(homes) and split.scaling.nodes:
        leaves = np.where(homes != split.target, leaves, 0.0)
    moved = _sums(leaves, split.scaling.ranges)
    sent = _sums(leaves, even_ranges(split.operator.key_groups, split.operator.parallelism))
    # any order in which no link idles ends when the busiest link is done
    links = max(split.over_links(moved, split.scaling.nodes).max(), split.over_links(sent, split.old_nodes).max())
    copying = float(links + 2.0 * split.serialised(split.state).max())
    ready = setting.setup_s + copying
    lead = ready if math.isnan(split.lead_s) else split.lead_s
    return TechniqueCost(
        ACTIVE_BACKUP,
        setting.delay_s,
        split.new_cpu * max(lead, ready),
        float(moved.sum()),
        ready,
        max(0.0, ready - lead),
        transfer_s=copying,
        moved_bytes=float(moved.sum()),
    )


def _checkpoint(split: _Split) -> TechniqueCost:
    setting = split.setting
    if not split.keeps_up:
        return split.impossible(CHECKPOINT, split.never)
    storing, taking, count = 0.0, 0.0, 0
    interval = split.value(setting.interval_s)
    if not split.value(setting.regular):
        written = split.over_links(split.old_state, split.old_nodes) + split.serialised(split.old_state)
        storing = float(written.max())
        interval = max(interval, storing)  # the next one starts when the last one is stored
    ready = max(setting.setup_s, storing)
    lead = ready if math.isnan(split.lead_s) else split.lead_s
    late = max(0.0, ready - lead)
    age = interval if split.value(setting.regular) else min(interval, max(lead, storing))
    if not split.value(setting.regular):
        count = 1 + (math.floor(lead / interval) if interval > 0.0 else 0)
        own = split.old_state / split.speed + split.serialised(split.old_state)
        taking = float(own.sum()) * split.operator.cpu * count
    buffered = split.buffered(age)
    arrival = split.over_links(split.state + buffered, split.scaling.nodes) + split.serialised(split.state)
    replay = age * split.use
    work = (late + arrival + replay) * split.catch_up
    slowest = int(work.argmax())
    pause = float(setting.delay_s + work[slowest])
    started = split.new_cpu * max(0.0, setting.setup_s - late)
    total = float(split.state.sum())
    return TechniqueCost(
        CHECKPOINT,
        pause,
        started + split.old_cpu * pause + taking,
        total * (1 + count) + float(buffered.sum()),
        ready,
        late,
        transfer_s=float(arrival[slowest]),
        replay_s=float(replay[slowest]),
        checkpoints=count,
        moved_bytes=total,
    )


def _assisted(split: _Split) -> TechniqueCost:
    setting, nodes = split.setting, split.scaling.nodes
    if setting.remote:
        return split.impossible(ASSISTED, "checkpoints lie in a store, on no node")
    if not nodes:
        return split.impossible(ASSISTED, "without a cluster no node holds checkpoints")
    held = zip(split.target.tolist(), split.operator.copies, strict=False)
    there = np.array([node in copies for node, copies in held], dtype=np.bool_)
    if not there.any():
        return split.impossible(ASSISTED, "no checkpoint lies on the node of a new task that needs it")
    if not split.keeps_up:
        return split.impossible(ASSISTED, split.never)
    age = split.value(setting.interval_s)
    buffered = split.buffered(age)
    replay = split.over_links(buffered, nodes) + age * split.use
    caught_up = float(setting.delay_s + (replay * split.catch_up).max())
    moved = _sums(np.where(there, 0.0, split.operator.state_bytes), split.scaling.ranges)
    sent = split.over_links(moved, nodes) + 2.0 * split.serialised(moved)
    queue = split.value(setting.queue_s) * split.catch_up
    pauses = np.where(moved > 0.0, np.maximum(queue, setting.delay_s + sent * split.catch_up), queue)
    slowest, pause = int(pauses.argmax()), float(pauses.max())
    before = setting.setup_s + caught_up + 2.0 * (setting.delay_s + split.value(setting.queue_s))
    lead = before if math.isnan(split.lead_s) else split.lead_s
    return TechniqueCost(
        ASSISTED,
        pause,
        split.new_cpu * before + split.old_cpu * pause,
        float(moved.sum() + buffered.sum()),
        before,
        max(0.0, before - lead),
        transfer_s=float(sent[slowest]),
        replay_s=float(replay.max()),
        moved_bytes=float(moved.sum()),
    )


def _homes(problem: ScalingProblem, operator: int) -> IntArray:
    """Return the node of each key group now, (K,), empty where it is not known."""
    nodes = np.array(problem.now[operator] if problem.now else (), dtype=np.int64)
    item = problem.operators[operator]
    return nodes[np.arange(item.key_groups) * item.parallelism // item.key_groups] if len(nodes) else nodes


def _sums(values: FloatArray, ranges: Sequence[tuple[int, int]]) -> FloatArray:
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.array([total[last + 1] - total[first] for first, last in ranges], dtype=np.float64)
