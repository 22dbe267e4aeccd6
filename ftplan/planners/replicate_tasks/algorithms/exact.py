"""The best replicas under a budget and on the nodes of a cluster, with a proof or a proven gap."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Status, sound_bound
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.fidelity_circuit.circuit import Circuit
from ftplan.planners.fidelity_circuit.reduction import Reduced
from ftplan.planners.fidelity_circuit.tables import choices
from ftplan.planners.replicate_tasks.algorithms.bounds import RAISED, CostCircuit, quick_bound, raised, units
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import CandidateNodes, Knapsack, knapsacks, room
from ftplan.planners.replicate_tasks.algorithms.models.joint_program import JointProgram
from ftplan.planners.replicate_tasks.algorithms.models.sites import Sites, nodes_on
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.replica_placement import in_place
from ftplan.planners.replicate_tasks.algorithms.search.branching import BranchAndBound
from ftplan.planners.replicate_tasks.algorithms.shortage import too_few_changes
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: The share of its bound at which a value counts as the optimum.
MET = 1e-7
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


def exact(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
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

    Guarantee: optimal where it says so, up to 1e-7 of the value; else the bound is proven.

    References: output fidelity is [SuZhou2016], section III; the paper has no exact method beyond a few MC-trees.
    """
    # Departure from the paper's algorithm 1: no MC-tree is ever listed, since on full edges there are billions.
    refused = too_few_changes(problem)
    if refused is not None:
        return Result("infeasible", None, (), None, refused.reason, refused)
    budget = Budget.of(options)
    incumbent = _Incumbent.of(problem)
    with contextlib.suppress(OutOfTime):
        _solve(incumbent, options, budget)
    node = problem.without_useless(incumbent.node)
    value, bound = problem.value_at(node), incumbent.bound
    status: Status = "optimal" if value >= bound * (1.0 - MET) else "feasible"
    bound = sound_bound("max", value, bound)
    return Result(status, Replication.on(problem, node), ("budget",), bound, warnings=budget.warnings())


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


@dataclass(slots=True, eq=False)
class _Incumbent:
    """The best solution so far, a node for each task, (T,), and the least bound."""

    problem: ReplicationProblem
    candidates: CandidateNodes
    node: IntArray
    value: float
    bound: float = 1.0

    @staticmethod
    def of(problem: ReplicationProblem) -> _Incumbent:
        """Begin with nothing, or where changes are limited with what is in place."""
        nothing = np.full(problem.tasks, NOWHERE)
        node = nothing if problem.max_changes is None or problem.current is None else in_place(problem).node
        incumbent = _Incumbent(problem, CandidateNodes.of(problem), node, problem.value_at(node))
        if problem.current is not None:
            for other in (nothing, in_place(problem).node):
                incumbent.offer(other)
        return incumbent

    def offer(self, node: IntArray | None, bound: float = np.inf) -> None:
        """Take a solution where it keeps all limits and is better, and a bound where it is less."""
        if node is not None and _keeps_limits(self.problem, node):
            value = self.problem.value_at(node)
            if value > self.value:
                self.node, self.value = node, value
        self.bound = sound_bound("max", self.value, min(self.bound, bound * (1.0 + RAISED)))

    def offer_choice(self, replicated: BoolArray, bound: float = np.inf) -> None:
        """Take replicas, (T,), on nodes that have room for them."""
        everywhere = np.ones((1, self.candidates.open.shape[1]), dtype=np.bool_)
        site = np.where(replicated, 0, NOWHERE)
        self.offer(nodes_on(self.problem, self.candidates, site, everywhere), bound)

    def offer_answer(self, result: Result[Replication]) -> None:
        """Take what a heuristic answers."""
        if result.answer is not None:
            self.offer(result.answer.nodes())

    @property
    def proven(self) -> bool:
        """Whether the bound is met."""
        return self.value >= self.bound * (1.0 - MET)


