"""The Python face of what-if: a what-if file in, a frame out."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ftplan.what_if.case_file import load_cases
from ftplan.what_if.journal import Journal
from ftplan.what_if.result import WhatIfResult
from ftplan.what_if.runner import Execution, Report, answer_cases

if TYPE_CHECKING:
    import pandas as pd

    from ftplan.io.loading import Source
    from ftplan.spark_stats.choice import Engine


def what_if(
    source: Source,
    *,
    jobs: int | None = None,
    master: str | None = None,
    engine: Engine | None = None,
    journal: str | os.PathLike[str] | None = None,
    time_limit_s: float | None = None,
    progress: Report | None = None,
    **overrides: Any,
) -> pd.DataFrame:
    """Ask one question under changed inputs; return a row a case, the base first.

    Parameters
    ----------
    source
        The path of a what-if file, or its document.
    jobs
        Processes; None is one a core, 1 is this process alone.
    master, engine
        Spark executors instead: ``local[*]``, ``spark://…``, ``yarn``, ``sc://…``; ``spark`` or ``sail``.
    journal
        A file that keeps what is done: a call that was killed goes on from there. It is removed at the end.
    time_limit_s
        Cases that are not done after so many seconds have no row; the journal is kept then.
    progress
        Called with a sentence and a share of 1 as cases are done.
    overrides
        ``topology``, ``cluster``, ``stats``, ``failure``, ``spread`` and ``measures`` instead of what the file says.

    Returns
    -------
    pandas.DataFrame
        ``case``, the swept fields, ``status``, the measures, ``gap`` and ``delta_`` and each measure: its difference
        from the base. A case that failed has status ``error`` and the message as ``reason``.

    Raises
    ------
    FtplanError
        If the file or an input is wrong, or the journal is of other cases.
    """
    cases = load_cases(source, **overrides)
    execution = Execution(jobs, engine, master, time_limit_s)
    with ExitStack() as stack:
        kept = None
        if journal is not None:
            kept = Journal(Path(journal), cases.fingerprint, len(cases))
            stack.callback(kept.close)
        rows = answer_cases(cases, execution, journal=kept, report=progress)
        if kept is not None and not rows.missing:
            kept.remove()
    return WhatIfResult(cases, rows).to_frame()
