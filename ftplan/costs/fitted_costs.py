"""From measured recoveries to recovery costs: parameters, their intervals, the error on held-out recoveries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ftplan.costs.fit import MOST_REPLAYED, Values, at_limit, confidence_limits, predict
from ftplan.costs.selection import UNLIMITED, By, HeldOut, held_out, relative_errors, selected
from ftplan.costs.unknowns import Sample, Unknowns, unknowns
from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.recovery_costs import PARAMETERS, Estimate, FittedRange, MeasuredRecovery, RecoveryCosts
from ftplan.model.topology import FloatArray

State = Literal["local", "remote"]


class Accuracy(NamedTuple):
    """Relative errors of predictions: on the recoveries of the fit, and on held-out ones, None where none were.

    ``held_out`` is their median and ``held_out_p90`` their 90th percentile, None where a fit said that the job never
    catches up; ``by`` says what was held out at a time.
    """

    median: float
    p90: float
    held_out: float | None = None
    held_out_p90: float | None = None
    by: By | None = None


@dataclass(frozen=True, eq=False)
class FittedCosts:
    """Recovery costs, with what they rest on."""

    costs: RecoveryCosts
    basis: Mapping[str, str]  # what each parameter rests on, in words
    accuracy: Accuracy | None
    #: All that were read; ``predicted_s`` and ``held_out_s`` are of shape (len(recoveries),), NaN where a recovery was
    #: not measured to its end or could not be used
    recoveries: tuple[MeasuredRecovery, ...]
    predicted_s: FloatArray
    held_out_s: FloatArray
    restores: int
    warnings: tuple[Warn, ...]

    @property
    def used(self) -> int:
        """How many recoveries were fitted to."""
        return int(np.isfinite(self.predicted_s).sum())


def fitted_costs(
    recoveries: Sequence[MeasuredRecovery],
    fixed: Values,
    state: State | None = None,
    draws: int = 200,
    seed: int = 0,
    report: Callable[[float], None] = lambda share: None,
) -> FittedCosts:
    """Fit recovery costs to measured recoveries.

    Parameters
    ----------
    fixed
        Parameters that are known.
    state
        Where state is when a task starts again; None: remote where bytes were fetched, local where they lay on the
        node.
    draws
        Fits for confidence limits, 0 for none.

    Raises
    ------
    FtplanError
        If there is nothing to fit to, or a capacity that is known is not above all rates.
    """
    placed, said = _state(recoveries, state)
    # In an order of their own, so that the order of files and rows changes nothing that is drawn.
    order = sorted(range(len(recoveries)), key=lambda i: [(v is None, v or 0.0) for v in recoveries[i][1:]])
    sample = Sample.of([recoveries[i] for i in order])
    if placed == "local":
        sample = sample._replace(state_bytes=np.zeros(len(recoveries)))
    unknown = unknowns(sample, fixed)
    if not unknown.fitted and not unknown.medians and not sample.timed.any():
        raise FtplanError("there is no recovery to calibrate on: none has a time, nor one of its parts")
    read = sample
    _require_room(sample, fixed)
    sample, unknown, values = selected(sample, unknown)
    limits = confidence_limits(sample, unknown, values, draws, seed, report)
    tested = held_out(sample, unknown, values, read)
    predicted = np.where(sample.timed, predict(values, sample), np.nan) if sample.timed.any() else sample.recovery_s
    count = int(sample.timed.sum())
    left_out = int(sum(r.recovery_s is not None for r in recoveries)) - count
    warnings = [*unknown.warnings, *said]
    if left_out:
        text = f"{left_out} of {left_out + count} recoveries are left out: their rate, interval or state is not known"
        warnings.append(Warn("RECOVERIES_LEFT_OUT", text))
    warnings += _weak(unknown, values, sample, limits, draws)
    back = np.argsort(order)
    return FittedCosts(
        _costs(placed, values, limits, sample, read),
        _basis(unknown, sample, count),
        _accuracy(predicted, tested, sample.recovery_s),
        tuple(recoveries),
        predicted[back],
        np.full(len(predicted), np.nan) if tested is None else tested.predicted_s[back],
        sum(r.restart_s is not None or r.transfer_s is not None for r in recoveries),
        tuple(warnings),
    )


def _require_room(sample: Sample, fixed: Values) -> None:
    """Refuse a capacity that would not have let measured recoveries end."""
    rates = sample.rate[sample.timed & np.isfinite(sample.rate)]
    capacity = fixed.get("capacity_records_s")
    if capacity is not None and len(rates) and capacity <= rates.max():
        text = f"--capacity: {capacity:g} records/s are too few: the job caught up at {rates.max():g}"
        raise FtplanError(f"{text}; expected more than that")


def _state(recoveries: Sequence[MeasuredRecovery], asked: State | None) -> tuple[State, list[Warn]]:
    """Return where state lies: as asked, else as the recoveries say, else remote."""
    if asked is not None:
        return asked, []
    if any(r.transfer_s or r.state_bytes for r in recoveries):
        return "remote", []
    if any(r.local_bytes for r in recoveries):
        text = "state is taken as local: restores read it from a path without a host; --state says otherwise"
        return "local", [Warn("STATE_ASSUMED", text)]
    text = "nothing says where state lies: taken as remote, as by default in Flink, Spark and Kafka Streams; --state"
    return "remote", [Warn("STATE_ASSUMED", f"{text} says otherwise")]


def _costs(
    state: State, values: Values, limits: Mapping[str, tuple[float, float]], sample: Sample, read: Sample
) -> RecoveryCosts:
    """Return the costs; *read* has what was measured beside what parameters depend on."""
    whole = sample.take(sample.timed)
    measured = read.take(sample.timed)
    return RecoveryCosts(
        state=state,
        rates=_range(measured.rate),
        intervals_s=_range(measured.interval_s),
        state_bytes=_range(read.state_bytes) if "bandwidth_mb_s" in values else None,
        **{name: _bounded(name, values[name], limits.get(name), whole) for name in PARAMETERS if name in values},
    )


def _bounded(name: str, value: float, limits: tuple[float, float] | None, whole: Sample) -> Estimate:
    if limits is None:
        return Estimate(value)
    low, high = limits
    endless = name == "capacity_records_s" and high > UNLIMITED / 2 * float(whole.rate.max(initial=0.0))
    return Estimate(value, low, None if endless or (name == "bandwidth_mb_s" and high > 1e6) else high)


def _range(values: FloatArray) -> FittedRange | None:
    known = values[np.isfinite(values) & (values > 0.0)]
    return FittedRange(float(known.min()), float(known.max())) if len(known) else None


def _basis(unknown: Unknowns, sample: Sample, count: int) -> dict[str, str]:
    basis = dict.fromkeys(unknown.fixed, "fixed")
    for name in unknown.medians:
        basis[name] = f"median of {int(np.isfinite(getattr(sample, name)).sum())} measured"
    fitted = f"fitted to {count} {'recovery' if count == 1 else 'recoveries'}"
    return basis | dict.fromkeys(unknown.fitted, fitted)


def _accuracy(predicted: FloatArray, tested: HeldOut | None, measured: FloatArray) -> Accuracy | None:
    errors = relative_errors(predicted, measured)
    if not len(errors) or not np.isfinite(errors).all():
        return None
    median, p90 = np.quantile(errors, (0.5, 0.9)).tolist()
    if tested is None:
        return Accuracy(median, p90)
    others = relative_errors(tested.predicted_s, measured)
    ends = [float(np.quantile(others, q, method="higher")) if q > 0.5 else float(np.median(others)) for q in (0.5, 0.9)]
    held, held_p90 = (end if np.isfinite(end) else None for end in ends)
    return Accuracy(median, p90, held, held_p90, tested.by)


def _weak(
    unknown: Unknowns, values: Values, sample: Sample, limits: Mapping[str, tuple[float, float]], draws: int
) -> list[Warn]:
    """Say which parameters ended at a limit or have none, and which have wide ones."""
    warnings = []
    for name in at_limit(values, unknown, sample):
        which = f" of {MOST_REPLAYED:g}" if name == "replay_share" and values[name] > MOST_REPLAYED / 2 else ""
        text = f"{name} ended at its limit{which} ({values[name]:.4g}): the recoveries hardly tell it"
        warnings.append(Warn("AT_LIMIT", text))
    for name, (low, high) in limits.items():
        if low > 0.0 and high / low > 4.0:
            text = f"{name} lies between {low:.3g} and {high:.3g}: too wide to plan with"
            warnings.append(Warn("WIDE_INTERVAL", f"{text}; recoveries at more rates and intervals would narrow it"))
    bare = [name for name in (*unknown.medians, *unknown.fitted) if name not in limits]
    if bare and draws:
        text = f"{', '.join(bare)}: too few measurements for confidence limits"
        warnings.append(Warn("NO_INTERVAL", text))
    return warnings