def _keeps_limits(problem: ReplicationProblem, node: IntArray) -> bool:
    """Return whether replicas on nodes, (T,), keep to budget, changes and room."""
    tasks, hosts = np.flatnonzero(node != NOWHERE), problem.hosts
    if not problem.fits(problem.cost(node != NOWHERE)):
        return False
    if problem.max_changes is not None and problem.changes(node) > problem.max_changes:
        return False
    if hosts is None:
        return True
    if (node < NOWHERE).any() or not all(hosts.allowed(task)[node[task]] for task in tasks.tolist()):
        return False
    for need, have in ((hosts.cpu, hosts.residual_cpu), (hosts.memory_mb, hosts.residual_mb)):
        taken = np.bincount(node[tasks], need[tasks], len(have))
        used = np.bincount(node[tasks], minlength=len(have)) > 0
        if (used & ((taken > room(have)) | (have < 0.0))).any():
            return False
    return True


def _solve(incumbent: _Incumbent, options: ReplicationOptions, budget: Budget) -> None:
    """Improve solution and bound until they meet or the work is done; raises :class:`OutOfTime`."""
    problem, part = incumbent.problem, budget.part(TABLES)
    tables: list[CostCircuit] = []
    try:
        _tables(incumbent, tables, part)
    except OutOfTime:
        budget.cut = True
    if incumbent.proven:
        return
    branched = [each for each in tables if each.alone and _has_large_operators(each.circuit)]
    if problem.hosts is None:
        _heuristic(incumbent, options, budget)
        few = [each for each in tables[:1] if each.alone and len(each.circuit.blocks) <= FEW_BLOCKS]
        for each in (branched[:1] or few) if not incumbent.proven else ():
            _search(incumbent, each, budget)
    else:
        _place_few(incumbent, budget)
        for each in branched if not incumbent.proven else ():
            _branch(incumbent, BranchAndBound(each.circuit, each.limit), budget.part(TASTE))
        if not incumbent.proven:
            _heuristic(incumbent, options, budget)
    if not incumbent.proven:
        incumbent.offer(None, quick_bound(problem, budget.part(TASTE)))
        _relax(incumbent, budget)


def _tables(incumbent: _Incumbent, tables: list[CostCircuit], budget: Budget) -> None:
    """Choose by tables for the budget, the changes and the room of all nodes; add the circuit of each to a list."""
    problem = incumbent.problem
    first, *others = knapsacks(problem, incumbent.candidates)
    circuit, chosen = _table(incumbent, first, budget)
    tables.append(circuit)
    for other in others if not incumbent.proven else ():
        if chosen is None:  # a program or branching decides on all limits
            tables.append(CostCircuit.of(other.of(problem), budget, incumbent.candidates))
            continue
        tables.append(_table(incumbent, other, budget)[0])
        if incumbent.proven:
            return
    for other in others if chosen is not None else ():
        _surrogates(incumbent, first, other, budget)
    if not circuit.alone and problem.hosts is None:
        incumbent.offer(None, quick_bound(problem, budget))


def _table(incumbent: _Incumbent, knapsack: Knapsack, budget: Budget) -> tuple[CostCircuit, BoolArray | None]:
    """Offer the bound and the choice of one limit; return its circuit, and the choice where that is the best one."""
    problem = incumbent.problem
    view = knapsack.of(problem)
    table = CostCircuit.of(view, budget, incumbent.candidates)
    reduced = table.reduced(budget)
    incumbent.offer(None, table.bound(reduced))
    if reduced.exact or (problem.hosts is None and len(reduced.copies) <= MOST_COPIES):
        incumbent.offer_choice(_rounded(problem, view, table, reduced, budget))
    if not reduced.exact:
        return table, None
    counts = choices(reduced.table, table.limit, budget).counts.items()
    return table, _tasks(view, table.circuit, {k: max(several) for k, several in counts})


def _surrogates(incumbent: _Incumbent, first: Knapsack, second: Knapsack, budget: Budget) -> None:
    """Bound by sums of two limits, each so often that the best choice comes as near as may be to keep both."""
    one, two = (units(knapsack.of(incumbent.problem)) for knapsack in (first, second))
    low, high = 0.0, 1.0
    for _ in range(SURROGATES):
        if incumbent.proven:
            return
        share = (low + high) / 2.0
        each = np.array([(1.0 - share) / max(1, one.limit), share / max(1, two.limit)])
        a, b = np.round(TIMES * each / each.max()).tolist()
        both = Knapsack(a * one.cost + b * two.cost, a * one.limit + b * two.limit)
        chosen = _table(incumbent, both, budget)[1]
        if chosen is None:
            return
        if one.cost[chosen].sum() > one.limit:
            high = share
        elif two.cost[chosen].sum() > two.limit:
            low = share
        else:
            return


