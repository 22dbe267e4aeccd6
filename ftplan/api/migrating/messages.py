"""The moves of a plan, message by message: what they take beside what formulas say, and whether all counts once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ftplan.api.migrating.move_settings import PlannedMove, PlannedMoves, move_settings, planned_moves
from ftplan.api.migrating.options import MigrationSimulationOptions
from ftplan.api.migrating.result import MigrationSimulation
from ftplan.api.simulating.runs import FEW
from ftplan.api.simulating.simulate import GivenPlan
from ftplan.api.simulating.statistics import figure
from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.model.kinds import REBALANCE
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.planners.rebalance.from_plan import numbered, question_of
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.processes import cores, in_processes
from ftplan.simulation.migration.simulate import SimulatedMove, simulate_moves

#: Options of a plan that others may replace.
INSTEAD = ("checkpoint_age_s", "record_bytes", "bandwidth", "serialisation", "queue_s", "costs")
#: Options of the other level.
TRACE_ONLY = (
    "allocation", "prefer", "plan_on", "period_s", "upkeep_every_s", "threshold", "balance", "copies", "anti_affinity",
    "protocol", "load", "capacity_per_core", "overload",
)  # fmt: skip
#: Messages of each move and of all moves together where no number is asked for, and the least of each.
MESSAGES, ALL_MESSAGES, LEAST_MESSAGES = 2_000, 200_000, 100
_FIGURES = ("pause_s", "completion_s", "longest_delay_s")

Document = dict[str, Any]


class MessageRun(NamedTuple):
    """What the moves of each phase were like in one run."""

    number: int
    phases: tuple[tuple[SimulatedMove, ...], ...]


def simulate_messages(
    problem: Problem,
    plan: Any,
    options: MigrationSimulationOptions,
    progress: Callable[[str, float | None], None] | None,
) -> MigrationSimulation:
    """Simulate the moves of a plan of kind rebalance, phase by phase.

    Raises
    ------
    FtplanError
        If there is no plan, it does not fit, or no run is done within the time limit.
    """
    if plan is None:
        raise FtplanError("simulate migration: PLAN is missing: give a plan of kind rebalance, or --level trace")
    _refuse_others(options)
    given = GivenPlan.of(plan, "plan", REBALANCE.name, "simulate migration")
    assert given.plan is not None
    instead = {name: getattr(options, name) for name in INSTEAD if getattr(options, name) is not None}
    prepared = question_of(given.plan, problem, **instead)
    rebalance = numbered(given.plan, prepared.problem)
    age = instead.get("checkpoint_age_s", RebalanceOptions.of_plan(given.plan).checkpoint_age_s)
    messages = options.messages or min(MESSAGES, max(LEAST_MESSAGES, ALL_MESSAGES // max(len(rebalance.moves), 1)))
    moves = planned_moves(prepared, rebalance, messages, options.seed, age is not None)
    runs = _runs(moves, options, progress)
    body = _document(prepared, moves, runs)
    inputs = (*problem.inputs, *prepared.inputs, *(() if given.file is None else (given.file,)))
    warnings = (
        *problem.warnings,
        *prepared.problem.warnings,
        *_said(body, len(runs), options.runs),
    )
    return MigrationSimulation(options, body, inputs, tuple(dict.fromkeys(warnings)), _unmet(body))


def _refuse_others(options: MigrationSimulationOptions) -> None:
    defaults = MigrationSimulationOptions()
    for name in TRACE_ONLY:
        if getattr(options, name) != getattr(defaults, name):
            raise FtplanError(f"{flag(name)} belongs to --level trace, and this is --level messages")


def carry_out(moves: PlannedMoves, runs: int, number: int) -> MessageRun:
    """Simulate all phases in one run; a single one has what is expected."""
    run = None if runs == 1 else number
    return MessageRun(number, tuple(tuple(simulate_moves(move_settings(moves, phase, run))) for phase in moves.phases))


def _runs(
    moves: PlannedMoves, options: MigrationSimulationOptions, progress: Callable[[str, float | None], None] | None
) -> list[MessageRun]:
    """Return the runs that are done within the time limit, in their order."""
    one, numbers = partial(carry_out, moves, options.runs), range(options.runs)
    ends = None if options.time_limit_s is None else time.monotonic() + options.time_limit_s
    jobs = min(cores() if options.runs >= FEW else 1, options.runs)
    done: list[MessageRun] = []
    told = (
        in_processes(one, numbers, jobs, ends=ends, named=("the simulation", "run"))
        if jobs > 1 or ends is not None
        else ([one(number)] for number in numbers)
    )
    for outcomes in told:
        done += outcomes
        if progress is not None:
            progress(f"{len(done):,} of {options.runs:,} runs", len(done) / options.runs)
    if not done:
        raise FtplanError(f"--time-limit: {options.time_limit_s:g} s do not last for one run")
    return sorted(done, key=lambda item: item.number)


def _document(prepared: PreparedRebalance, moves: PlannedMoves, runs: Sequence[MessageRun]) -> Document:
    """Return what the document holds under ``messages``."""
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


def _move(prepared: PreparedRebalance, item: PlannedMove, simulated: Sequence[SimulatedMove]) -> Document:
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


def _said(body: Document, done: int, runs: int) -> list[Warn]:
    """Say which runs are missing, and which moves did not come to an end."""
    said = []
    if done < runs:
        said.append(Warn("RUNS_CUT", f"the time limit left out {runs - done:,} of {runs:,} runs"))
    open_ = [
        f"{item['operator']}/{item['key_group']}"
        for item in body["moves"]
        if item["simulated"]["completion_s"] is None or item["simulated"]["completion_s"]["runs"] < done
    ]
    if open_:
        text = f"{len(open_):,} moves, the first one of {open_[0]}, had not ended when their simulation did"
        said.append(Warn("NOT_ENDED", f"{text}: --messages simulates longer"))
    return said


def _unmet(body: Document) -> str | None:
    if body["exactly_once"]:
        return None
    first, count = body["faults"][0], sum(not item["exactly_once"] for item in body["moves"])
    what = f"{first['operator']}/{first['key_group']}: {first['records']} records {first['what']}"
    return f"not exactly once: {count} of {len(body['moves'])} moves, the first one of {what}"
