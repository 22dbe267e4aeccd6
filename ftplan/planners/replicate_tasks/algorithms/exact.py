"""The best replicas under a budget and on the nodes of a cluster, with a proof or a proven gap."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Status
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.fidelity_circuit.circuit import Circuit
from ftplan.planners.fidelity_circuit.reduction import Reduced
from ftplan.planners.fidelity_circuit.tables import choices
from ftplan.planners.incumbents import Incumbents, wanted_gap
from ftplan.planners.replicate_tasks.algorithms.bounds import CostCircuit, least_value, quick_bound, raised, units
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import (
    CandidateNodes,
    Knapsack,
    Sites,
    knapsacks,
    nodes_on,
)
from ftplan.planners.replicate_tasks.algorithms.models.joint_program import JointProgram
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions, met
from ftplan.planners.replicate_tasks.algorithms.replica_placement import in_place, keeps_limits
from ftplan.planners.replicate_tasks.algorithms.search.branching import BranchAndBound
from ftplan.planners.replicate_tasks.algorithms.shortage import too_few_changes
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Part of the time for the tables: where they are not ready by then, another plan and the integer program do without.
TABLES = 0.5
#: Part of the time for branch and bound before an integer program, where operators are large and where they are not
#: and the choices are few; of what is left for the program; and the gap below which large operators need none.
BRANCHING, TASTE, TASTE_ITERATIONS, FEW_BLOCKS, PROGRAM, CLOSE = 0.6, 0.1, 20, 1000, 0.8, 0.01
#: Copies of shared parts up to which a table is read back.
MOST_COPIES = 200
#: Sums of two limits that are tried, and how often each is in them at most.
SURROGATES, TIMES = 6, 20
#: Part of what is left of the time for a heuristic, at most.
HEURISTIC = 0.6
#: Pairs of a task and a site up to which a program begins with all of them, and its part of what is left of the time.
FEW_PAIRS, FIRST = 5_000, 0.5


def exact(
    problem: ReplicationProblem, options: ReplicationOptions, start: IntArray | None = None
) -> Result[Replication]:
    """Choose the replicas of most expected fidelity under the budget, and with hosts the nodes where they stand.

    Where all paths of the topology nest, as in in-trees of full edges with joins, or lanes of tasks that split and
    meet again, and no task fails in two cases, dynamic programming over costs is exact: operators whose tasks are fed
    alike take their heaviest tasks first, parts in series and joins multiply, parallel parts and cases add up. Else
    branch and bound over the operators that feed several others, and an integer program over single tasks, the first
    where operators are large, the other where they are not. Costs that no unit divides are rounded down for the bound.

    With hosts an integer program chooses a task's replica and its site at once: a node, or nodes that differ in
    nothing. Where it would be large, sites are merged as far as cases do not tell them apart, which bounds the optimum;
    what is chosen so, and a heuristic's answer, then are the tasks of a program over single nodes.

    Cost: O(budget · tasks) where paths nest and there is room; exponential at worst elsewhere, within the limits of the
    options.

    *start*: the nodes of replicas, (T,), by a heuristic; without any structure-aware is asked in between.

    Guarantee: optimal where it says so, but for rounding; else the bound is proven.

    References: output fidelity is [SuZhou2016], section III; the paper has no exact method beyond a few MC-trees.
    """
    # Departure from the paper's algorithm 1: no MC-tree is ever listed, since on full edges there are billions.
    refused = too_few_changes(problem)
    if refused is not None:
        return Result("infeasible", None, (), None, refused.reason, refused)
    budget = Budget.of(options)
    search = _ReplicaSearch(problem, options.seed)
    search.offer(start, "structure-aware")
    with contextlib.suppress(OutOfTime):
        _solve(search, None if start is not None else options, budget)
    node = problem.without_useless(search.node)
    search.log.offer(node, problem.value_at(node), "useful replicas")
    answer = Replication.on(problem, node)
    status: Status = "optimal" if met(search.log) else "feasible"
    return Result(status, answer, ("budget",), search.log.bound, warnings=budget.warnings())


def curve(problem: ReplicationProblem, limits: list[float], budget: Budget) -> list[tuple[float, float]] | None:
    """Return value and bound of the best replicas at each of some budgets, from one table.

    None where there are hosts or changes are limited, where paths do not nest or tasks fail in several cases, or where
    the table is not ready in a part of the time: then each budget is a question.
    """
    if problem.hosts is not None or problem.max_changes is not None:
        return None
    part = budget.part(TABLES)
    try:
        tables = CostCircuit.of(replace(problem, budget=max(limits)), part)
        reduced = tables.reduced(part) if tables.units.whole and tables.alone else None
    except OutOfTime:
        return None
    if reduced is None or not reduced.exact:
        return None
    values = [tables.bound(reduced, units(replace(problem, budget=limit)).limit) for limit in limits]
    return [(value, raised(value)) for value in values]


class _ReplicaSearch:
    """The search for the nodes of replicas, (T,), NOWHERE for none; its log knows the best of them and the bound."""

    def __init__(self, problem: ReplicationProblem, seed: int) -> None:
        """Begin with nothing, or where changes are limited with what is in place."""
        self.problem, self.seed, self.candidates = problem, seed, CandidateNodes.of(problem)
        self.least = least_value(problem)
        self.log: Incumbents[IntArray] = Incumbents("max", problem.metric, gap=wanted_gap(self.candidates.open.size))
        self.log.prove(1.0, "a share")
        nothing = np.full(problem.tasks, NOWHERE)
        if problem.current is None:
            self.log.offer(nothing, problem.value_at(nothing), "nothing")
            return
        here = in_place(problem).node
        if problem.max_changes is not None:
            self.log.offer(here, problem.value_at(here), "in place")
        for node in (nothing, here):
            self.offer(node, "in place")

    @property
    def node(self) -> IntArray:
        """The best nodes so far."""
        assert self.log.answer is not None
        return self.log.answer

    def offer(self, node: IntArray | None, by: str) -> None:
        """Take a solution where it keeps all limits and is better."""
        if node is not None and keeps_limits(self.problem, node):
            self.log.offer(node, self.problem.value_at(node), by)

    def prove(self, bound: float, by: str) -> None:
        """Take a bound, raised for rounding errors; where nothing helps, one below all other values says so."""
        nothing = self.log.value <= 0.0 and bound < 0.5 * self.least
        self.log.prove(0.0 if nothing else raised(bound), by)

    def offer_choice(self, replicated: BoolArray, by: str) -> None:
        """Take replicas, (T,), on nodes that have room for them."""
        everywhere = np.ones((1, self.candidates.open.shape[1]), dtype=np.bool_)
        site = np.where(replicated, 0, NOWHERE)
        self.offer(nodes_on(self.problem, self.candidates, site, everywhere), by)

    @property
    def done(self) -> bool:
        """Whether the bound is met, or as near as is wanted."""
        return met(self.log) or self.log.closed


def _solve(search: _ReplicaSearch, heuristic: ReplicationOptions | None, budget: Budget) -> None:
    """Improve solution and bound until they meet or the work is done; raises :class:`OutOfTime`.

    With *heuristic*, its options, structure-aware is asked too.
    """
    problem = search.problem
    tables: list[CostCircuit] = []
    with _part(budget, TABLES) as part:
        _tables(search, tables, part)
    if search.done:
        return
    branched = [each for each in tables if each.alone and _has_large_operators(each.circuit)]
    if problem.hosts is None:
        _heuristic(search, heuristic, budget)
        few = [each for each in tables[:1] if each.alone and len(each.circuit.blocks) <= FEW_BLOCKS]
        for each in (branched[:1] or few) if not search.done else ():
            _branch_and_program(search, each, budget)
    else:
        _place_few(search, budget)
        for each in branched if not search.done else ():
            with _part(budget, TASTE) as part:
                _branch(search, BranchAndBound(each.circuit, each.limit), part)
        if not search.done:
            _heuristic(search, heuristic, budget)
    if not search.done:
        with _part(budget, TASTE) as part:
            search.prove(quick_bound(problem, part), "tables")
        _relax(search, budget)


@contextlib.contextmanager
def _part(budget: Budget, share: float) -> Iterator[Budget]:
    """Give a part of the time to what ends where that is over; whatever follows has the rest."""
    part = budget.part(share)
    with contextlib.suppress(OutOfTime):
        yield part
    budget.cut |= part.cut


def _tables(search: _ReplicaSearch, tables: list[CostCircuit], budget: Budget) -> None:
    """Choose by tables for the budget, the changes and the room of all nodes; add the circuit of each to a list."""
    problem = search.problem
    first, *others = knapsacks(problem, search.candidates)
    circuit, chosen = _table(search, first, budget)
    tables.append(circuit)
    for other in others if not search.done else ():
        if chosen is None:  # a program or branching decides on all limits
            tables.append(CostCircuit.of(other.of(problem), budget, search.candidates))
            continue
        tables.append(_table(search, other, budget)[0])
        if search.done:
            return
    for other in others if chosen is not None else ():
        _surrogates(search, first, other, budget)
    if not circuit.alone and problem.hosts is None:
        search.prove(quick_bound(problem, budget), "tables")


def _table(search: _ReplicaSearch, knapsack: Knapsack, budget: Budget) -> tuple[CostCircuit, BoolArray | None]:
    """Offer the bound and the choice of one limit; return its circuit, and the choice where that is the best one."""
    problem = search.problem
    view = knapsack.of(problem)
    table = CostCircuit.of(view, budget, search.candidates)
    reduced = table.reduced(budget)
    search.prove(table.bound(reduced), "tables")
    if reduced.exact or (problem.hosts is None and len(reduced.copies) <= MOST_COPIES):
        search.offer_choice(_rounded(problem, view, table, reduced, budget), "tables")
    if not reduced.exact:
        return table, None
    counts = choices(reduced.table, table.limit, budget).counts.items()
    return table, _tasks(view, table.circuit, {k: max(several) for k, several in counts})


def _surrogates(search: _ReplicaSearch, first: Knapsack, second: Knapsack, budget: Budget) -> None:
    """Bound by sums of two limits, each so often that the best choice comes as near as may be to keep both."""
    one, two = (units(knapsack.of(search.problem)) for knapsack in (first, second))
    low, high = 0.0, 1.0
    for _ in range(SURROGATES):
        if search.done:
            return
        share = (low + high) / 2.0
        each = np.array([(1.0 - share) / max(1, one.limit), share / max(1, two.limit)])
        a, b = np.round(TIMES * each / each.max()).tolist()
        both = Knapsack(a * one.cost + b * two.cost, a * one.limit + b * two.limit)
        chosen = _table(search, both, budget)[1]
        if chosen is None:
            return
        if one.cost[chosen].sum() > one.limit:
            high = share
        elif two.cost[chosen].sum() > two.limit:
            low = share
        else:
            return


def _heuristic(search: _ReplicaSearch, options: ReplicationOptions | None, budget: Budget) -> None:
    if options is None:
        return
    part = replace(options, time_limit_s=HEURISTIC * budget.left_s)
    result = structure_aware(search.problem, part)
    if result.answer is not None:
        search.offer(result.answer.nodes(), "structure-aware")


def _branch_and_program(search: _ReplicaSearch, tables: CostCircuit, budget: Budget) -> None:
    """Branch first where operators are large, else after the integer program, but for a taste of bounded work."""
    tree, large = BranchAndBound(tables.circuit, tables.limit), _has_large_operators(tables.circuit)
    with _part(budget, BRANCHING if large else TASTE) as part:
        if not large:  # bounded work, so that what follows starts from the same plan in every run
            part.iterations = min(TASTE_ITERATIONS, part.iterations or TASTE_ITERATIONS)
        _branch(search, tree, part)
    if not search.done and not (large and search.log.gap <= CLOSE):
        with _part(budget, PROGRAM) as part:
            sites = Sites.merged(search.problem, search.candidates)
            _program(search, part, JointProgram.of(search.problem, search.candidates, sites, search.seed, part))
    if not search.done:
        _branch(search, tree, budget.part(PROGRAM))


def _branch(search: _ReplicaSearch, tree: BranchAndBound, budget: Budget) -> None:
    best = tree.resume(budget)
    search.offer_choice(_tasks(search.problem, tree.circuit, best.counts), "branch and bound")
    search.prove(best.bound, "branch and bound")


def _place_few(search: _ReplicaSearch, budget: Budget) -> None:
    """Choose and place a small problem by one program."""
    problem, candidates = search.problem, search.candidates
    single = Sites.single(problem, candidates)
    if int(single.open[candidates.row].sum()) <= FEW_PAIRS:
        with _part(budget, FIRST) as part:
            _program(search, part, JointProgram.of(problem, candidates, single, search.seed, part))


def _relax(search: _ReplicaSearch, budget: Budget) -> None:
    """Bound by relaxations, of whole numbers and of what nodes hold; then choose among the tasks of their solutions."""
    problem, candidates = search.problem, search.candidates
    program = JointProgram.of(problem, candidates, Sites.merged(problem, candidates), search.seed, budget)
    if program is None:
        return
    some = search.node != NOWHERE
    with _part(budget, FIRST) as part:
        relaxation = program.relaxed(part)
        if relaxation is not None:
            search.prove(relaxation.bound, "linear relaxation")
            some |= relaxation.support
    if search.done:
        return
    if problem.hosts is not None:
        with _part(budget, FIRST) as part:
            some |= _program(search, part, program)
        program = JointProgram.of(problem, candidates, Sites.single(problem, candidates), search.seed, budget)
    if not search.done and not some[candidates.placeable].all():
        with _part(budget, FIRST) as part:
            _program(search, part, program, some)
    if not search.done:
        _program(search, budget, program)


def _program(
    search: _ReplicaSearch, budget: Budget, program: JointProgram | None, only: BoolArray | None = None
) -> BoolArray:
    """Offer what an integer program says, perhaps of some tasks only; return the tasks that it replicates."""
    problem, nothing = search.problem, np.zeros(search.problem.tasks, dtype=np.bool_)
    if program is None:
        return nothing
    solution = program.solved(budget, program.sites.of(search.node), max(search.log.bound, 1e-12), only)
    if only is None:
        search.prove(solution.bound, "HiGHS")
    if solution.site is None:
        return nothing
    search.offer(nodes_on(problem, search.candidates, solution.site, program.sites.inside), "HiGHS")
    return np.asarray(solution.site != NOWHERE, dtype=np.bool_)


def _has_large_operators(each: Circuit) -> bool:
    """Return whether tasks mostly sit in operators that are fed alike."""
    return sum(block.most for block in each.blocks) >= 4 * len(each.blocks)


def _rounded(
    problem: ReplicationProblem, view: ReplicationProblem, tables: CostCircuit, reduced: Reduced, budget: Budget
) -> BoolArray:
    """Return a choice that fits, from the table of a view: at the largest cost where the most of all copies fits."""

    def at(cost: int) -> BoolArray:
        counts = {k: max(several) for k, several in choices(reduced.table, cost, budget).counts.items()}
        return _tasks(view, tables.circuit, counts)

    def fits(cost: int) -> bool:
        chosen = at(cost)
        return problem.fits(problem.cost(chosen)) and view.fits(view.cost(chosen))

    low, high = 0, len(reduced.table.values) - 1
    if fits(high):
        return at(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return at(low)


def _tasks(problem: ReplicationProblem, each: Circuit, counts: dict[int, int]) -> BoolArray:
    """Return the tasks of some blocks' choices, and all that cost nothing."""
    replicated = problem.free
    for k, count in counts.items():
        replicated[each.blocks[k].tasks[:count]] = True
    return replicated
