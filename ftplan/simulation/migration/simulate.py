"""From inputs and options to the answer of simulated migrations, by level; the moves of a plan in all runs.

The answer has moves beside what formulas say of them, or adaptation, and whether all counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.model.kinds import REBALANCE
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.planners.rebalance.from_plan import numbered, question_of
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.simulation.answer import Document, Simulation, figure
from ftplan.simulation.migration.options import MESSAGES, TRACE, MigrationSimulationOptions
from ftplan.simulation.migration.run import MoveOutcome, run_moves
from ftplan.simulation.migration.scene import PlannedMove, PlannedMoves, move_settings, planned_moves
from ftplan.simulation.registry import Report
from ftplan.simulation.run import deadline, outcomes, too_short
from ftplan.simulation.scene import GivenPlan

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


COMMAND = "simulate migration"
#: Options of a plan that others may replace.
INSTEAD = ("checkpoint_age_s", "record_bytes", "bandwidth", "serialisation", "queue_s", "costs")
#: Options of the other level.
TRACE_ONLY = (
    "allocation", "prefer", "plan_on", "period_s", "upkeep_every_s", "threshold", "balance", "copies", "anti_affinity",
    "protocol", "load", "capacity_per_core", "overload",
)  # fmt: skip
#: Messages of each move and of all moves together where no number is asked for, and the least of each.
EACH, ALL_MESSAGES, LEAST_MESSAGES = 2_000, 200_000, 100


def simulate(
    problem: Problem, plan: Any, options: MigrationSimulationOptions, progress: Report | None
) -> MigrationSimulation:
    """Simulate the moves of a plan of kind rebalance phase by phase, or adaptation over the load of the statistics.

    Raises FtplanError if there is no plan where one is needed, an input is missing or does not fit, or no run is done
    in time.
    """
    if options.level == TRACE:
        from ftplan.simulation.migration.adaptation.simulate import simulate_trace

        return MigrationSimulation(*simulate_trace(problem, plan, options, progress))
    if plan is None:
        raise FtplanError("simulate migration: PLAN is missing: give a plan of kind rebalance, or --level trace")
    _refuse_others(options)
    given = GivenPlan.of(plan, "plan", REBALANCE.name, COMMAND)
    assert given.plan is not None
    instead = {name: getattr(options, name) for name in INSTEAD if getattr(options, name) is not None}
    prepared = question_of(given.plan, problem, **instead)
    rebalance = numbered(given.plan, prepared.problem)
    age = instead.get("checkpoint_age_s", RebalanceOptions.of_plan(given.plan).checkpoint_age_s)
    messages = options.messages or min(EACH, max(LEAST_MESSAGES, ALL_MESSAGES // max(len(rebalance.moves), 1)))
    moves = planned_moves(prepared, rebalance, messages, options.seed, age is not None)
    runs = _runs(moves, options, progress)
    body = messages_document(prepared, moves, runs)
    inputs = (*problem.inputs, *prepared.inputs, *(() if given.file is None else (given.file,)))
    warnings = (
        *problem.warnings,
        *prepared.problem.warnings,
        *_warnings(body, len(runs), options.runs),
    )
    contents = {"level": MESSAGES, MESSAGES: body}
    return MigrationSimulation(options, contents, inputs, tuple(dict.fromkeys(warnings)))


def _refuse_others(options: MigrationSimulationOptions) -> None:
    defaults = MigrationSimulationOptions()
    for name in TRACE_ONLY:
        if getattr(options, name) != getattr(defaults, name):
            raise FtplanError(f"{flag(name)} belongs to --level trace, and this is --level messages")


def carry_out(moves: PlannedMoves, runs: int, number: int) -> MessageRun:
    """Simulate all phases in one run; a single one has what is expected."""
    run = None if runs == 1 else number
    return MessageRun(number, tuple(tuple(run_moves(move_settings(moves, phase, run))) for phase in moves.phases))


def _runs(moves: PlannedMoves, options: MigrationSimulationOptions, progress: Report | None) -> list[MessageRun]:
    """Return the runs that are done within the time limit, in their order."""
    done: list[MessageRun] = []
    one, ends = partial(carry_out, moves, options.runs), deadline(options.time_limit_s)
    for several in outcomes(one, range(options.runs), ends):
        done += several
        if progress is not None:
            progress(f"{len(done):,} of {options.runs:,} runs", len(done) / options.runs)
    if not done:
        raise too_short(options.time_limit_s)
    return sorted(done, key=lambda item: item.number)


def _warnings(body: Document, done: int, runs: int) -> list[Warn]:
    """Say which runs are missing, and which moves did not come to an end."""
    warnings = []
    if done < runs:
        warnings.append(Warn("RUNS_CUT", f"the time limit left out {runs - done:,} of {runs:,} runs"))
    open_ = [
        f"{item['operator']}/{item['key_group']}"
        for item in body["moves"]
        if item["simulated"]["completion_s"] is None or item["simulated"]["completion_s"]["runs"] < done
    ]
    if open_:
        text = f"{len(open_):,} moves, the first one of {open_[0]}, had not ended when their simulation did"
        warnings.append(Warn("NOT_ENDED", f"{text}: --messages simulates longer"))
    return warnings
