"""Cases answered: in this process, in several, or on Spark executors, from where their journal ends."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.processes import cores, in_processes
from ftplan.spark_stats.choice import Engine
from ftplan.what_if.annotations import Entry
from ftplan.what_if.journal import Journal
from ftplan.what_if.outcome import COMPILING_CASES, CaseOutcome, PlanFiles, outcome_of, plain

if TYPE_CHECKING:
    from ftplan.what_if.cases import WhatIfCases

#: Says how far a run is: a sentence and a share of 1.
Report = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Execution:
    """How cases are answered.

    Attributes
    ----------
    jobs
        Processes; None is one a core. One job runs in this process, unless a time limit may have to end it.
    engine, master
        Spark executors instead, see :func:`ftplan.spark_stats.session.open_session`; both None for none.
    time_limit_s
        What is not done after so many seconds is left out; None for no limit.
    """

    jobs: int | None = None
    engine: Engine | None = None
    master: str | None = None
    time_limit_s: float | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and (isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs < 1):
            raise FtplanError(f"jobs: {self.jobs!r} is not a whole number of at least 1")
        if self.on_spark and self.jobs is not None:
            raise FtplanError("--jobs is for the processes of this machine: leave it out with --master and --engine")

    @property
    def on_spark(self) -> bool:
        """Whether Spark executors carry out the cases."""
        return self.engine is not None or self.master is not None


@dataclass(frozen=True)
class CaseRows:
    """The rows of the cases in their order, with differences from the base.

    Attributes
    ----------
    missing
        Numbers of the cases that were not done in time.
    annotations
        What the answer of each row states beside its figures, by field: see :mod:`ftplan.what_if.annotations`.
    """

    rows: tuple[dict[str, Any], ...]
    missing: tuple[int, ...] = ()
    annotations: tuple[Mapping[str, Sequence[Entry]], ...] = ()


def answer_cases(
    cases: WhatIfCases,
    execution: Execution,
    *,
    journal: Journal | None = None,
    plans: PlanFiles | None = None,
    report: Report | None = None,
) -> CaseRows:
    """Carry out every case that is not done yet. The rows are the same however that is done and in whatever order.

    Raises FtplanError if processes or an engine fail; the journal keeps what is done; KeyboardInterrupt as it comes,
    likewise.
    """
    done = {} if journal is None else dict(journal.done)
    if plans is not None:
        done = {number: outcome for number, outcome in done.items() if plans.written(number, json.loads(outcome.row))}
    pending = [number for number in range(len(cases)) if number not in done]
    told = _Progress(report, len(cases), len(pending))
    for outcomes in _outcomes(cases, pending, execution, plans is not None):
        if plans is not None:
            plans.write(outcomes)
        if journal is not None:
            journal.add(outcomes)
        done.update((outcome.number, outcome._replace(plan=None)) for outcome in outcomes)
        told.of(len(done))
    return _rows(cases, done)


def _outcomes(
    cases: WhatIfCases, pending: Sequence[int], execution: Execution, with_plans: bool
) -> Iterator[Sequence[CaseOutcome]]:
    if not pending:
        return
    limit_s = execution.time_limit_s
    ends = None if limit_s is None else time.monotonic() + limit_s
    if execution.on_spark:
        from ftplan.what_if.executors import on_executors

        engine, master = execution.engine or "auto", execution.master
        yield from on_executors(cases, pending, engine=engine, master=master, with_plans=with_plans, ends=ends)
        return
    jobs = min(execution.jobs or cores(), len(pending))
    if jobs > 1 or ends is not None:
        one = partial(outcome_of, cases, with_plan=with_plans, often=len(pending) >= COMPILING_CASES * jobs)
        yield from in_processes(one, pending, jobs, ends=ends, named=("the sweep", "case"))
        return
    for number in pending:
        yield [outcome_of(cases, number, with_plans, often=len(pending) >= COMPILING_CASES)]


def _rows(cases: WhatIfCases, done: Mapping[int, CaseOutcome]) -> CaseRows:
    """Return rows in the order of cases; where the base is not done there are no differences yet."""
    rows = {number: json.loads(done[number].row) for number in sorted(done)}
    base = rows.get(0)
    if base is not None:
        rows = {number: plain(cases.differences(row, base)) for number, row in rows.items()}
    missing = tuple(number for number in range(len(cases)) if number not in rows)
    return CaseRows(tuple(rows.values()), missing, tuple(json.loads(done[number].annotations) for number in rows))


class _Progress:
    """Says how many cases are done, and how long the others will take at the rate of this run."""

    def __init__(self, report: Report | None, cases: int, pending: int) -> None:
        self.report, self.cases, self.pending = report, cases, pending
        self.began = time.monotonic()
        self.of(cases - pending)

    def of(self, done: int) -> None:
        if self.report is None:
            return
        text = f"{done:,} of {self.cases:,} cases"
        now = done - (self.cases - self.pending)
        if 0 < now < self.pending:
            left_s = (time.monotonic() - self.began) / now * (self.pending - now)
            text += f", about {_duration(left_s)} left"
        self.report(text, done / self.cases)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
