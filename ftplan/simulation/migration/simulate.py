"""From inputs and options to the answer of simulated migrations, by level; the moves of a plan in all runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.options.fields import flag
from ftplan.model.kinds import REBALANCE
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.planners.rebalance.from_plan import numbered, question_of
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.simulation.answer import Document
from ftplan.simulation.migration.answer import MessageRun, MigrationSimulation, messages_document
from ftplan.simulation.migration.options import MESSAGES, TRACE, MigrationSimulationOptions
from ftplan.simulation.migration.run import run_moves
from ftplan.simulation.migration.scene import PlannedMoves, move_settings, planned_moves
from ftplan.simulation.registry import Report
from ftplan.simulation.run import deadline, outcomes, too_short
from ftplan.simulation.scene import GivenPlan

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

    Raises
    ------
    FtplanError
        If there is no plan where one is needed, an input is missing or does not fit, or no run is done in time.
    """
    if options.level == TRACE:
        from ftplan.simulation.migration.adaptation.simulate import simulate_trace

        return simulate_trace(problem, plan, options, progress)
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
