"""The answer of simulated migrations: moves beside what formulas say, or adaptation; and whether all counts once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.plan import InputFile, Warn, canonical_json
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.simulation.answer import Document, figure, simulation_document
from ftplan.simulation.migration.options import MigrationSimulationOptions
from ftplan.simulation.migration.run import MoveOutcome
from ftplan.simulation.migration.scene import PlannedMove, PlannedMoves

_FIGURES = ("pause_s", "completion_s", "longest_delay_s")


@dataclass(frozen=True, eq=False)
class MigrationSimulation:
    """What came out of simulated migrations.

    Attributes
    ----------
    body
        What the document holds under the name of the level.
    unmet
        Why the command ends with exit code 1; None where it does not.
    """

    options: MigrationSimulationOptions
    body: Mapping[str, Any]
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]
    unmet: str | None = None

    def to_dict(self) -> Document:
        """Return the document, format ``ftplan/simulation``."""
        contents = {"level": self.options.level, self.options.level: self.body}
        return simulation_document(self, "migration", contents)

    def to_json(self) -> str:
        """Return the document as JSON text, the same for the same answer."""
        return canonical_json(self.to_dict())


class MessageRun(NamedTuple):
    """What the moves of each phase were like in one run."""

    number: int
    phases: tuple[tuple[MoveOutcome, ...], ...]


def messages_document(prepared: PreparedRebalance, moves: PlannedMoves, runs: Sequence[MessageRun]) -> Document:
    """Return what the document holds under ``messages``: what all runs of the moves say together."""
    listed, phases, faults = [], [], []
    for number, (phase, duration_s) in enumerate(zip(moves.phases, moves.duration_s, strict=True)):
        simulated = [run.phases[number] for run in runs]
        for k, item in enumerate(phase):
            listed.append(_move(prepared, item, [of_run[k] for of_run in simulated]))
            faults += [
                {**_group(prepared, item), "run": run.number, **fault._asdict()}
                for run, of_run in zip(runs, simulated, strict=True)
                for fault in of_run[k].faults
            ]
        duration = [max((_number(m.figures.completion_s) for m in of_run), default=0.0) for of_run in simulated]
        pause = [max((_number(m.figures.pause_s) for m in of_run), default=0.0) for of_run in simulated]
        phases.append({
            "phase": number,
            "moves": len(phase),
            "predicted": {"duration_s": duration_s, "pause_s": max((item.pause_s for item in phase), default=0.0)},
            "simulated": {
                "duration_s": figure(np.array(duration) + moves.overhead_s),
                "pause_s": figure(np.array(pause)),
            },
        })  # fmt: skip
    return {"runs": len(runs), "exactly_once": not faults, "phases": phases, "moves": listed, "faults": faults}


def _move(prepared: PreparedRebalance, item: PlannedMove, simulated: Sequence[MoveOutcome]) -> Document:
    figures = [move.figures for move in simulated]
    problem = prepared.problem
    return {
        "phase": item.phase,
        **_group(prepared, item),
        "from": problem.nodes[item.source],
        "to": problem.nodes[item.move.target],
        "protocol": item.move.protocol,
        "upstream_instances": item.upstreams,
        "records_a_message": item.bundle,
        "predicted": {"pause_s": item.pause_s, "completion_s": item.completion_s},
        "simulated": {
            name: figure(np.array([_number(getattr(of_run, name)) for of_run in figures])) for name in _FIGURES
        },
        "replayed": float(np.mean([of_run.replayed for of_run in figures])) * item.bundle,
        "duplicates": float(np.mean([of_run.duplicates for of_run in figures])) * item.bundle,
        "withheld": float(np.mean([of_run.withheld for of_run in figures])) * item.bundle,
        "exactly_once": not any(move.faults for move in simulated),
    }


def _group(prepared: PreparedRebalance, item: PlannedMove) -> Document:
    group, problem = item.move.group, prepared.problem
    return {"operator": problem.operators[group], "key_group": int(problem.key_group[group])}


def _number(value: float | None) -> float:
    return np.nan if value is None else value
