"""What each part of the rebalances is worth: see ``benchmarks/ablation.py``.

Cases are those of ``benchmarks/rebalance.py``, read through their files, at a fraction of its sizes; small random
problems with every sort of limit, the sum of whose values, in costs of moving everything, is one case a kind; and moves
that are put into phases, whose value is how long these take. What is not planned though it can be counts twice.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import rebalance
from ablation import Answer, Case, Part

import ftplan
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.adaptive import adaptive
from ftplan.planners.rebalance.algorithms.exact import exact
from ftplan.planners.rebalance.algorithms.options import RebalanceSearch
from ftplan.planners.rebalance.algorithms.outcome import outcome
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.migration_phases import phase_figures
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import prepare
from ftplan.planners.rebalance.problem import Migration, RebalanceLimits, RebalanceProblem
from tests.planners.rebalance.algorithms.cases import random_problem
from tests.planners.rebalance.algorithms.phase_cases import leaving_moves, tight_moves

#: How much longer exact may take on large problems.
LONGER = 8.0
#: Share of the seconds of a plan of a random problem, iterations that a second buys there, and problems of a case.
EACH, ITERATIONS, PROBLEMS = 0.4, 100, 8


@cache
def _job(groups: int, nodes: int, seed: int, empty: bool) -> Any:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        new = rebalance.write_inputs(folder, groups, nodes, seed)
        if not empty:
            cluster = json.loads((folder / "cluster.json").read_text())
            (folder / "cluster.json").write_text(json.dumps({**cluster, "nodes": cluster["nodes"][:-new]}))
        names = {"topology": "topology.json", "cluster": "cluster.json", "stats": "stats"}
        return ftplan.load(**{kind: str(folder / file) for kind, file in names.items()})


def _prepared(groups: int, nodes: int, seed: int = 0, **options: Any) -> RebalanceProblem:
    job = _job(groups, nodes, seed, "add" in options)
    given = RebalanceOptions(**{"capacity_per_core": rebalance.PER_CORE, **options})
    made = prepare(job, given)
    return (made.filled(0.75) if made.problem.added.any() else made).problem


def _large(plan: Callable[..., Any], problem: RebalanceProblem) -> Case:
    def case(seconds: float) -> Answer:
        return _answer(problem, plan(problem, RebalanceSearch(0, seconds * (LONGER if plan is exact else 1.0))))

    return case


def _answer(problem: RebalanceProblem, result: Any) -> Answer:
    worst = 2.0 * float(np.where(np.isfinite(most := problem.priced("direct")), most, 0.0).sum()) + 1.0
    if result.status == "infeasible":
        return Answer("min", 0.0, 0.0, 1.0)
    value = worst if result.answer is None else problem.value(result.answer.moves)
    return Answer("min", value, result.bound or 0.0)


def _random(plan: Callable[..., Any], problems: Iterable[RebalanceProblem]) -> Case:
    several = list(problems)

    def case(seconds: float) -> Answer:
        value, bound = 0.0, 0.0
        for problem in several:
            search = RebalanceSearch(0, EACH * seconds, round(ITERATIONS * seconds), explain=False)
            answer = _answer(problem, plan(problem, search))
            priced = problem.priced("direct")
            scale = float(priced[np.isfinite(priced)].sum()) or 1.0
            value, bound = value + answer.value / scale, bound + min(answer.bound or 0.0, answer.value) / scale
        return Answer("min", value, bound)

    return case


def _phases(moves_of: Callable[[int], tuple[RebalanceProblem, tuple[Migration, ...]]], count: int) -> Case:
    """Return the seconds that phases of given moves take, with a thousand for each move that finds none."""
    several = [moves_of(seed) for seed in range(count)]

    def case(seconds: float) -> Answer:
        value = 0.0
        for problem, moves in several:
            result = outcome(problem, moves, None, Budget(seconds))
            phases = () if result.answer is None else result.answer.phases
            lost = problem.value(result.answer.moves) - problem.value(moves) if result.answer else 1000.0 * len(moves)
            value += sum(item.duration_s for item in phase_figures(problem, phases)) + lost
        return Answer("min", value, 0.0)

    return case


def cases() -> dict[str, Case]:
    some = {
        "4,096 x 100, no overload": (adaptive, _prepared(4096, 100)),
        "2,048 x 50, tolerance 0.2": (adaptive, _prepared(2048, 50, tolerance=0.2)),
        "4,096 x 100, bytes": (adaptive, _prepared(4096, 100, objective="bytes")),
        "2,048 x 50, a node less": (adaptive, _prepared(2048, 50, remove=("n1",))),
        "2,048 x 50, 2 nodes more": (adaptive, _prepared(2048, 50, add=("n51", "n52"))),
        "1,024 x 50, moves at most 20 MB in all": (adaptive, _prepared(1024, 50, 1, max_bytes=2e7)),
        "512 x 25, bytes, exact": (exact, _prepared(512, 25, objective="bytes")),
        "512 x 25, a node less, exact": (exact, _prepared(512, 25, remove=("n1",))),
        "512 x 25, tolerance 0.1, exact": (exact, _prepared(512, 25, 1, tolerance=0.1)),
    }
    named = {name: _large(*item) for name, item in some.items()}
    tight = RebalanceLimits(within_s=2.0, phase_bytes=4e6)
    notice = np.array([True, False, False, False, False])
    for plan in (adaptive, exact):
        kinds = {
            "12 x 5": [random_problem(seed, 12, 5) for seed in range(PROBLEMS)],
            "14 x 5, notice": [
                random_problem(200 + seed, 14, 5, 0.8, removed=notice, hosts=~notice, keeps=~notice, limits=tight)
                for seed in range(PROBLEMS)
            ],
            "40 x 8, tight": [random_problem(300 + seed, 40, 8, 0.97) for seed in range(PROBLEMS // 2)],
        }
        named |= {f"{name}, {plan.__name__}": _random(plan, problems) for name, problems in kinds.items()}
    named["phases, 8 moves"] = _phases(lambda seed: tight_moves(seed, 8, 4), 3 * PROBLEMS)
    named["phases, 40 moves"] = _phases(lambda seed: tight_moves(seed, 40, 8), PROBLEMS)
    named["phases, notice"] = _phases(lambda seed: leaving_moves(seed, 7), PROBLEMS)
    return named


_ALGORITHMS = "ftplan.planners.rebalance.algorithms"
_ADAPTIVE, _EXACT, _LEAST = f"{_ALGORITHMS}.adaptive", f"{_ALGORITHMS}.exact", f"{_ALGORITHMS}.least_cost"
_STARTS = f"{_ALGORITHMS}.search.improved_placements"
_BOUND, _DEPARTURES = f"{_ALGORITHMS}.lower_bound", f"{_ALGORITHMS}.phases.departures"
_LOCAL = f"{_ALGORITHMS}.search.local_search:_LocalSearch"
_PHASING, _NOTICE = f"{_ALGORITHMS}.phases.phasing", f"{_ALGORITHMS}.phases.notice"


def _no_moves(*given: Any) -> tuple[Any, ...]:
    return ()


def _same(now: Any, *given: Any) -> Any:
    return now


PARTS = (
    Part("adaptive: large neighbourhoods (CP-SAT)", {f"{_ADAPTIVE}:placed_anew": _same}),
    Part("adaptive: small problems as a whole (CP-SAT)", {f"{_ADAPTIVE}:MAX_WHOLE_CHOICES": -1}),
    Part("adaptive: repair by CP-SAT", {f"{_STARTS}:MODELS": 0}),
    Part(
        "adaptive: start at the prices of the bound",
        {f"{_ADAPTIVE}:_at_prices": lambda candidates, dual: WorkingPlacement(candidates)},
    ),
    Part("bound: subgradient ascent", {f"{_BOUND}:_ascent": lambda relaxation, best, upper, budget: best}),
    Part("bound: prices of the linear program (GLOP)", {f"{_BOUND}:_solved": lambda *given: None}),
    Part("local search", {f"{_STARTS}:improved": lambda now, budget, limited=True: now}),
    Part("local search: departures as a cover", {f"{_LOCAL}._depart_anew": lambda self, node: False}),
    Part("local search: arrivals as a cover", {f"{_LOCAL}._arrive_anew": lambda self, node: False}),
    Part("local search: ejections", {f"{_LOCAL}._ejections": _no_moves}),
    Part("exact: model of classes of nodes", {f"{_LEAST}:CLASSES": 1e-6}),
    Part(
        "exact: large neighbourhoods (SCIP)",
        {f"{_LEAST}:NeighbourhoodSearch.improved": lambda self, moves, budget: moves},
    ),
    Part(
        "exact: those who move on nodes of their classes",
        {f"{_LEAST}:_Classes._placed": lambda self, chosen, best: best},
    ),
    Part("exact: moves near to the model of classes", {f"{_LEAST}:_Classes._near": lambda self, chosen, best: best}),
    Part("exact: fewer moves of equal cost", {f"{_EXACT}:fewest": lambda table, proven, goal, budget: proven.moves}),
    Part("exact: cuts of moves without phases", {f"{_EXACT}:impossible_moves": _no_moves}),
    Part("phases: other orders and directions", {f"{_PHASING}:_others": _no_moves}),
    Part("notice: search over orders of departure", {f"{_DEPARTURES}:MAX_SEARCHED_MOVES": 0}),
    Part("notice: several longest pauses", {f"{_NOTICE}:PAUSES": (1.0,)}),
    Part("notice: recovered soon", {f"{_NOTICE}:_recovered_soon": lambda problem, phases: phases}),
)
