"""``calibrate``: recovery costs from measured recoveries: reading them, finding those in curves, fitting."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ftplan.costs.calibration import Calibration, Path
from ftplan.costs.calibration_options import FORMS, CalibrationOptions
from ftplan.errors import FtplanError
from ftplan.io.options.fields import checked, one_of
from ftplan.model.plan import Warn

if TYPE_CHECKING:
    from ftplan.costs.recoveries.tables import RecoveryReading
    from ftplan.model.recovery_costs import MeasuredRecovery


def calibrate(
    recoveries: Path | Iterable[Path],
    *,
    output: Path | None = None,
    force: bool = False,
    form: str = "auto",
    progress: Callable[[str, float | None], None] = lambda what, share: None,
    **options: Any,
) -> Calibration:
    """Fit recovery costs to recoveries that were measured.

    Parameters
    ----------
    recoveries
        Files and folders: tables of recoveries, curves, logs of Flink, event logs of Spark.
    output
        Also write the recovery costs, YAML where the name ends in ``.yaml`` or ``.yml``, else JSON.
    force
        Replace an *output* that is there.
    form
        What the files are: ``recoveries``, ``curves``, ``flink``, ``spark``, or ``auto``, by looking.
    progress
        Called with a sentence and a share of 1 on the way.
    options
        Those of ``ftplan calibrate``, with underscores, for instance ``detection_s=50``.

    Returns
    -------
    Calibration
        The costs, with ``predict`` for how long a recovery takes.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, a source cannot be read, or there is nothing to fit to.
    """
    asked = CalibrationOptions.of("calibrate", options)
    checked("calibrate", {"from": one_of(*FORMS)}, {"from": form})
    paths = [recoveries] if isinstance(recoveries, (str, os.PathLike)) else list(recoveries)
    if not paths:
        raise FtplanError("calibrate: no recoveries are given: name files or folders")
    if output is not None:
        from ftplan.io.output import refuse_existing

        refuse_existing(output, force)
    calibration = _calibration(paths, form, asked, progress)
    if output is not None:
        from ftplan.io.model_entries import document_text
        from ftplan.io.output import write_text

        write_text(output, document_text(calibration.to_dict(), os.fspath(output), calibration.command), force)
    return calibration


def _calibration(
    paths: Sequence[Path], form: str, options: CalibrationOptions, progress: Callable[[str, float | None], None]
) -> Calibration:
    from ftplan.costs.fitted_costs import fitted_costs
    from ftplan.costs.recoveries import read_recoveries
    from ftplan.costs.recoveries.tables import ReadingOptions

    progress("reading recoveries", None)
    columns = dict(item.split("=", 1) for item in options.column)
    reading = read_recoveries(paths, form, ReadingOptions(columns, options.interval_s))
    measured, warnings = _recoveries(reading)
    fitted = fitted_costs(
        measured,
        options.fixed(),
        state=options.state,
        draws=options.draws,
        seed=options.seed,
        report=lambda share: progress("fitting", share),
    )
    return Calibration(fitted, reading.inputs, (*reading.warnings, *warnings, *fitted.warnings))


def _recoveries(reading: RecoveryReading) -> tuple[list[MeasuredRecovery], list[Warn]]:
    """Return the recoveries of a reading, those in its curves too, and what was left out of these."""
    from ftplan.costs.curves import find_recoveries
    from ftplan.model.recovery_costs import MeasuredRecovery

    recoveries = list(reading.recoveries)
    failures = unfinished = again = 0
    for curve in reading.curves:
        for found in find_recoveries(curve):
            failures += 1
            unfinished += found.end_s is None
            again += found.end_s is not None and found.failures > 1
            if found.end_s is None or found.failures > 1:
                continue
            recoveries.append(
                MeasuredRecovery(
                    f"{curve.name}: second {found.begin_s:g}",
                    recovery_s=found.end_s - found.begin_s,
                    rate=found.rate,
                    interval_s=curve.interval_s,
                    capacity=found.capacity,
                )
            )
    if reading.curves and not recoveries:
        what = f"{failures} failures, none with an end" if failures else "no failure"
        raise FtplanError(f"{reading.curves[0].name.partition(' at ')[0]}: the curves show {what}")
    warnings = []
    if unfinished:
        text = f"{unfinished} of {failures} failures in curves are left out: the job had not caught up at the end"
        warnings.append(Warn("RECOVERIES_LEFT_OUT", text))
    if again:
        text = f"{again} of {failures} failures in curves are left out: the job failed again before it had caught up"
        warnings.append(Warn("RECOVERIES_LEFT_OUT", text))
    return recoveries, warnings
