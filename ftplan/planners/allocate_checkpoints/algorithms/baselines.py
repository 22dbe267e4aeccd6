"""The planners of the paper ([Madsen2015]): its heuristic, which puts copies where load runs against their key group's.

And its baselines: random checkpoints, and random ones as many on every node, which is what most engines do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions, allocation
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import limits_of, most_copies
from ftplan.planners.allocate_checkpoints.algorithms.models.flow import cheapest_flow
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import proven_bound
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import (
    RulesInForce,
    feasible_copies,
    infeasible,
    outcome,
    rules_in_force,
    spread_idle,
)
from ftplan.planners.allocate_checkpoints.algorithms.rules.infeasibility import infeasible_count, too_few_domains
from ftplan.planners.allocate_checkpoints.algorithms.search.greedy import repaired_greedy
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import improve
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.result import Result

#: Copies up to which an allocation that only keeps the failover limit is made cheaper: larger ones would take long.
FEW_COPIES = 5000


def correlated(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Allocate checkpoints by Algorithm 3 and repair what it leaves beyond the balance.

    Guarantee: optimal where nothing couples the copies (balance ``none``, no memory limits); else a plan within all
    rules, or none in time, without a guarantee of its cost. Cost: that of :func:`regret_greedy`, plus the repair.

    Source: [Madsen2015], section 6, Algorithm 3. Departures besides those in :func:`regret_greedy`: its constraint 2
    is an upper limit, R4 a band, so copies are moved and swapped into the band afterwards; where that gets stuck, the
    allocation that proves Δ feasible is used, or the problem is solved for feasibility. A failover limit is repaired
    in the same way.
    """
    budget = Budget.of(options)
    in_force = rules_in_force(problem, options, budget)
    if not isinstance(in_force, RulesInForce):
        return in_force
    limits = limits_of(problem, in_force.rules)
    copies = repaired_greedy(problem, limits, budget)
    if copies is None:
        witness = feasible_copies(problem, in_force, options, budget)
        if isinstance(witness, Result):
            return witness
        copies = witness
        if limits.failover is not None and copies.size <= FEW_COPIES:
            working = WorkingAllocation.of(problem, limits, copies)
            improve(working, budget)
            copies = working.copies
    answer = allocation(problem, spread_idle(problem, limits, copies), in_force.rules)
    bound = None
    if options.bound or not (limits.names or limits.failover):
        bound = proven_bound(problem, in_force.rules, answer.value, options.seed, budget)
    return outcome(in_force, answer, bound, budget)


#: Partners that a conflicting copy tries at random before all are looked through.
RANDOM_PARTNERS = 50


def even(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Place copies at random under R1 and R2 with at most ⌈copies / nodes⌉ on each node that accepts checkpoints.

    Guarantee: a plan wherever one exists under these rules, none on the cost. A one-pass fill can dead-end (the last
    group's only free node is its own); conflicts are swapped away instead, and where that fails, all copies are
    matched anew by a flow of least random cost. It lists only its own rules. Cost O(K copies), at worst that of the
    flow.

    Source: [Madsen2015], sections 6 and 7 (Even Distribution).
    """
    budget = Budget.of(options)
    rules = CheckpointRules(options.copies, balance="even-count")
    p = without_zones(problem)
    blocked = too_few_domains(p)
    if blocked is not None:
        return infeasible(p, rules, blocked, budget)
    most = most_copies(p, even=True)
    rng = np.random.default_rng(options.seed)
    copies = spread_evenly(p, most, rng)
    if copies is None:
        try:
            flow = cheapest_flow(p, rng.random(p.cost.shape), most, budget)
        except OutOfTime:
            late = "even copies were not found within the time limit, and not ruled out: raise --time-limit"
            said = p.warnings + budget.warnings()
            return Result("no-plan-in-time", None, rules.names(), reason=late, warnings=said)
        if flow is None:
            return infeasible(p, rules, infeasible_count(p, rules), budget)
        copies = flow.copies
    return random_plan(allocation(p, copies, rules), options, budget)


def spread_evenly(problem: CheckpointProblem, most: FloatArray, rng: np.random.Generator) -> IntArray | None:
    """Deal shuffled places to the copies and swap conflicts away; None where a conflict finds no partner.

    Places beyond the number of copies stay in the deck as partners.
    """
    deck = rng.permutation(np.repeat(np.arange(most.size), np.where(problem.accepts, most, 0).astype(np.int64)))
    c, slots = problem.copies, problem.load.size * problem.copies
    if deck.size < slots:
        return None

    def fits(slot: int, candidates: IntArray) -> BoolArray:
        unit = slot // c
        others = [deck[unit * c + k] for k in range(c) if unit * c + k != slot]
        return np.asarray(problem.allowed[unit, candidates] & ~np.isin(candidates, others))

    for slot in range(slots):
        if fits(slot, deck[slot : slot + 1])[0]:
            continue
        partners = np.concatenate([rng.integers(0, deck.size, RANDOM_PARTNERS), rng.permutation(deck.size)])
        for partner in partners[fits(slot, deck[partners])].tolist():
            if partner // c == slot // c:
                continue
            if partner >= slots or fits(partner, deck[slot : slot + 1])[0]:
                deck[[slot, partner]] = deck[[partner, slot]]
                break
        else:
            return None
    return deck[:slots].reshape(-1, c)


#: Rows of random numbers that are drawn at once.
ROWS_AT_ONCE = 4096


def without_zones(problem: CheckpointProblem) -> CheckpointProblem:
    """Return the problem by key groups under R1 and R2 alone: any accepting node but the primary's."""
    p = problem.by_group
    nodes = np.arange(len(p.nodes))
    allowed = p.accepts[None, :] & (nodes[None, :] != p.home[:, None])
    return replace(p, domain=nodes, domain_kind="node", allowed=allowed, warnings=problem.warnings)


def random_copies(problem: CheckpointProblem, seed: int) -> IntArray:
    """Return different allowed nodes for every group, each set equally likely, shape (K, copies). Cost O(K N)."""
    rng = np.random.default_rng(seed)
    rows = []
    for start in range(0, problem.load.size, ROWS_AT_ONCE):
        allowed = problem.allowed[start : start + ROWS_AT_ONCE]
        draw = np.where(allowed, rng.random(allowed.shape), np.inf)
        rows.append(np.argsort(draw, axis=1, kind="stable")[:, : problem.copies])
    return np.concatenate(rows) if rows else np.zeros((0, problem.copies), dtype=np.int64)


def baseline(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Place each copy at random, not with its primary and copies of a group on different nodes (R1, R2).

    Guarantee: none on the cost. It keeps, and lists, only these two rules, whatever the options ask for. Estimated
    statistics change nothing: every key group is drawn alone. Cost O(K N).

    Source: [Madsen2015], sections 6 and 7 (Baseline).
    """
    budget = Budget.of(options)
    rules = CheckpointRules(options.copies)
    p = without_zones(problem)
    blocked = too_few_domains(p)
    if blocked is not None:
        return infeasible(p, rules, blocked, budget)
    return random_plan(allocation(p, random_copies(p, options.seed), rules), options, budget)


def random_plan(answer: Allocation, options: AllocationOptions, budget: Budget) -> Result[Allocation]:
    """Return the result of a plan that nobody tried to make cheap, with a bound where the options ask for one."""
    p, bound = answer.problem, None
    if options.bound:
        bound = proven_bound(p, answer.rules, answer.value, options.seed, budget)
        bound = p.judged(answer.value, bound)[1]
    return Result("feasible", answer, answer.rules.names(), bound, warnings=p.warnings + budget.warnings())
