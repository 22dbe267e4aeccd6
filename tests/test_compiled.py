"""Compiled functions run where nothing can be written, too."""

from __future__ import annotations

import errno
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from numba.core import caching

from ftplan import compiled as compiled_module
from ftplan import kept_code
from ftplan.compiled import compiled, inlined, pays_within
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms import local_search
from ftplan.planners.recovery_schedule.algorithms.horizon import ruin_and_recreate
from ftplan.planners.recovery_schedule.algorithms.horizon import ruin_and_recreate_moves as moves
from ftplan.planners.recovery_schedule.algorithms.knapsack import density_growth, tabu_moves, tabu_rounds
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, fitting
from ftplan.simulation.dataflow import kernel as flow_kernel
from tests.planners.recovery_schedule.algorithms.instances import knapsack_of, knapsacks
from tests.planners.recovery_schedule.algorithms.time_indexed_cases import shared_repair


def half(x: float) -> float:
    return x / 2.0


def thrice(x: float) -> float:
    return 3.0 * x


def ratio(x: float, y: float) -> float:
    return x / y


def test_a_search_is_compiled_where_that_is_done_or_there_is_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    second = compiled_module.PLAIN_STEPS_S
    kernel = compiled(thrice)
    for steps, left_s, fast in ((2.0, 1.0, False), (6.0, 5.0, False), (4.0, 60.0, False), (6.0, 60.0, True)):
        assert pays_within(kernel, steps * second, left_s) is fast
    assert kernel(2.0) == 6.0
    for known in (kernel, compiled(thrice)):  # in this process, and from the cache alone
        assert pays_within(known, second, 0.0)
        assert not pays_within(known, compiled_module.SMALL_WORK, 60.0)


def test_what_the_clock_cuts_is_wanted_with_what_it_was_called_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only that: not a kernel that is through in time, and none that cannot be kept."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled_module, "WANTED", {})
    kernel, other = compiled(thrice), compiled(half)
    for steps, keeps in ((0.5, True), (2.0, False)):
        with monkeypatch.context() as patched:
            patched.setattr(compiled_module.Kernel, "can_be_kept", keeps)
            assert not pays_within(kernel, steps * compiled_module.PLAIN_STEPS_S, 1.0, other)
        assert (kernel.plain(1.0), other.plain(1.0)) == (3.0, 0.5)
        assert compiled_module.WANTED == {}
    assert not pays_within(kernel, 2.0 * compiled_module.PLAIN_STEPS_S, 1.0, other)
    assert [kernel.plain(x) for x in (1.0, 2.0)] == [3.0, 6.0]
    assert other.plain(1.0) == 0.5
    assert {kernel: (1.0,), other: (1.0,)} == compiled_module.WANTED


