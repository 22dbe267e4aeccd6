"""Active replicas: random, structured, production topologies, on nodes or not, and what their planners are made of.

Cases of production topologies are there where ``FTPLAN_STORM_TOPOLOGIES`` names their folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ablation import Answer, Case, Part
from instances import in_tree, mixture
from replication_instances import FIGURE_14, figure_14, query_2, worst_case
from replication_joint import production
from replication_storm import topology_of
from replication_structured import problem_of as structured
from replication_then_recover import inputs

import ftplan
from ftplan.planners.registry import row
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

HERE = "ftplan.planners.replicate_tasks.algorithms"
STORM = os.environ.get("FTPLAN_STORM_TOPOLOGIES")


def chosen(problem: ReplicationProblem, algorithm: str, seconds: float) -> Answer:
    """Return what an algorithm keeps, with a proven bound."""
    planner = ReplicationPlanner.of(row("replicate-tasks", algorithm))
    result = planner.choose(problem, ReplicationOptions(time_limit_s=seconds))
    return Answer("max", problem.value_at(result.answer.nodes()), result.bound)


def random(part: str, number: int, seed: int, share: float, algorithm: str) -> Case:
    """Return a topology of Su & Zhou's figure 14."""
    topology = figure_14(FIGURE_14[part][number], seed)
    return lambda seconds: chosen(worst_case(topology, int(share * topology.task_count)), algorithm, seconds)


def lanes(seed: int, tasks: tuple[int, int], joins: float, share: float, algorithm: str) -> Case:
    """Return an in-tree of structured edges whose lanes overlap."""
    topology = in_tree(seed, 10, tasks, 0.1, joins=joins)
    return lambda seconds: chosen(structured(topology, int(share * topology.task_count)), algorithm, seconds)


def plan(problem: ftplan.Problem, algorithm: str, **options: object) -> Case:
    """Return a plan by the Python face; least is best where replicas serve the recovery."""

    def case(seconds: float) -> Answer:
        asked = {"time_limit_s": seconds, **options}
        made = ftplan.plan("replicate-tasks", problem, algorithm=algorithm, **asked)
        objective = made.objective
        return Answer("min" if "then_recover" in options else "max", objective.value, objective.bound)

    return case


def aligned(share: str, algorithm: str) -> Case:
    """Return two streams of one source that are joined, whose losses count once by key."""
    one = [1 / (k + 1) ** 0.5 for k in range(12)]
    operators = [
        {"id": "source", "parallelism": 12, "rate_out": one, "input_share": one},
        {"id": "left", "parallelism": 6},
        {"id": "right", "parallelism": 4},
        {"id": "join", "parallelism": 6, "inputs": "correlated"},
        {"id": "sink", "parallelism": 3},
    ]
    ways = (
        ("source", "left", "merge"),
        ("source", "right", "merge"),
        ("left", "join", "one-to-one"),
        ("right", "join", "full"),
        ("join", "sink", "merge"),
    )
    edges = [{"from": a, "to": b, "partitioning": how} for a, b, how in ways]
    job = {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}
    return plan(ftplan.load(topology=job), algorithm, budget=share, metric="key-aligned-fidelity")


