"""No test depends on how fast the machine is: what waits, waits for a sign of life."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.places import ROOT

HERE = ROOT / "tests"
FILES = sorted(HERE.rglob("*.py"))
#: Seconds after which a test that still runs counts as hung.
HANG_S = 3600


def calls(source: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call in a source text with the last part of what is called: ``subprocess.run`` as ``run``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""), node


def clocks(source: str) -> list[str]:
    """Return what in a source text of tests depends on the machine's speed.

    What is about time by nature says so in a comment, ``# clock: why``.
    """
    found = []
    lines = source.splitlines()
    for name, call in calls(source):
        if any("# clock: " in line for line in lines[call.lineno - 1 : call.end_lineno]):
            continue
        given = {word.arg: ast.unparse(word.value) for word in call.keywords}
        if name in ("settings", "register_profile"):
            if given.get("deadline", "None") != "None":
                found.append(f"{call.lineno}: a deadline of hypothesis")
            checks = given.get("suppress_health_check")
            if checks is not None and "too_slow" not in checks and checks != "list(HealthCheck)":
                found.append(f"{call.lineno}: suppress_health_check without too_slow")
        # A single attempt to connect may have its time: it is made again while the server lives.
        if "timeout" in given and name != "create_connection":
            found.append(f"{call.lineno}: timeout={given['timeout']}")
        if name == "wait" and call.args:
            found.append(f"{call.lineno}: wait for {ast.unparse(call.args[0])} s")
        if name in ("perf_counter", "process_time", "thread_time"):
            found.append(f"{call.lineno}: {name} measures, which benchmarks do")
    return found


def test_hypothesis_has_no_deadline() -> None:
    """In the profile that every test runs in."""
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_no_file_has_a_clock(path: Path) -> None:
    assert clocks(path.read_text("utf-8")) == []


def test_clocks_are_found() -> None:
    source = """
settings(deadline=200)
settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
subprocess.run(["x"], timeout=300)
process.communicate(timeout=60)
process.wait(20)
time.perf_counter()
"""
    assert [int(text.split(":")[0]) for text in clocks(source)] == [2, 3, 4, 5, 6, 7]
    assert clocks("process.wait(20)  # clock: the promise is about seconds") == []
    assert clocks("settings(max_examples=5); process.wait(); socket.create_connection(a, timeout=1)") == []


def test_only_a_hang_ends_a_test() -> None:
    """pytest-timeout guards against tests that never end, and nothing else."""
    options = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    assert options["timeout"] >= HANG_S
