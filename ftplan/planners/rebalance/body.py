"""The body of a rebalance: its fields, and what writes them; and the summary beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative
from ftplan.model.plan import finite
from ftplan.model.topology import BoolArray
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.metrics import NOTHING, figures, nodes, otherwise, payback
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.migration_phases import phase_figures
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.reasons import reasons
from ftplan.planners.rebalance.rollback import rollback
from ftplan.planners.rebalance.rules import copies_after


def body(problem: RebalanceProblem, answer: Rebalance, protocol: str) -> dict[str, Any]:
    """Return the body of a plan; *protocol* is what was asked for."""
    return {
        "moves": moves_of(problem, answer, protocol),
        "phases": phases_of(problem, answer),
        "checkpoints": checkpoints_of(problem, answer),
        "new_copies": new_copies_of(problem, answer),
        "add_nodes": named(problem, problem.added),
        "remove_nodes": named(problem, problem.removed),
        "rollback": rollback_of(problem, answer),
    }


def named(problem: RebalanceProblem, which: BoolArray) -> list[str]:
    """Return the ids of some nodes, (N,)."""
    return [problem.nodes[node] for node in np.flatnonzero(which).tolist()]


def moves_of(problem: RebalanceProblem, answer: Rebalance, protocol: str) -> list[dict[str, Any]]:
    """Return the moves in the order in which they are carried out."""
    why = reasons(problem, answer, protocol)
    return [
        {
            **_move(problem, number, move, int(problem.home[move.group])),
            "pause_s": finite(pause),
            "reason": why[move],
        }
        for number, (phase, item) in enumerate(zip(answer.phases, phase_figures(problem, answer.phases), strict=True))
        for move, pause in zip(phase, item.pause_s.tolist(), strict=True)
    ]


def _move(problem: RebalanceProblem, phase: int, move: Migration, source: int) -> dict[str, Any]:
    row, costs = PROTOCOLS.index(move.protocol), problem.costs
    return {
        "phase": phase,
        "operator": problem.operators[move.group],
        "key_group": int(problem.key_group[move.group]),
        "from": problem.nodes[source],
        "to": problem.nodes[move.target],
        "protocol": move.protocol,
        "latency_s": finite(costs.latency_s[row, move.group]),
        "completion_s": finite(costs.completion_s[row, move.group]),
        "bytes": finite(costs.bytes[row, move.group]),
    }


def phases_of(problem: RebalanceProblem, answer: Rebalance) -> list[dict[str, Any]]:
    """Return what each phase takes."""
    return [
        {
            "phase": number,
            "moves": len(phase),
            "bytes": finite(item.bytes),
            "duration_s": finite(item.duration_s),
            "longest_pause_s": finite(item.longest_pause_s),
            "highest_utilisation": finite(item.highest_utilisation),
        }
        for number, (phase, item) in enumerate(zip(answer.phases, phase_figures(problem, answer.phases), strict=True))
    ]


def checkpoints_of(problem: RebalanceProblem, answer: Rebalance) -> list[dict[str, Any]]:
    """Return where the copies of each key group lie when all is done."""
    return [
        {
            "operator": problem.operators[group],
            "key_group": int(problem.key_group[group]),
            "nodes": [problem.nodes[node] for node in copies],
        }
        for group, copies in enumerate(copies_after(problem, answer))
    ]


def new_copies_of(problem: RebalanceProblem, answer: Rebalance) -> list[dict[str, Any]]:
    """Return the copies that are made anew, on the nodes that have the key groups then."""
    place = places_after(problem, answer.moves)
    return [
        {
            "operator": problem.operators[copy.group],
            "key_group": int(problem.key_group[copy.group]),
            "from": problem.nodes[int(place[copy.group])],
            "to": problem.nodes[copy.target],
            "bytes": float(problem.state[copy.group]) or None,
        }
        for copy in answer.new_copies
    ]


def summary(prepared: PreparedRebalance, options: RebalanceOptions, answer: Rebalance | None) -> dict[str, Any]:
    """Return the figures before and after, None for none, and what follows from question and moves alone."""
    problem, series = prepared.problem, prepared.series
    known: dict[str, Any] = {"before": _figures(prepared, options, NOTHING), "after": None, "random": None}
    if answer is None:
        return known
    return {
        **known,
        "after": _figures(prepared, options, answer),
        **otherwise(problem, answer.moves),
        "nodes": nodes(problem, answer),
        "payback": payback(problem, answer, series.loads, series.window_s),
    }


def _figures(prepared: PreparedRebalance, options: RebalanceOptions, answer: Rebalance) -> dict[str, Any]:
    problem, series = prepared.problem, prepared.series
    known = figures(problem, answer, series.loads, series.window_s)
    if problem.traffic is not None and options.cross_zone_cost:
        place = places_after(problem, answer.moves)
        priced = problem.traffic[np.arange(len(place)), place].sum()
        known["cross_zone_mb_s"] = float(priced) / options.cross_zone_cost
    return known


def rollback_of(problem: RebalanceProblem, answer: Rebalance) -> list[dict[str, Any]]:
    """Return the moves that undo a rebalance, the last phase first; their phases count from 0 too."""
    place = places_after(problem, answer.moves)
    return [
        _move(problem, number, move, int(place[move.group]))
        for number, phase in enumerate(rollback(problem, answer))
        for move in phase
    ]


class KeyGroupMoveModel(FileModel):
    """A key group that goes to another node."""

    phase: Index | None = Field(None, description="From 0; the moves of a phase begin together")
    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id = Field(alias="from", description="Node that has it")
    to: Id = Field(description="Node that gets it")
    protocol: str | None = Field(
        None, description="cpa, cpal, lazy or direct; recover or fetch: after the loss of its node"
    )
    latency_s: NonNegative | None = Field(None, description="Seconds for which it is paused, moved alone")
    completion_s: NonNegative | None = Field(None, description="Seconds until it is moved, alone")
    bytes: NonNegative | None = Field(None, description="What goes over the network for it")
    pause_s: NonNegative | None = Field(None, description="Seconds for which it is paused in its phase")
    reason: str | None = Field(None, description="Why by this protocol")


class CopiesAfterModel(FileModel):
    """Where the checkpoints of a key group lie afterwards."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    nodes: list[Id] = Field(description="One for each copy")


