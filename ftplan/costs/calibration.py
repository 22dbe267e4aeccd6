"""Fitted recovery costs: the document, the recoveries beside their predictions, questions, a plot."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ftplan.errors import FtplanError
from ftplan.model.plan import InputFile, Warn, finite
from ftplan.reports.answer import csv_cell
from ftplan.reports.charts import Axis, Series, lines
from ftplan.reports.drawing import Drawing, Figure, figure
from ftplan.reports.numbers import count, duration
from ftplan.version import __version__

if TYPE_CHECKING:
    from ftplan.costs.fitted_costs import FittedCosts
    from ftplan.model.recovery_costs import RecoveryCosts

Path = str | os.PathLike[str]
#: How a recovery follows from the parameters.
MODEL = (
    "recovery = stopped + replay + catching up; stopped = detection_s + restart_s + bytes / bandwidth_mb_s; "
    "replay = replay_share * interval * rho; catching up = (stopped + replay) * rho / (1 - rho); "
    "rho = rate / capacity_records_s"
)


class PredictedPair(NamedTuple):
    """Seconds of a recovery: measured and predicted."""

    measured_s: float
    predicted_s: float


def calibration_figure(pairs: Sequence[PredictedPair], unseen: bool) -> Figure:
    """Return a figure of at least one recovery, a dot each, and the line on which a prediction is right.

    ``unseen``: each was predicted by a fit that had not seen it.
    """
    longest = max(max(pair) for pair in pairs)
    dots = [((pair.measured_s, pair.predicted_s), "value") for pair in dict.fromkeys(pairs)]
    said = " by fits that had not seen it" if unseen else ""

    def draw(width: float) -> Drawing:
        ideal = Series(((0.0, 0.0), (longest, longest)), "bound-line")
        return lines([ideal], width, Axis("measured", duration, times=True), Axis("predicted", duration), dots=dots)

    key = (("value", "", f"a recovery, predicted{said}"), ("line:bound-line", "", "as measured"))
    return figure("Predicted over measured recoveries", f"{count(len(pairs), 'recovery')}.", draw, key=key)


@dataclass(frozen=True)
class Prediction:
    """What a recovery would take: in all, by parts, and the limits that nine of ten held-out recoveries lay within."""

    recovery_s: float
    low: float | None
    high: float | None
    parts: Mapping[str, float]
    warnings: tuple[Warn, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``predictions`` in a recovery costs file, without the question."""
        numbers = _rounded({"recovery_s": self.recovery_s, "low": self.low, "high": self.high})
        warnings = [{"code": item.code, "message": item.message} for item in self.warnings]
        return {**_known(numbers), "parts": _rounded(self.parts), "warnings": warnings}


