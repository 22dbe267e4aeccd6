"""What it costs to replace the tasks of an operator, by the technique that carries its state over.

``active-backup`` and ``checkpoint`` are those of [Mudassar2019] (Algorithms 2 and 3), ``assisted`` moves key groups to
the nodes where checkpoints of them lie, as [Madsen2015] (section 4) does. What that depends on beside the tasks is
:class:`TechniqueSetting`. Shapes: O operators of a problem, P tasks of one operator afterwards, K key groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.defaults import DELAY_S
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.scale_out.problem import OperatorScaling, ScalingProblem
from ftplan.planners.scale_out.techniques.task_replacement import TaskReplacement, over_links


class OperatorSetting(NamedTuple):
    """The fields of :class:`TechniqueSetting` for one operator; *input_bytes* a second come into it."""

    lead_s: float
    interval_s: float
    regular: bool
    input_bytes: float
    queue_s: float

    def lead(self, ready_s: float) -> float:
        """Return how long before the promotion it is prepared, by a technique that takes so long."""
        return ready_s if math.isnan(self.lead_s) else self.lead_s


@dataclass(frozen=True, eq=False)
class TechniqueSetting:
    """What the cost of replacing tasks depends on: numbers, or arrays of shape (O,), one value for each operator."""

    setup_s: float  # seconds that new tasks take to start, without state
    #: Into and out of a node, or of each task without a cluster, in units of 2^20 bytes per second
    bandwidth_mb_s: float
    #: Seconds from when an operator is prepared until it is promoted or normal again. 0 where it went straight past the
    #: promotion; NaN where nothing presses, so that it is prepared exactly as long before as that takes.
    lead_s: ArrayLike = math.nan
    interval_s: ArrayLike = 60.0  # between checkpoints of an operator that is prepared
    #: Whether it makes checkpoints at that interval in any case, so that they cost nothing extra
    regular: ArrayLike = False
    #: ``rate``, ``record_bytes``: records per second into the operator, and the size of one, for what is sent again
    #: from upstream buffers
    rate: ArrayLike = 0.0
    record_bytes: ArrayLike = 0.0
    serialisation_mb_s: float = math.inf  # at which state is serialised, and read again
    delay_s: float = DELAY_S  # of a message
    queue_s: ArrayLike = DELAY_S  # time that a message waits in the input queue of a new task: C of [Madsen2015]
    remote: bool = False  # checkpoints lie in a store that is as far from every node

    def of(self, operator: int, pressed: bool) -> OperatorSetting:
        """Return the values for one operator, by number; *pressed* is whether its promotion may come too early."""

        def value(given: ArrayLike) -> float:
            array = np.asarray(given, dtype=np.float64)
            return float(array if array.ndim == 0 else array[operator])

        return OperatorSetting(
            value(self.lead_s) if pressed else math.nan,
            value(self.interval_s),
            value(self.regular) > 0.0,
            value(self.rate) * value(self.record_bytes),
            value(self.queue_s),
        )


ACTIVE_BACKUP, CHECKPOINT, ASSISTED = "active-backup", "checkpoint", "assisted"
#: The first of equals is taken.
TECHNIQUES: Final = (CHECKPOINT, ASSISTED, ACTIVE_BACKUP)


class TechniqueCost(NamedTuple):
    """What replacing the tasks of an operator by a technique costs, and what it is made of."""

    technique: str | None  # None for an operator without keyed state
    #: Seconds without output, until its records are as late as before; infinite where it never catches up
    pause_s: float
    #: Core-seconds of new tasks before they take over and of old ones afterwards, and of extra checkpoints
    extra_core_s: float
    bytes: float = 0.0  # what goes over the network
    ready_s: float = 0.0  # from when it is prepared until it can be promoted
    late_s: float = 0.0  # how much of that is left when it is to be promoted
    #: ``transfer_s``, ``replay_s``: of the task that takes longest: until its state is there, and the work on what came
    #: in since the checkpoint
    transfer_s: float = 0.0
    replay_s: float = 0.0
    checkpoints: int = 0  # extra ones that are made
    moved_bytes: float = 0.0  # state that is sent to a node, of all tasks
    why_not: str | None = None  # why it cannot be used, None where it can


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
      checkpoint on its node is handed over in the end (``direct``), which takes copy_i / (1 - u_i) + delay.
      pause = the longest, extra = p_to cpu (setup + longest replay and its catching up) + p_from cpu pause.

    [Mudassar2019] gives no formulas: those of ``checkpoint`` follow from Algorithm 3 as
    :func:`ftplan.model.measures.recovery_time.recovery_time` has them, with which the pause agrees but for the delay,
    and those of ``assisted`` from :func:`ftplan.planners.rebalance.migration_costs.migration_costs`. Where u_i is 1 or
    more nothing that has to be worked off ever is: then only ``active-backup`` can be used. Tasks on one node share its
    link, in any order, so that the last of them waits for the sum; what stays on its node crosses none.
    """
    operator = problem.operators[scaling.operator]
    if not operator.keyed:
        extra = scaling.parallelism * operator.cpu * setting.setup_s
        return (TechniqueCost(None, 0.0, extra, ready_s=setting.setup_s),)
    split = TaskReplacement(problem, scaling)
    own = setting.of(scaling.operator, pressed=scaling.parallelism > operator.parallelism)
    by_name = {ACTIVE_BACKUP: _active_backup, CHECKPOINT: _checkpoint, ASSISTED: _assisted}
    return tuple(by_name[name](split, setting, own) for name in TECHNIQUES)


