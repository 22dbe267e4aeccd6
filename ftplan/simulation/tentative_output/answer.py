"""How much of a query's output sets of replicas keep, and how well measures foretell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ftplan.model.plan import InputFile, Warn, canonical_json
from ftplan.simulation.answer import Document, simulation_document
from ftplan.simulation.tentative_output.options import TentativeOutputOptions
from ftplan.simulation.tentative_output.outcome import MEASURES, MeasurePrediction, best_by, prediction


class JudgedSet(NamedTuple):
    """A set of replicas: who chose it by what, what it replicates, what measures foretell, and what was left."""

    ratio: float
    budget: int | None
    algorithm: str | None
    metric: str | None
    bound: float | None
    replicas: tuple[tuple[str, int], ...]
    output_fidelity: float
    key_aligned_fidelity: float
    internal_completeness: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class TentativeOutput:
    """What came out.

    Attributes
    ----------
    topology
        The query as a topology file, with its measured rates.
    run
        ``windows``, entries of the ``outputs`` in them, ``seconds`` of the streams.
    sets
        The sets of replicas, as they were asked for.
    engine
        What ran the query; no part of the document, since all engines give the same.
    """

    query: str
    options: TentativeOutputOptions
    topology: Mapping[str, Any]
    run: Mapping[str, Any]
    sets: tuple[JudgedSet, ...]
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]
    engine: str

    @cached_property
    def different(self) -> tuple[JudgedSet, ...]:
        """The sets of different replicas, each once, whoever chose them."""
        return tuple({item.replicas: item for item in reversed(self.sets)}.values())

    @cached_property
    def predictions(self) -> tuple[MeasurePrediction, ...]:
        """How well each measure foretells the accuracies of the different sets."""
        actual = [item.accuracy for item in self.different]
        return tuple(prediction(name, [getattr(item, name) for item in self.different], actual) for name in MEASURES)

    @property
    def best(self) -> dict[str, tuple[str, ...]]:
        """The measures that foretell best, by rank correlation and by error; several where they tie."""
        return {statistic: best_by(self.predictions, statistic) for statistic in ("spearman", "kendall", "error")}

    def to_dict(self) -> Document:
        """Return the document, format ``ftplan/simulation``."""
        contents = {
            "query": self.query,
            "topology": self.topology,
            "run": self.run,
            "sets": [self._entry(item) for item in self.sets],
            "different_sets": len(self.different),
            "predictions": [item._asdict() for item in self.predictions],
            "best": self.best,
        }
        return simulation_document(self, "tentative-output", contents)

    @staticmethod
    def _entry(item: JudgedSet) -> dict[str, Any]:
        replicas = [{"operator": operator, "index": index} for operator, index in item.replicas]
        return {**item._asdict(), "replicas": replicas}

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())