def test_what_cannot_be_written_keeps_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert compiled(thrice).can_be_kept
    monkeypatch.setattr(compiled_module.os, "access", lambda *_: False)
    assert not compiled(thrice).can_be_kept
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert not compiled(half).can_be_kept


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("failing", ["_save_index", "_save_data"])
def test_a_full_cache_is_gone_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture, failing: str
) -> None:
    """One note for all kernels, and nothing stays that says that machine code is kept."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(caching.IndexDataCacheFile, failing, full)
    monkeypatch.setattr(kept_code, "_failed", False)
    caplog.set_level(logging.INFO, "ftplan")
    assert (compiled(half)(3.0), compiled(thrice)(3.0)) == (1.5, 9.0)
    assert len([record for record in caplog.records if "No space left on device" in record.message]) == 1
    assert not compiled(half).is_kept


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: b"no pickle", lambda data: data[: len(data) // 2]])
def test_what_is_damaged_in_the_cache_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str, damage: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert compiled(half)(3.0) == 1.5
    for file in tmp_path.rglob(f"*.{suffix}"):
        file.write_bytes(damage(file.read_bytes()))
    assert compiled(half)(3.0) == 1.5
    again = compiled(half)
    assert again(3.0) == 1.5
    assert sum(again.fast.stats.cache_hits.values()) == 1, "what was made anew is kept"


@pytest.mark.parametrize("writable", [True, False])
def test_compiles_with_and_without_a_cache(monkeypatch: pytest.MonkeyPatch, writable: bool) -> None:
    if not writable:
        monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert compiled(half)(3.0) == 1.5


def test_divides_like_numpy() -> None:
    assert compiled(ratio)(1.0, 0.0) == float("inf")


def test_inlines() -> None:
    inner = inlined(half)

    def quarter(x: float) -> float:
        return inner(inner(x))

    assert compiled(quarter)(3.0) == 0.75


def test_what_it_takes_to_compile_is_set_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    apart: list[float] = []
    monkeypatch.setattr(compiled_module, "set_apart", apart.append)
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    kernel = compiled(half)
    assert kernel(3.0) == kernel(3.0) == 1.5
    assert len(apart) == 1
    assert apart[0] > 0.0


@pytest.mark.parametrize("changed", ["theirs", "mine"])
def test_machine_code_has_another_name_where_a_module_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changed: str
) -> None:
    """That of a function's own file too: what older code kept may name classes that are gone, and is not read."""
    modules = {name: ModuleType(f"ftplan.{name}") for name in ("mine", "theirs")}
    names = {"__name__": "ftplan.mine", "theirs": modules["theirs"], "np": np, "own": 7}
    for module in modules.values():
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert compiled_module._stamp(names) == ""
    source = tmp_path / "changed.py"
    modules[changed].__file__ = str(source)
    stamps = set()
    for text in ("FIRST = 0", "FIRST = 10"):
        source.write_text(text)
        stamps |= {compiled_module._stamp(names) for _ in range(2)}
    assert len(stamps) == 2
    assert compiled_module._stamp(vars(flow_kernel)) != ""


def test_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = compiled(half)

    def quarter(x: float) -> float:
        return float(inner(inner(x)))

    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled(quarter).plain(3.0) == 0.75


@settings(deadline=None, max_examples=40)
@given(knapsacks())
def test_both_ways_grow_the_same_plans(knapsack: SetUnionKnapsack) -> None:
    _, small = fitting(knapsack)
    instance = density_growth.growth_instance(small)
    ranks = len(instance.ranked)
    found = []
    for grow in (density_growth.grow, density_growth.grow.plain):
        best = np.zeros(small.queries, dtype=np.bool_)
        value, cost = grow(instance, 0, 1 + ranks + ranks * (ranks - 1) // 2, best, -1.0, np.inf)
        found.append((best.tolist(), float(value), float(cost)))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_construct_the_same_repair(seed: int) -> None:
    problem = shared_repair(seed, queries=20, steps=5)
    order = np.random.default_rng(seed).permutation(problem.knapsack.queries)
    found = []
    for construct in (moves.construct, moves.construct.plain):
        solution = ruin_and_recreate._empty(problem)
        construct(ruin_and_recreate._instance(problem), solution, order)
        found.append([array.tolist() for array in solution])
    assert found[0] == found[1]
    assert problem.fits(np.array(found[0][0]))


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_search_the_same(seed: int) -> None:
    random = np.random.default_rng(seed)
    needs = [set(random.choice(30, random.integers(1, 7), replace=False).tolist()) for _ in range(40)]
    weight = random.integers(1, 40, 30) / 8
    knapsack = knapsack_of(needs, weight, random.integers(1, 11, 40), 0.3 * float(weight.sum()))
    instance, settings_ = local_search.tabu_instance(knapsack), local_search.tabu_settings(knapsack, Budget(60.0))
    states = []
    for search in (tabu_rounds.search, tabu_rounds.search.plain):
        state = local_search.nothing_chosen(instance, seed)
        search(instance, state, settings_._replace(depth=100), 700)
        assert state.sums[tabu_moves.BEST] > 0.0
        states.append([array.tolist() for array in state])
    assert states[0] == states[1]
