"""The most fidelity over time against every placement, and searches that are never worse than their start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.compiled import called_often
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.exact import exact
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.instance import fidelity_repair
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.search import FidelityGains, gains_of
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule, nothing_recovered
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of
from ftplan.planners.recovery_schedule.problem import Host, RecoveryOptions, RecoveryProblem
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.fidelity_cases import most_fidelity, random_job, with_failures
from tests.planners.recovery_schedule.algorithms.repair_cases import scattered
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first

SEEDS = range(examples(20))


def gains(problem: RecoveryProblem) -> FidelityGains:
    """Return what placements at step 0 gain."""
    model = fidelity_model(problem.graph, rates(problem.graph))
    return gains_of(at_first(problem), problem.graph, model, Budget(3600))


def test_small_repairs_are_proven_best_and_the_search_finds_most() -> None:
    found = []
    with called_often():
        for seed in range(examples(12)):
            problem = random_job(seed, 4)
            model = fidelity_model(problem.graph, rates(problem.graph))
            best = most_fidelity(problem, at_first(problem), model)
            own = gains(problem)
            placement, most, proved = own.modelled(own.listed(), Budget(3600), 0)
            assert proved
            assert own.instance.fits(placement.host)
            assert most is not None
            assert most >= best - 1e-7
            assert own.gained(placement) == pytest.approx(best, abs=1e-6)
            searched = own.searched(own.listed(), Budget(3600, iterations=3), 0)
            assert own.gained(searched) <= best + 1e-9
            found.append(own.gained(searched) >= best - 1e-9)
    assert np.mean(found) >= 0.9


@pytest.mark.usefixtures("few_random_orders")
def test_the_most_fidelity_may_be_without_any_whole_query() -> None:
    partly = 0
    for seed in range(examples(40)):
        problem = random_job(seed, 4)
        model = fidelity_model(problem.graph, rates(problem.graph))
        result = exact(problem, RecoveryOptions("fidelity-time", time_limit_s=600.0, iterations=5))
        nothing = fidelity_time_of(nothing_recovered(problem), problem, model)
        most = max(nothing, most_fidelity(problem, at_first(problem), model))
        if result.answer is None:
            assert most == pytest.approx(nothing), seed
            continue
        assert fidelity_time_of(result.answer, problem, model) == pytest.approx(most), seed
        partly += all(d.back_s is None or d.back_s > problem.horizon_s for d in result.answer.downtimes)
    assert partly > 0


@pytest.mark.parametrize("prefetch", [True, False])
def test_a_search_is_never_worse_than_its_start_and_repeatable(prefetch: bool) -> None:
    for seed in SEEDS:
        problem = random_job(seed, 8)
        own = gains(problem)
        instance = replace(own.instance, prefetch=prefetch)
        model = fidelity_model(problem.graph, rates(problem.graph))
        own = gains_of(instance, problem.graph, model, Budget(3600))
        start = own.listed()
        once, again = (own.searched(start, Budget(3600, iterations=2), seed) for _ in range(2))
        assert own.gained(once) >= own.gained(start) - 1e-9
        assert instance.fits(once.host)
        assert once.host.tolist() == again.host.tolist()
        assert once.order.tolist() == again.order.tolist()


def test_no_work_at_all_is_an_answer_too() -> None:
    own = gains(random_job(3, 8))
    start = own.listed(Budget(3600, iterations=0))
    assert own.gained(own.searched(start, Budget(3600, iterations=0), 0)) >= own.gained(start)
    assert own.gained(own.searched(start, Budget(0.0), 0)) >= own.gained(start)


def test_where_the_sets_are_too_many_the_metric_itself_judges() -> None:
    for seed in SEEDS:
        problem = random_job(seed, 6)
        model = fidelity_model(problem.graph, rates(problem.graph))
        by_sets, plain = gains(problem), FidelityGains(at_first(problem), problem.graph, model, None)
        placement = scattered(plain.instance, Budget(3600), seed)
        assert plain.gained(placement) == pytest.approx(by_sets.gained(placement))
        searched = plain.searched(placement, Budget(3600, iterations=5), seed)
        assert plain.instance.fits(searched.host)
        assert plain.gained(searched) >= plain.gained(placement) - 1e-9


@pytest.mark.parametrize("seed", range(examples(15)))
def test_plans_anew_where_more_fails_and_gains_what_the_instance_says(seed: int) -> None:
    problem = replace(with_failures(seed), rolls_back=False)
    model = fidelity_model(problem.graph, rates(problem.graph))
    last: list[tuple[FidelityGains, RepairPlacement]] = []

    def solver(instance: RepairInstance, budget: Budget, seed: int) -> RepairPlacement:
        own = gains_of(instance, problem.graph, model, Budget(3600))
        last.append((own, own.searched(own.listed(), Budget(3600, iterations=2), seed)))
        return last[-1][1]

    result = construct_schedule(problem, RecoveryOptions(objective="fidelity-time"), WholeRepairPolicy(solver))
    if result.answer is None or not last:
        return
    own, placement = last[-1]
    if own.instance.at_s < max(event.at_s for event in problem.failures):
        return  # the last failure took nothing down that runs
    after = replace(problem, horizon_s=own.instance.at_s)
    before = fidelity_time_of(result.answer, after, model)
    assert fidelity_time_of(result.answer, problem, model) == pytest.approx(before + own.gained(placement))


def test_more_room_and_a_longer_horizon_never_gain_less() -> None:
    for seed in SEEDS:
        problem = random_job(seed, 4)
        roomier = tuple(Host(host.id, host.room + 0.25) for host in problem.hosts)
        for other in (replace(problem, hosts=roomier), replace(problem, horizon_s=problem.horizon_s + 20.0)):
            values = []
            for case in (problem, other):
                own = gains(case)
                best, _, proved = own.modelled(own.listed(), Budget(3600), 0)
                assert proved
                values.append(own.gained(best))
            assert values[1] >= values[0] - 1e-6


def test_sets_keep_only_tasks_on_which_an_output_rests() -> None:
    for seed in SEEDS:
        problem = random_job(seed, 5)
        model = fidelity_model(problem.graph, rates(problem.graph))
        repair = fidelity_repair(at_first(problem), problem.graph, model, Budget(3600))
        assert repair is not None
        standing = np.unique(repair.by_sets.queries.member)
        assert standing.tolist() == list(range(repair.by_sets.queries.bundles))
        assert np.all(repair.by_sets.priority > 0.0)
