"""What a search that was cut by the clock would have needed is compiled after the command, for the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ftplan import compiled
from ftplan.api.compiling import _alone, compile_wanted
from ftplan.compiled import Kernel
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms import local_search
from ftplan.planners.recovery_schedule.algorithms.knapsack import tabu_moves, tabu_rounds
from tests.planners.recovery_schedule.algorithms.instances import knapsack_of

KERNELS = (tabu_rounds.search, tabu_moves.fill, compiled._summed)
#: Exits 0 where the machine code of a kernel is kept.
KEPT = "import sys; from {0} import {1}; sys.exit(not {1}.is_kept)"


@pytest.fixture(autouse=True)
def _cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache without machine code, also for processes that are begun; nothing is wanted yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "WANTED", {})
    for kernel in KERNELS:
        monkeypatch.setattr(kernel, "_fast", None)
        monkeypatch.setattr(kernel, "wanted", False)


def is_kept(kernel: Kernel) -> bool:
    """Return whether another process finds machine code."""
    code = KEPT.format(kernel.__module__, kernel.__name__)
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def cut_search() -> None:
    """Search a knapsack until the clock ends that."""
    needs = [{q, (3 * q + 1) % 60, (7 * q + 2) % 60} for q in range(60)]
    knapsack = knapsack_of(needs, [1.0 + i % 5 for i in range(60)], [1.0 + q % 7 for q in range(60)], 50.0)
    local_search.local_search_step(knapsack, Budget(0.05), 0)


def test_nothing_is_begun_where_nothing_was_wanted() -> None:
    assert compile_wanted() is None


def test_a_process_of_its_own_compiles() -> None:
    kernel: Kernel = compiled._summed
    kernel.wanted = True
    assert kernel.plain(np.arange(4.0)) == 6.0
    assert not is_kept(kernel)
    process = compile_wanted()
    assert process is not None
    assert os.getsid(process.pid) == process.pid, "Ctrl-C in the terminal does not reach it"
    assert process.wait() == 0
    assert not compiled.WANTED
    assert is_kept(kernel)


def test_a_search_that_the_clock_cuts_is_wanted() -> None:
    cut_search()
    assert set(compiled.WANTED) == set(KERNELS[:2])


@pytest.mark.slow
def test_the_next_command_finds_the_search() -> None:
    cut_search()
    process = compile_wanted()
    assert process is not None
    assert process.wait() == 0
    assert all(map(is_kept, KERNELS[:2]))


def test_one_compiles_at_a_time(tmp_path: Path) -> None:
    with _alone(tmp_path) as first:
        assert first
        with _alone(tmp_path) as second:
            assert not second
    with _alone(tmp_path) as again:
        assert again