class PhaseModel(FileModel):
    """Moves that begin together; a phase begins when the one before has ended."""

    phase: Index = Field(description="From 0")
    moves: Index = Field(description="Key groups that move")
    bytes: NonNegative = Field(description="What goes over the network")
    duration_s: NonNegative = Field(description="Seconds from its begin until all are moved")
    longest_pause_s: NonNegative = Field(description="Longest pause of a key group")
    highest_utilisation: NonNegative | None = Field(
        None, description="Of any node, while both ends of low-latency moves are loaded; null: one has no capacity"
    )


class NewCopyModel(FileModel):
    """A checkpoint that is made anew, since its node is gone."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id = Field(alias="from", description="Node that it is made on")
    to: Id = Field(description="Node that gets it")
    bytes: NonNegative | None = Field(None, description="State to copy; null if unknown")


class RebalanceBody(FileModel):
    """What a plan of kind rebalance holds; one made by hand needs only the moves."""

    moves: list[KeyGroupMoveModel] = Field(description="In the order in which they are carried out")
    phases: list[PhaseModel] | None = Field(None, description="What each phase takes")
    checkpoints: list[CopiesAfterModel] | None = Field(None, description="Afterwards, of every key group")
    new_copies: list[NewCopyModel] | None = Field(None, description="Checkpoints that are made anew after all phases")
    add_nodes: list[Id] | None = Field(None, description="Nodes that are filled")
    remove_nodes: list[Id] | None = Field(None, description="Nodes that are drained")
    rollback: list[KeyGroupMoveModel] | None = Field(
        None, description="Moves that undo the plan, the last phase first; each phase of it can be undone alone"
    )


BODY = RebalanceBody
