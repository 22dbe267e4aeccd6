"""What the answers of all simulations share: the frame of their documents, and figures over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ftplan.io.options.fields import Options
from ftplan.model.plan import FORMAT_VERSION, InputFile, Warn, canonical_json
from ftplan.model.topology import FloatArray
from ftplan.simulation.registry import FORMAT
from ftplan.version import __version__

#: Quantiles that are told, and the confidence of intervals.
QUANTILES, CONFIDENCE = (0.05, 0.5, 0.95), 0.95

Document = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Simulation:
    """What came out of a simulation."""

    kind: ClassVar[str]
    options: Options
    body: Document  # what the document holds beside what all documents do
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]
    #: Options that take a file, where they are recorded in another way than they were given
    files: Mapping[str, Any] = field(default_factory=dict)

    @property
    def unmet(self) -> str | None:
        """Why the command ends with exit code 1; None where it does not."""
        return None

    def to_dict(self) -> Document:
        """Return the document, format ``ftplan/simulation``."""
        options: Any = self.options
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "kind": self.kind,
            "tool_version": __version__,
            "inputs": [item.to_dict() for item in self.inputs],
            "options": {**options.recorded(), **self.files},
            "seed": options.seed,
            **self.body,
            "warnings": [item.to_dict() for item in self.warnings],
        }

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())

    def _frame(self, label: str, entries: Sequence[Document]) -> Any:
        """Return a pandas frame with a row for each of some *entries* (nodes, modes) and cell of time."""
        import pandas as pd

        return pd.concat(
            pd.DataFrame({label: item[label], "time_s": self.body["time_s"], **item["over_time"]}) for item in entries
        )


def cells(values: FloatArray) -> list[float | None]:
    """Return values as documents have them: None where they are not known."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def mean_interval(values: FloatArray) -> tuple[float, float | None, float | None]:
    """Return the mean of some values and its confidence limits by Student's t, None for fewer than two values."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, None, None
    from scipy.special import stdtrit

    half = float(stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2.0)) * float(values.std(ddof=1)) / len(values) ** 0.5
    return mean, mean - half, mean + half


def figure(values: FloatArray) -> Document | None:
    """Return mean, confidence limits and quantiles of a figure over the runs in which it is known; None for none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    mean, low, high = mean_interval(known)
    p5, p50, p95 = np.quantile(known, QUANTILES).tolist()
    return {"mean": mean, "low": low, "high": high, "p5": p5, "p50": p50, "p95": p95, "runs": len(known)}
