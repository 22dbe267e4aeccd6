"""What changes from one checkpoint allocation to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.model.measures.task_state import key_group_state
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.allocate_checkpoints.body import transfers
from ftplan.planners.assessments import Difference
from ftplan.planners.situation import situation_of


@dataclass(frozen=True)
class AllocationDifference(Difference):
    """What changes between two checkpoint allocations: ``changes`` are ``{operator, key_group, what, from, to}``.

    ``moves`` are the fewest transfers that lead from the first to the second, as in a plan's ``moves``.
    """

    key_groups: int  # in either plan
    moves: tuple[Mapping[str, Any], ...] = ()  # {operator, key_group, from, to, bytes}

    @property
    def copies_moved(self) -> int:
        """How many copies arrive on a node that has none of their key group."""
        return sum(move["to"] is not None for move in self.moves)

    @property
    def bytes_moved(self) -> float | None:
        """How many bytes of state arrive there, None where some state is unknown."""
        sizes = [move["bytes"] for move in self.moves]
        return None if None in sizes else float(sum(sizes))

    @property
    def details(self) -> Mapping[str, Any]:
        """How many key groups change, and what moves."""
        return {
            "key_groups": self.key_groups,
            "key_groups_changed": len({(c["operator"], c["key_group"]) for c in self.changes}),
            "moves": self.moves,
            "copies_moved": self.copies_moved,
            "bytes_moved": self.bytes_moved,
        }


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two checkpoint allocations.

    The order of the copies of a group does not count; a group that only one plan knows is added or removed. How many
    bytes move is known with a *problem* that has a topology, and statistics or ``state_bytes``.
    """
    old, new = _by_group(before), _by_group(after)
    changes: list[Mapping[str, Any]] = []
    for group in sorted(set(old) | set(new)):
        a, b = old.get(group), new.get(group)
        for what in ("primary", "checkpoints"):
            was, becomes = (None if x is None else x[what] for x in (a, b))
            if was != becomes:
                changes.append({"operator": group[0], "key_group": group[1], "what": what, "from": was, "to": becomes})
    groups = sorted(set(old) | set(new))
    state = {} if problem is None else _state(problem)
    nowhere: dict[str, Any] = {"checkpoints": []}
    moves: list[Mapping[str, Any]] = []
    for group in groups:
        held, wanted = (plan.get(group, nowhere)["checkpoints"] for plan in (old, new))
        moves += transfers(group[0], group[1], held, wanted, state.get(group))
    return AllocationDifference(before, after, tuple(changes), len(groups), tuple(moves))


def _state(problem: Problem) -> dict[tuple[str, int], float]:
    """Return the known bytes of state of every key group."""
    topology = problem.topology
    if topology is None:
        return {}
    stats = problem.stats
    series = None if stats is None else situation_of(problem).series(stats.manifest.measures[0])
    return {
        (operator.id, group): size
        for operator in topology.keyed_operators
        for group, size in enumerate(key_group_state(operator, series).tolist())
        if size == size
    }


def _by_group(plan: Plan) -> dict[tuple[str, int], dict[str, Any]]:
    return {
        (a["operator"], a["key_group"]): {
            "primary": a.get("primary"),
            "checkpoints": sorted(a["checkpoints"], key=natural_key),
        }
        for a in (plan.plan or {})["assignments"]
    }
