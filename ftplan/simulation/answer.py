"""What the answers of all simulations share: the frame of their documents, and figures over runs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ftplan.model.plan import FORMAT_VERSION, InputFile, Warn
from ftplan.model.topology import FloatArray
from ftplan.simulation.registry import FORMAT
from ftplan.version import __version__

#: Quantiles that are told, and the confidence of intervals.
QUANTILES, CONFIDENCE = (0.05, 0.5, 0.95), 0.95

Document = dict[str, Any]


class SimulationOptions(Protocol):
    """Options of a simulation."""

    @property
    def seed(self) -> int:
        """Seed of all random choices."""

    def recorded(self) -> Document:
        """Return the other options, as an answer keeps them."""


class SimulationAnswer(Protocol):
    """What came out of a simulation."""

    @property
    def options(self) -> SimulationOptions:
        """What was asked for."""

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """What it was simulated from."""

    @property
    def warnings(self) -> tuple[Warn, ...]:
        """What deserves a second look."""


def simulation_document(
    answer: SimulationAnswer, kind: str, contents: Mapping[str, Any], files: Mapping[str, Any] = MappingProxyType({})
) -> Document:
    """Return a document of format ``ftplan/simulation``.

    Parameters
    ----------
    kind
        What was simulated.
    contents
        What came out, as documents of the kind have it.
    files
        Options that take a file, where they are recorded in another way than they were given.
    """
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "tool_version": __version__,
        "inputs": [item.to_dict() for item in answer.inputs],
        "options": {**answer.options.recorded(), **files},
        "seed": answer.options.seed,
        **contents,
        "warnings": [item.to_dict() for item in answer.warnings],
    }


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