def _heuristic(incumbent: _Incumbent, options: ReplicationOptions, budget: Budget) -> None:
    part = replace(options, time_limit_s=HEURISTIC * budget.left_s)
    incumbent.offer_answer(structure_aware(incumbent.problem, part))


def _search(incumbent: _Incumbent, tables: CostCircuit, budget: Budget) -> None:
    """Branch first where operators are large, else after the integer program, but for a taste of bounded work."""
    search, large = BranchAndBound(tables.circuit, tables.limit), _has_large_operators(tables.circuit)
    part = budget.part(BRANCHING if large else TASTE)
    if not large:  # bounded work, so that what follows starts from the same plan in every run
        part.iterations = min(TASTE_ITERATIONS, part.iterations or TASTE_ITERATIONS)
    _branch(incumbent, search, part)
    budget.cut |= part.cut
    if not incumbent.proven and not (large and incumbent.bound <= incumbent.value * (1.0 + CLOSE)):
        part = budget.part(PROGRAM)
        sites = Sites.merged(incumbent.problem, incumbent.candidates)
        _program(incumbent, part, JointProgram.of(incumbent.problem, incumbent.candidates, sites, part))
        budget.cut |= part.cut
    if not incumbent.proven:
        _branch(incumbent, search, budget.part(PROGRAM))


def _branch(incumbent: _Incumbent, search: BranchAndBound, budget: Budget) -> None:
    best = search.resume(budget)
    incumbent.offer_choice(_tasks(incumbent.problem, search.circuit, best.counts), best.bound)


def _place_few(incumbent: _Incumbent, budget: Budget) -> None:
    """Choose and place a small problem by one program."""
    problem, candidates = incumbent.problem, incumbent.candidates
    single = Sites.single(problem, candidates)
    if int(single.open[candidates.row].sum()) <= FEW_PAIRS:
        part = budget.part(FIRST)
        _program(incumbent, part, JointProgram.of(problem, candidates, single, part))
        budget.cut |= part.cut


def _relax(incumbent: _Incumbent, budget: Budget) -> None:
    """Bound by relaxations, of whole numbers and of what nodes hold; then choose among the tasks of their solutions."""
    problem, candidates = incumbent.problem, incumbent.candidates
    merged = Sites.merged(problem, candidates)
    program = JointProgram.of(problem, candidates, merged, budget)
    if program is None:
        return
    part = budget.part(FIRST)
    relaxation = program.relaxed(part)
    budget.cut |= part.cut
    some = incumbent.node != NOWHERE
    if relaxation is not None:
        incumbent.offer(None, relaxation.bound)
        some |= relaxation.support
        if incumbent.proven:
            return
    if problem.hosts is not None:
        part = budget.part(FIRST)
        some |= _program(incumbent, part, program)
        budget.cut |= part.cut
        program = JointProgram.of(problem, candidates, Sites.single(problem, candidates), budget)
    if not incumbent.proven and not some[candidates.placeable].all():
        part = budget.part(FIRST)
        _program(incumbent, part, program, some)
        budget.cut |= part.cut
    if not incumbent.proven:
        _program(incumbent, budget, program)


def _program(
    incumbent: _Incumbent, budget: Budget, program: JointProgram | None, only: BoolArray | None = None
) -> BoolArray:
    """Offer what an integer program says, perhaps of some tasks only; return the tasks that it replicates."""
    problem, nothing = incumbent.problem, np.zeros(incumbent.problem.tasks, dtype=np.bool_)
    if program is None:
        return nothing
    start = program.sites.of(incumbent.node)
    solution = program.solved(budget, start, max(incumbent.bound, 1e-12), only)
    incumbent.offer(None, solution.bound if only is None else np.inf)
    if solution.site is None:
        return nothing
    incumbent.offer(nodes_on(problem, incumbent.candidates, solution.site, program.sites.inside))
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
