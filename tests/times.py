"""A plugin of pytest that measures what each file of tests costs: ``pytest -p tests.times --times TABLE.md``.

Counted are seconds of processors, of the process that runs a test and of all that it started (commands, engines), so
that other load on the machine changes little. What a test is the first to need (a session of Spark, a plan that a
module shares, a compiled kernel) counts for it, and so does what is torn down after it.
"""

from __future__ import annotations

import os
import resource
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

#: Files that the table names one by one.
ROWS = 60
TICKS = os.sysconf("SC_CLK_TCK")
#: A test, whether it is one of ``make test-slow``, and its seconds of processors.
Cost = tuple[str, bool, float]


def cpu_seconds() -> float:
    """Return the seconds of processors of this process, of those it waited for, and of those it has running."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in own) + running_children()


def running_children() -> float:
    """Return the seconds of descendants that run, and of those that they waited for; 0 where there is no /proc."""
    children: dict[int, list[int]] = defaultdict(list)
    seconds: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:  # it ended
            continue
        children[int(fields[1])].append(int(stat.parent.name))
        seconds[int(stat.parent.name)] = sum(map(int, fields[11:15])) / TICKS
    found, pending = 0.0, list(children[os.getpid()])
    while pending:
        process = pending.pop()
        found += seconds[process]
        pending += children[process]
    return found


class Times:
    """Costs of the tests of this process and, in the one that hands tests out, of all."""

    def __init__(self, config: pytest.Config, tables: list[Path]) -> None:
        self.config = config
        self.tables = tables
        self.costs: list[Cost] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        before = cpu_seconds()
        outcome = yield
        slow = item.get_closest_marker("slow") is not None
        self.costs.append((item.nodeid, slow, max(0.0, cpu_seconds() - before)))
        return outcome

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.costs += [tuple(row) for row in node.workeroutput.get("times", ())]

    def pytest_sessionfinish(self) -> None:
        """Add what is no test's (imports, collection); write the tables, or hand the costs on."""
        worker = hasattr(self.config, "workeroutput")
        if worker or not self.config.getoption("numprocesses", None):
            tests = sum(cpu for *_, cpu in self.costs)
            self.costs.append(("start and collection", False, max(0.0, cpu_seconds() - tests)))
        if worker:
            self.config.workeroutput["times"] = self.costs
            return
        for table in self.tables:
            table.write_text(by_test(self.costs) if table.suffix == ".tsv" else by_file(self.costs), "utf-8")


def by_test(costs: Iterable[Cost]) -> str:
    """Return a line a test, the dearest first: seconds of processors, name."""
    return "".join(f"{cpu:.2f}\t{test}\n" for test, _, cpu in sorted(costs, key=lambda row: -row[-1]))


def by_file(costs: Iterable[Cost]) -> str:
    """Return the page with the dearest files of both lanes."""
    files: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for test, slow, cpu in costs:
        files[test.partition("::")[0], slow].append(cpu)
    ranked = sorted(files.items(), key=lambda row: -sum(row[1]))
    groups = [(f"`{name}`" if "/" in name else name, slow, cpu) for (name, slow), cpu in ranked[:ROWS]]
    for slow in (False, True):
        others = [cpu for (_, of), all_of in ranked[ROWS:] if of == slow for cpu in all_of]
        groups += [("other files", slow, others)] if others else []
    for slow in (False, True):
        groups.append(("**all**", slow, [cpu for (_, of), all_of in ranked if of == slow for cpu in all_of]))
    return "\n".join(
        [
            "# What the tests cost",
            "",
            "Written by `make test-times`: seconds of processors, of the tests of a file and of what they start.",
            "Compiled kernels, imports and sessions count for the test that is the first to need them.",
            "",
            "| file | make | tests | CPU (s) |",
            "|---|---|--:|--:|",
            *(
                f"| {name} | `{'test-slow' if slow else 'test'}` | {len(cpu)} | {sum(cpu):.1f} |"
                for name, slow, cpu in groups
            ),
            "",
        ]
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", action="append", type=Path, default=[], help="file of costs: .md by file, .tsv by test")


def pytest_configure(config: pytest.Config) -> None:
    if tables := config.getoption("times"):
        config.pluginmanager.register(Times(config, tables), "times-of-tests")
