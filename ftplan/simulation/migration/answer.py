"""The answer of simulated migrations: moves beside what formulas say, or adaptation; and whether all counts once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.simulation.answer import Document, Simulation, figure
from ftplan.simulation.migration.run import MoveOutcome
from ftplan.simulation.migration.scene import PlannedMove, PlannedMoves

_FIGURES = ("pause_s", "completion_s", "longest_delay_s")


class MigrationSimulation(Simulation):
    """What came out of simulated migrations; ``body`` has the level, and what it holds under the level's name."""

    kind = "migration"

    @property
    def unmet(self) -> str | None:
        """What is not exactly-once, None where nothing is."""
        body = self.body.get("messages")
        if body is None or body["exactly_once"]:
            return None
        first, count = body["faults"][0], sum(not item["exactly_once"] for item in body["moves"])
        what = f"{first['operator']}/{first['key_group']}: {first['records']} records {first['what']}"
        return f"not exactly once: {count} of {len(body['moves'])} moves, the first one of {what}"


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
