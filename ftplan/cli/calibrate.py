"""``ftplan calibrate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_outputs, emit_answer, warn
from ftplan.costs.calibration_options import FORMS, CalibrationOptions
from ftplan.reports.answer import Answer, Table

if TYPE_CHECKING:
    from ftplan.costs.calibration import Calibration, Prediction

#: Rows that a table of recoveries shows.
SHOWN = 100
#: What a question may say, and how the value is written.
_QUESTION = {"rate": "rate", "interval": "interval_s", "state": "state_bytes"}
_WRITTEN = {"rate": options.Number(0.0), "interval": options.DURATION, "state": options.SIZE}

#: Parameter, what it is, and its unit.
_PARAMETERS = {
    "detection_s": ("detection", "s"),
    "restart_s": ("restart", "s"),
    "bandwidth_mb_s": ("bandwidth of a restore", "MiB/s"),
    "replay_share": ("replayed share of an interval", ""),
    "capacity_records_s": ("capacity", "records/s"),
}


class Question(click.ParamType):  # type: ignore[type-arg]  # generic only in newer releases of click
    """``rate=70000,interval=60s,state=2GB``."""

    name = "question"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float]:
        """Return the numbers by name."""
        told = {}
        for part in str(value).split(","):
            key, equals, text = (piece.strip() for piece in part.partition("="))
            if key not in _QUESTION or not equals or _QUESTION[key] in told:
                self.fail(f"{value!r}: expected some of rate=RECORDS, interval=TIME, state=SIZE", param, ctx)
            told[_QUESTION[key]] = _WRITTEN[key].convert(text, param, ctx)
        return told


@options.command("calibrate")
@click.argument("recoveries", nargs=-1, required=True, metavar="RECOVERIES...")
@click.option(
    "--from",
    "form",
    type=click.Choice(FORMS),
    default="auto",
    help="What the files are; auto: by ending, columns and first lines.",
)
@kind_options.of_options(CalibrationOptions)
@click.option(
    "--predict",
    type=Question(),
    multiple=True,
    metavar="rate=X,interval=TIME,state=SIZE",
    help="Also say how long a recovery takes at this rate, interval and size of the largest task's state; repeatable.",
)
@click.option("--predictions", metavar="FILE", help="Write each recovery beside what is predicted of it, as CSV.")
@click.option("--plot", metavar="FILE", help="Draw predicted over measured recoveries, as .svg or .png.")
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Write here, YAML if it ends in .yaml, else JSON; - is standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
@options.form
@options.verbosity
def command(recoveries: tuple[str, ...], **given: Any) -> None:
    """Fit what a recovery costs to recoveries that were measured.

    RECOVERIES are tables with a recovery a row (CSV, Parquet; columns such as recovery_s, records_s,
    checkpoint_interval_s, state_bytes), curves of throughput, lag or latency over time, in which failures and
    recoveries are found, JobManager logs with JobInitialization spans (Flink's Slf4jTraceReporter) or a folder of
    ftplan collect, and Spark event logs from before and after a restart. Several may be given: parts that were
    measured by themselves are not fitted.

    A recovery is the time until the failure is noticed and tasks have started and fetched their state, then processing
    again what lies behind the last checkpoint and what has come in meanwhile, with the capacity that the input leaves.
    What the recoveries cannot tell is left out and said; options fix what is known. The file is what --costs takes.

    \b
    $ ftplan calibrate recoveries.csv -o recovery.yaml
    $ ftplan calibrate curves.parquet --detection 50s --predict rate=70000,interval=60s
    """
    import ftplan
    from ftplan.io.model_entries import document_text
    from ftplan.io.output import write_text
    from ftplan.model.plan import canonical_json

    check_outputs(given)
    with progress("calibrating", hidden=given["no_progress"] or given["quiet"]) as report:
        calibration = ftplan.calibrate(
            recoveries, form=given["form"], progress=report, **kind_options.asked(CalibrationOptions, given)
        )
    asked = [(question, calibration.predict(**question)) for question in given["predict"]]
    warn([*calibration.warnings, *(item for _, answer in asked for item in answer.warnings)], quiet=given["quiet"])
    document = calibration.to_dict()
    if asked:
        document["predictions"] = [{**question, **answer.to_dict()} for question, answer in asked]
    if given["predictions"] is not None:
        write_text(given["predictions"], calibration.rows_as_csv(), given["force"])
    if given["plot"] is not None:
        calibration.plot(given["plot"], given["force"])
    data = document_text(document, given["output"], calibration.command).encode()
    tables = [_parameters(calibration), *([_questions(asked)] if asked else [])]
    tables += [_recoveries(calibration)] if given["verbose"] else []
    emit_answer(Answer(canonical_json(document), tables, _notes(calibration), data), given)


def _parameters(calibration: Calibration) -> Table:
    estimates, basis = calibration.costs.estimates, calibration.fitted.basis
    rows: list[tuple[str | float | None, ...]] = []
    for name, (what, unit) in _PARAMETERS.items():
        item = estimates.get(name)
        if item is None:
            rows.append((what, None, None, None, unit, "not told by the recoveries"))
        else:
            rows.append((what, *map(_short, item), unit, basis[name]))
    return Table(("parameter", "value", "low", "high", "unit", "rests on"), rows, "recovery costs (95 % limits)")


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _questions(asked: list[tuple[dict[str, float], Prediction]]) -> Table:
    rows = [
        (*(question.get(name) for name in _QUESTION.values()), *map(_short, (one.recovery_s, one.low, one.high)))
        for question, one in asked
    ]
    columns = ("records/s", "interval, s", "state, bytes", "recovery, s", "low", "high")
    return Table(columns, rows, "predicted (limits: nine of ten held-out recoveries)")


def _recoveries(calibration: Calibration) -> Table:
    rows = calibration.rows()
    shown = [
        (row["recovery"], row["checkpoint_interval_s"], row["records_s"], row["recovery_s"], _short(row["predicted_s"]),
         _percent(row["error"]), _percent(row["held_out_error"]))
        for row in rows[:SHOWN]
    ]  # fmt: skip
    columns = ("recovery", "interval, s", "records/s", "measured, s", "predicted, s", "error", "held out")
    return Table(
        columns, shown, "recoveries" if len(rows) <= SHOWN else f"the first {SHOWN} of {len(rows):,} recoveries"
    )


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{round(share, 3) + 0.0:+.1%}"


def _notes(calibration: Calibration) -> list[str]:
    fitted, accuracy, costs = calibration.fitted, calibration.fitted.accuracy, calibration.costs
    ranges = [
        f"{item.low:,.0f} {unit}" if item.low == item.high else f"{item.low:,.0f} to {item.high:,.0f} {unit}"
        for item, unit in ((costs.rates, "records/s"), (costs.intervals_s, "s between checkpoints"))
        if item is not None
    ]
    notes = [f"fitted on {fitted.used} recoveries" + (f", {' and '.join(ranges)}" if ranges else "")]
    if accuracy is not None:
        notes.append(f"error: median {accuracy.median:.1%}, 90th percentile {accuracy.p90:.1%}")
        if accuracy.by is not None:
            ends = [
                f"{end:.1%}" if end is not None else "unbounded" for end in (accuracy.held_out, accuracy.held_out_p90)
            ]
            what = f"one {accuracy.by} held out at a time" if accuracy.by != "recovery" else "each held out"
            notes.append(f"error with {what}: median {ends[0]}, 90th percentile {ends[1]}")
    return [*notes, f"state: {costs.state}"]