def storm(number: int, algorithm: str, share: float, failure: str | None = None, load: float = 0.8) -> Case:
    """Return a production topology of full edges, in a cluster where it says how that fails."""
    assert STORM is not None
    topology = topology_of(sorted(Path(STORM).glob("*.json"))[number])
    if failure is not None:
        return plan(production(topology, load, failure), algorithm, budget=f"{share:.0%}")
    return lambda seconds: chosen(worst_case(topology, int(share * topology.task_count)), algorithm, seconds)


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    example = inputs("storm-recovery", "racks.yaml", "")
    room = inputs("storm-recovery", "racks.yaml", "half the other load")
    current = ftplan.plan("replicate-tasks", room, budget=12)
    made = {
        "random, joins, exact": random("d: joins", 1, 3, 0.3, "exact"),
        "random, 20-30, exact": random("b: parallelism", 2, 5, 0.4, "exact"),
        "random, 20-30, aware": random("b: parallelism", 2, 5, 0.4, "structure-aware"),
        "random, 10-20, aware": random("b: parallelism", 1, 2, 0.2, "structure-aware"),
        "random, full, aware": random("c: partitioning", 1, 4, 0.2, "structure-aware"),
        "query 2, dynamic": lambda seconds: chosen(worst_case(query_2(), 7), "dynamic-programming", 30.0),
        "lanes, exact": lanes(0, (60, 140), 0.0, 0.3, "exact"),
        "lanes, joins, exact": lanes(1, (60, 140), 0.5, 0.3, "exact"),
        "lanes, joins, aware": lanes(1, (60, 140), 0.5, 0.3, "structure-aware"),
        "lanes of 500, aware": lanes(2, (300, 700), 0.0, 0.1, "structure-aware"),
        "mixture of 5,000, aware": lambda seconds: chosen(
            worst_case(mixture(5_000), 500.0), "structure-aware", seconds
        ),
        "key-aligned, exact": aligned("40%", "exact"),
        "key-aligned, aware": aligned("40%", "structure-aware"),
        "example racks, exact": plan(example, "exact", budget=20),
        "example racks, aware": plan(example, "structure-aware", budget=20),
        "example with room, exact": plan(room, "exact", budget=30),
        "example with room, changes, exact": plan(room, "exact", budget=20, current=current, max_changes=10),
        "example with room, changes, aware": plan(room, "structure-aware", budget=20, current=current, max_changes=10),
        "then recover, 20": plan(room, "structure-aware", budget=10, then_recover=True, iterations=8, time_limit_s=60),
        "then recover, no room": plan(
            example, "structure-aware", budget=6, then_recover=True, iterations=8, time_limit_s=60
        ),
    }
    if STORM is not None:
        made |= {f"production {n}, exact": storm(n, "exact", 0.25) for n in (3, 11, 19)}
        made |= {
            f"production {n} racks, {a}": storm(n, a, 0.25, "racks")
            for n in (3, 11)
            for a in ("exact", "structure-aware")
        }
        made["production 3 all, exact"] = storm(3, "exact", 0.25, "all")
    return made


def _nothing(*_: object, **__: object) -> None:
    return None


def _alone(_circuit: object, tasks: int) -> object:
    return np.arange(tasks, dtype=np.int64)


def _no_sets(*_: object, **__: object) -> list[object]:
    return []


def _as_it_was(_growth: object, room: object, *_: object) -> object:
    return room


PARTS = (
    Part("surrogates of two limits", {f"{HERE}.exact:_surrogates": _nothing}),
    Part("a choice rounded from tables", {f"{HERE}.exact:MOST_COPIES": -1}),
    Part("branch and bound over shared operators", {f"{HERE}.exact:_branch": _nothing}),
    Part("relaxation before the program", {f"{HERE}.models.joint_program:JointProgram.relaxed": _nothing}),
    Part("one small program first", {f"{HERE}.exact:FEW_PAIRS": -1}),
    Part("heuristic before the program", {f"{HERE}.exact:_heuristic": _nothing}),
    Part("packings", {f"{HERE}.models.candidate_nodes:packings": _no_sets}),
    Part("tasks of use together", {f"{HERE}.models.joint_program:used_together": _alone}),
    Part("starts with other trees", {f"{HERE}.search.growth:STARTS": 0}),
    Part("ruins", {f"{HERE}.search.climbing:improved": _as_it_was}),
    Part("all choices of small jobs", {f"{HERE}.search.climbing:enumerated": _nothing}),
    Part("coarse growth of large jobs", {f"{HERE}.search.climbing:LARGE": 10**12}),
    Part("trees remembered", {f"{HERE}.search.growth:REMEMBERED": 0}),
    Part("cheapest trees", {f"{HERE}.search.growth:MAX_ROUNDS": 1}),
    Part("room made by moving a replica", {f"{HERE}.replica_placement:CHAINS": 0}),
    Part("steps between budgets", {f"{HERE}.search.climbing:DEAR": 0.0}),
    Part(
        "local search of savings",
        {
            f"{HERE}.recovery_savings:SEARCH_LOOKS": 0,
            f"{HERE}.recovery_savings:_searched": lambda pool, problem, start, *_: start,
        },
    ),
    Part("filled by savings", {f"{HERE}.recovery_savings:_filled": lambda pool, problem, node, part: node}),
    Part("grown by savings", {f"{HERE}.recovery_savings:_grown": lambda pool, problem, node, part: node}),
    Part("levels below the budget", {f"{HERE}.recovery_savings:levels": lambda problem: [problem.budget]}),
    Part("program of downtimes", {f"{HERE}.models.downtime_relaxation:MOST_ENTRIES": -1}),
)