def _active_backup(split: TaskReplacement, setting: TechniqueSetting, own: OperatorSetting) -> TechniqueCost:
    leaves = np.where(split.stays, 0.0, split.operator.state_bytes)
    moved, sent, speed = split.by_new_task(leaves), split.by_old_task(leaves), setting.bandwidth_mb_s * MB
    # any order in which no link idles ends when the busiest link is done
    links = max(over_links(moved, split.scaling.nodes, speed).max(), over_links(sent, split.old_nodes, speed).max())
    copying = float(links + 2.0 * _serialised(split.state, setting).max())
    ready = setting.setup_s + copying
    lead = own.lead(ready)
    return TechniqueCost(
        ACTIVE_BACKUP,
        setting.delay_s,
        _new_cores(split) * max(lead, ready),
        float(moved.sum()),
        ready,
        max(0.0, ready - lead),
        transfer_s=copying,
        moved_bytes=float(moved.sum()),
    )


def _checkpoint(split: TaskReplacement, setting: TechniqueSetting, own: OperatorSetting) -> TechniqueCost:
    if (split.use >= 1.0).any():
        return _impossible(CHECKPOINT, _never(split))
    speed, interval, storing, taking, count = setting.bandwidth_mb_s * MB, own.interval_s, 0.0, 0.0, 0
    if not own.regular:
        written = _serialised(split.old_state, setting)
        storing = float((over_links(split.old_state, split.old_nodes, speed) + written).max())
        interval = max(interval, storing)  # the next one starts when the last one is stored
    ready = max(setting.setup_s, storing)
    lead = own.lead(ready)
    late, age = max(0.0, ready - lead), interval
    if not own.regular:
        age = min(interval, max(lead, storing))
        count = 1 + (math.floor(lead / interval) if interval > 0.0 else 0)
        taking = float((split.old_state / speed + written).sum()) * split.operator.cpu * count
    buffered = _buffered(split, own, age)
    read = _serialised(split.state, setting)
    arrival, replay = over_links(split.state + buffered, split.scaling.nodes, speed) + read, age * split.use
    work = (late + arrival + replay) / (1.0 - split.use)
    slowest = int(work.argmax())
    pause, total = float(setting.delay_s + work[slowest]), float(split.state.sum())
    started = _new_cores(split) * max(0.0, setting.setup_s - late)
    return TechniqueCost(
        CHECKPOINT,
        pause,
        started + _old_cores(split) * pause + taking,
        total * (1 + count) + float(buffered.sum()),
        ready,
        late,
        transfer_s=float(arrival[slowest]),
        replay_s=float(replay[slowest]),
        checkpoints=count,
        moved_bytes=total,
    )


def _assisted(split: TaskReplacement, setting: TechniqueSetting, own: OperatorSetting) -> TechniqueCost:
    nodes, speed = split.scaling.nodes, setting.bandwidth_mb_s * MB
    if setting.remote:
        return _impossible(ASSISTED, "checkpoints lie in a store, on no node")
    if not nodes:
        return _impossible(ASSISTED, "without a cluster no node holds checkpoints")
    if not split.covered.any():
        return _impossible(ASSISTED, "no checkpoint lies on the node of a new task that needs it")
    if (split.use >= 1.0).any():
        return _impossible(ASSISTED, _never(split))
    catch_up = 1.0 / (1.0 - split.use)
    buffered = _buffered(split, own, own.interval_s)
    replay = over_links(buffered, nodes, speed) + own.interval_s * split.use
    replayed = float(setting.delay_s + (replay * catch_up).max())
    lacking = np.where(split.covered, 0.0, split.operator.state_bytes)
    moved, written = split.by_new_task(np.where(split.stays, 0.0, lacking)), split.by_new_task(lacking)
    sent = over_links(moved, nodes, speed) + 2.0 * _serialised(written, setting)
    queue = own.queue_s * catch_up
    pauses = np.where(written > 0.0, np.maximum(queue, setting.delay_s + sent * catch_up), queue)
    slowest, pause = int(pauses.argmax()), float(pauses.max())
    ready = setting.setup_s + replayed + 2.0 * (setting.delay_s + own.queue_s)
    return TechniqueCost(
        ASSISTED,
        pause,
        _new_cores(split) * ready + _old_cores(split) * pause,
        float(moved.sum() + buffered.sum()),
        ready,
        max(0.0, ready - own.lead(ready)),
        transfer_s=float(sent[slowest]),
        replay_s=float(replay.max()),
        moved_bytes=float(moved.sum()),
    )


def _new_cores(split: TaskReplacement) -> float:
    return split.scaling.parallelism * split.operator.cpu


def _old_cores(split: TaskReplacement) -> float:
    return split.operator.parallelism * split.operator.cpu


def _serialised(state: FloatArray, setting: TechniqueSetting) -> FloatArray:
    """Return the seconds that tasks take to write, or to read, so much state."""
    return np.asarray(state / (setting.serialisation_mb_s * MB))


def _buffered(split: TaskReplacement, own: OperatorSetting, age_s: float) -> FloatArray:
    """Return the bytes of each new task's records in upstream buffers that came in over *age_s*, (P,)."""
    total = split.operator.use
    return np.asarray(split.use / total * (own.input_bytes * age_s)) if total > 0.0 else np.zeros(len(split.use))


def _impossible(technique: str, why: str) -> TechniqueCost:
    return TechniqueCost(technique, math.inf, math.inf, why_not=why)


def _never(split: TaskReplacement) -> str:
    return f"a task that is busy {split.use.max():.0%} of the time never catches up"
