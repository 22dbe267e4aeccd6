"""Jobs and loads of the tests: small ones that are drawn, and the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.measures.task_state import even_ranges
from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import scores
from ftplan.planners.scale_out.bottlenecks.histories import ScoreThresholds, timeline
from ftplan.planners.scale_out.bottlenecks.rules_file import shipped_rules
from ftplan.simulation.scaling.setting import (
    BatchedLoad,
    Detection,
    Ranges,
    RestartSetting,
    ScalingSetting,
    SimulatedOperator,
    SplitOrder,
    SplitSetting,
    Technique,
)

TECHNIQUES: tuple[Technique, ...] = ("active-backup", "checkpoint", "assisted")
KEY_GROUPS = 12
DETECTION = Detection(
    10.0,
    lambda inputs: scores(shipped_rules(), inputs),
    lambda own: timeline(own, ScoreThresholds(25.0, 55.0, 70.0), 1, 3).states[-1],
)


def steady(seconds: float, batch_s: float = 0.5) -> BatchedLoad:
    """Return a load of 1, in even batches."""
    at_s = batch_s * np.arange(1.0, seconds / batch_s + 1.0)
    return BatchedLoad(at_s, np.full(len(at_s), batch_s), batch_s)


def keyed(use: FloatArray | Sequence[float], parallelism: int = 2, **other: object) -> SimulatedOperator:
    """Return a source with keyed state, which is also the output."""
    group_use = np.asarray(use, dtype=np.float64)
    made = SimulatedOperator(
        "agg", parallelism, 1.0, group_use, 100.0, output=True, key_groups=len(group_use),
        state_bytes=np.full(len(group_use), 1e6),
    )  # fmt: skip
    return replace(made, **other)  # type: ignore[arg-type]


def even_use(busy: float, key_groups: int = KEY_GROUPS) -> FloatArray:
    """Return the use of key groups that keep so many tasks busy together."""
    return np.full(key_groups, busy / key_groups)


def split_once(
    technique: Technique,
    operator: SimulatedOperator,
    *,
    load: BatchedLoad | None = None,
    prepare_s: float = 20.0,
    promote_s: float = 40.0,
    setting: SplitSetting | None = None,
    ranges: Ranges | None = None,
) -> ScalingSetting:
    """Return a setting in which one operator is split at a given time."""
    given = ranges or even_ranges(operator.parts, 2 * operator.parallelism)
    return ScalingSetting(
        (operator,),
        load or steady(80.0),
        lambda _, parallelism: given if parallelism == operator.parallelism else None,
        {0: technique},
        until_s=80.0,
        every_s=1.0,
        split=setting or SplitSetting(5.0, 1e7, 10.0),
        orders=(SplitOrder(0, prepare_s, promote_s),),
    )


def paper_job(busy: float = 0.52) -> tuple[SimulatedOperator, ...]:
    """Return two spouts, five stateless and two stateful executors, these last so busy at 200 records/s."""
    state = {"key_groups": 64, "state_bytes": np.full(64, 1e4)}
    spout = SimulatedOperator("spout", 2, 0.25, np.array([0.05]), 200.0, scales=False)
    bolt = SimulatedOperator("bolt", 5, 0.25, np.array([0.5]), 200.0, (0,), scales=False)
    counter = SimulatedOperator("counter", 2, 0.25, even_use(2 * busy, 64), 200.0, (1,), True, **state)  # type: ignore[arg-type]
    return spout, bolt, counter


def doubling(until_s: float, batch_s: float, every_s: float = 500.0, ramp_s: float = 60.0) -> BatchedLoad:
    """Return a load that doubles within *ramp_s* every so often."""
    at_s = batch_s * np.arange(1.0, until_s / batch_s + 1.0)
    middle = at_s - batch_s / 2.0
    step = np.floor(middle / every_s)
    rise = np.clip((middle - step * every_s) / ramp_s, 0.0, 1.0)
    level = np.where(step > 0, 2.0 ** (step - 1.0) * (1.0 + rise), 1.0)
    return BatchedLoad(at_s, level * batch_s, batch_s)


def paper_setting(
    technique: Technique | None, restart: RestartSetting | None = None, batch_s: float = 2.0
) -> ScalingSetting:
    """Return the job of figures 10 to 14; without a technique and a restart nothing is split."""
    job = paper_job()

    def ranges(operator: int, parallelism: int) -> Ranges | None:
        acts = technique is not None or restart is not None
        return even_ranges(job[operator].parts, 2 * parallelism) if acts and operator == 2 else None

    return ScalingSetting(
        job, doubling(1500.0, batch_s), ranges, {2: technique or "checkpoint"}, 1500.0, 10.0,
        SplitSetting(10.0, 1e8, 30.0), DETECTION, restart=restart,
    )  # fmt: skip