@dataclass(frozen=True, eq=False)
class Calibration:
    """Recovery costs with what they rest on; ``to_dict()`` is the document of a recovery costs file.

    Attributes
    ----------
    fitted
        The parameters, what they were fitted on, and how far they are off on recoveries that they have not seen.
    inputs
        Role, path and hash of each source.
    warnings
        What deserves a second look.
    """

    fitted: FittedCosts
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]

    @property
    def command(self) -> str:
        """The command that fits them again, but for its options; what a file begins with."""
        return " ".join(["ftplan calibrate", *(item.path or "-" for item in self.inputs)])

    @property
    def costs(self) -> RecoveryCosts:
        """The parameters."""
        return self.fitted.costs

    def predict(
        self, *, rate: float | None = None, interval_s: float | None = None, state_bytes: float | None = None
    ) -> Prediction:
        """Return how long a recovery takes.

        Parameters
        ----------
        rate
            Records per second into the job.
        interval_s
            Seconds between checkpoints.
        state_bytes
            What the largest restore fetches; 0 where state lies on the node.

        Raises
        ------
        FtplanError
            If what the costs need is missing, or the job would never catch up.
        """
        from ftplan.model.measures.recovery_time import RecoveryParameters, outside_fitted_range, recovery_time

        costs = self.costs
        capacity = costs.capacity_records_s
        for name, value, needed in (("rate", rate, capacity), ("interval", interval_s, costs.replay_share)):
            if value is None and needed is not None:
                raise FtplanError(f"--predict: the {name} is missing: these recovery costs depend on it")
        if rate is not None and capacity is not None and rate >= capacity.value:
            text = f"--predict: the job can process {capacity.value:,.0f} records/s and gets {rate:,.0f}"
            raise FtplanError(f"{text}: it never catches up")
        parts = recovery_time(RecoveryParameters.of(costs), rate or 0.0, interval_s or 0.0, state_bytes or 0.0)
        total = float(parts.total_s)
        accuracy = self.fitted.accuracy
        off = None if accuracy is None else accuracy.held_out_p90
        return Prediction(
            total,
            None if off is None else total / (1.0 + off),
            None if off is None or off >= 1.0 else total / (1.0 - off),
            {name: float(value) for name, value in parts._asdict().items()},
            tuple(outside_fitted_range(costs, rate, interval_s, state_bytes)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the document, in the order in which people read it."""
        fitted, accuracy = self.fitted, self.fitted.accuracy
        ranges = {name: getattr(self.costs, name) for name in ("rates", "intervals_s", "state_bytes")}
        document: dict[str, Any] = {
            "format": "ftplan/recovery-costs",
            "format_version": "1.0",
            "state": self.costs.state,
            "parameters": {
                name: _known({**_rounded(item._asdict()), "basis": fitted.basis[name]})
                for name, item in self.costs.estimates.items()
            },
            "fitted_on": {
                "recoveries": fitted.used,
                "restores": fitted.restores,
                **{name: [item.low, item.high] for name, item in ranges.items() if item is not None},
            },
        }
        if accuracy is not None:
            errors = (accuracy.median, accuracy.p90, accuracy.held_out, accuracy.held_out_p90)
            names = ("median", "p90", "held_out", "held_out_p90")
            shares = {name: None if one is None else round(one, 6) for name, one in zip(names, errors, strict=True)}
            document["error"] = _known({**shares, "held_out_by": accuracy.by})
        return document | {
            "model": MODEL,
            "tool_version": __version__,
            "inputs": [{"role": item.role, "path": item.path, "sha256": item.sha256} for item in self.inputs],
            "warnings": [{"code": item.code, "message": item.message} for item in self.warnings],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the recoveries, each with what the fit says of it and what fits say that have not seen it."""
        rows = []
        for one, predicted, unseen in zip(
            self.fitted.recoveries, self.fitted.predicted_s, self.fitted.held_out_s, strict=True
        ):
            rows.append(
                {
                    "recovery": one.where,
                    "checkpoint_interval_s": one.interval_s,
                    "records_s": one.rate,
                    "state_bytes": one.state_bytes,
                    "recovery_s": one.recovery_s,
                    "predicted_s": finite(predicted),
                    "error": _error(predicted, one.recovery_s),
                    "held_out_s": finite(unseen),
                    "held_out_error": _error(unseen, one.recovery_s),
                }
            )
        return rows

    def rows_as_csv(self) -> str:
        """Return :meth:`rows` as CSV; what is not known is empty."""
        text = io.StringIO()
        rows = self.rows()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {name: f"{value:.6g}" if isinstance(value, float) else csv_cell(value) for name, value in row.items()}
            for row in rows
        )
        return text.getvalue()

    def plot(self, path: Path, force: bool = False) -> None:
        """Draw predicted over measured recoveries into a file.

        Raises
        ------
        FtplanError
            If the name ends neither in .svg nor in .png, the file exists and *force* is false, or no recovery was
            measured to its end.
        MissingExtraError
            If what draws is not installed.
        """
        from ftplan.reports.plot_file import check_plot, write_figure

        check_plot(path, force)
        unseen = self.fitted.accuracy is not None and self.fitted.accuracy.by is not None
        name = "held_out_s" if unseen else "predicted_s"
        pairs = [PredictedPair(row["recovery_s"], row[name]) for row in self.rows() if row[name] is not None]
        if not pairs:
            raise FtplanError(
                f"--plot {os.fspath(path)}: there is nothing to draw: no recovery was measured to its end"
            )
        write_figure(calibration_figure(pairs, unseen), path, force)


def _known(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if value is not None}


def _rounded(entries: Mapping[str, float | None]) -> dict[str, float | None]:
    """Round to six digits: more than a fit can tell."""
    return {name: None if value is None else float(f"{value:.6g}") for name, value in entries.items()}


def _error(predicted: float, measured: float | None) -> float | None:
    return (
        None if measured is None or not math.isfinite(predicted) else round(float(predicted / measured - 1.0), 6) + 0.0
    )
