"""The answer to which interval between checkpoints loses least, and the time that others lose as a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ftplan.costs.checkpoint_interval.formula import LostTime
from ftplan.io.checkpoint_interval_file import FORMAT
from ftplan.model.plan import FORMAT_VERSION, InputFile, Warn, canonical_json
from ftplan.reports.charts import Axis, Mark, Series, lines
from ftplan.reports.drawing import Figure, figure
from ftplan.reports.numbers import duration
from ftplan.version import __version__

#: How far the curve reaches, in best intervals and in least losses; points of a line.
REACH, HEIGHT, POINTS = 4.0, 4.0, 200
HOUR_S = 3600.0

Row = Mapping[str, Any]


def interval_figure(lost: LostTime, best_s: float | None, longest_s: float | None) -> Figure:
    """Return the seconds of an hour that are lost by each interval, and what of them checkpoints and recoveries take.

    Parameters
    ----------
    best_s
        The chosen interval, None without one.
    longest_s
        The longest interval that keeps a limit on recoveries, None without one.
    """
    end = REACH * max(lost.best_s, best_s or 0.0)
    at = np.geomspace(lost.shortest_s, end, POINTS)
    least = float(lost.share(lost.best_s))
    at = at[lost.share(at) <= HEIGHT * least]

    def curve(share: Any, style: str) -> Series:
        return Series(tuple(zip(at.tolist(), (share(at) * HOUR_S).tolist(), strict=True)), style)

    drawn = [
        curve(lost.checkpointing, "other-line"),
        curve(lost.recovering, "bound-line"),
        curve(lost.share, "value-line"),
    ]
    marks = [] if longest_s is None or not 0.0 < longest_s <= end else [Mark(longest_s, "limit-line", "limit")]
    dots = () if best_s is None else (((best_s, float(lost.share(best_s)) * HOUR_S), "chosen"),)
    key = [
        ("line:value-line", "", "lost in all"),
        ("line:other-line", "", "checkpoints"),
        ("line:bound-line", "", "recoveries"),
        *([("chosen", "", "the best interval")] if dots else []),
        *([("line:limit-line", "", "recoveries take longer beyond")] if marks else []),
    ]

    def draw(width: float) -> Any:
        return lines(
            drawn,
            width,
            Axis("time between checkpoints", duration, times=True),
            Axis("seconds lost in an hour", reach=(0.0, HEIGHT * least * HOUR_S)),
            marks=marks,
            dots=dots,
        )

    said = f"Least is lost at {duration(lost.best_s)} between checkpoints."
    return figure("Time lost to checkpoints and recoveries", said, draw, key=tuple(key))


@dataclass(frozen=True)
class CheckpointInterval:
    """What each interval loses, and the best of those that keep the limit on recoveries.

    Rows are ``{name, interval_s, recovery_s, checkpoint_s_per_hour, recovery_s_per_hour, lost_s_per_hour}``.
    """

    #: What the answer rests on: ``checkpoint_cost_s``, ``failures_per_day``, ``records_s``, ``state_bytes``,
    #: ``max_recovery_s``
    asked: Mapping[str, Any]
    best: Row | None  # none where no interval keeps the limit
    unlimited: Row  # the best without the limit
    limited: bool  # whether the limit binds
    longest_s: float | None  # the longest interval that keeps the limit, None without a limit and where none does
    shortest_s: float  # the shortest interval at which the job keeps up with its input
    smallest_recovery_s: float  # what a recovery takes then
    #: Intervals from short to long; those of other formulas, the best and the present one have a name
    table: tuple[Row, ...]
    #: ``{parameter, limit, value, interval_s, lost_s_per_hour, regret_s_per_hour}``: the best interval where one
    #: parameter is at a limit of its confidence, and what the chosen interval loses beyond it there; nulls where the
    #: job does not keep up, no interval keeps the limit, or the chosen one does not
    sensitivity: tuple[Row, ...]
    inputs: tuple[InputFile, ...]  # role, path and hash of each input
    warnings: tuple[Warn, ...]  # what deserves a second look
    model: LostTime = field(repr=False)  # what was minimised

    @property
    def reason(self) -> str | None:
        """Why there is no interval, or where the limit binds; None where neither."""
        limit = self.asked["max_recovery_s"]
        if self.best is None:
            return (
                f"no interval keeps recoveries within {limit:g} s: at {self.shortest_s:.6g} s, the shortest at which "
                f"the job keeps up, one takes {self.smallest_recovery_s:.6g} s"
            )
        if self.limited:
            return (
                f"recoveries within {limit:g} s bind: {self.unlimited['interval_s']:.6g} s would lose "
                f"{self.best['lost_s_per_hour'] - self.unlimited['lost_s_per_hour']:.3g} s an hour less, with "
                f"recoveries of {self.unlimited['recovery_s']:.6g} s"
            )
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the document, format ``ftplan/checkpoint-interval``."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "tool_version": __version__,
            "inputs": [item.to_dict() for item in self.inputs],
            "status": "infeasible" if self.best is None else "optimal",
            "reason": self.reason,
            "asked": dict(self.asked),
            "best": None if self.best is None else dict(self.best),
            "unlimited": dict(self.unlimited),
            "limited": self.limited,
            "longest_s": self.longest_s,
            "shortest_s": self.shortest_s,
            "smallest_recovery_s": self.smallest_recovery_s,
            "table": [dict(row) for row in self.table],
            "sensitivity": [dict(row) for row in self.sensitivity],
            "warnings": [item.to_dict() for item in self.warnings],
        }

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())
