"""Cases on Spark executors: the same code over a frame of case numbers, wave by wave."""

from __future__ import annotations

import pickle
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ftplan.processes import cores
from ftplan.spark_stats.choice import Engine
from ftplan.spark_stats.session import Session, open_session
from ftplan.what_if.outcome import CaseOutcome, outcome_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ftplan.what_if.cases import WhatIfCases

#: Seconds that a wave of cases shall take: rows are kept after each, and executors wait at its end for the last case.
WAVE_S = 20.0
#: Cases of the first wave, and parts that a wave is dealt out in, for each core of the cluster.
FIRST, PARTS = 2, 4
SCHEMA = "number bigint, row string, annotations string, plan string"

#: The cases that this process of an executor has unpacked, by their digest.
_UNPACKED: dict[str, tuple[WhatIfCases, bool]] = {}


def on_executors(
    cases: WhatIfCases,
    numbers: Sequence[int],
    *,
    engine: Engine = "auto",
    master: str | None = None,
    with_plans: bool = False,
    ends: float | None = None,
) -> Iterator[list[CaseOutcome]]:
    """Yield the outcomes of cases, wave by wave, carried out by the executors of Spark, Spark Connect or Sail.

    The cases go along by value, and to other machines so does ftplan's own code; what ftplan depends on has to be
    installed there.

    Raises FtplanError if the engine does not start.

    Parameters
    ----------
    engine, master
        See :func:`ftplan.spark_stats.session.open_session`.
    ends
        A time of ``time.monotonic``, after which no wave begins.
    """
    packed = pickle.dumps((cases, with_plans), protocol=pickle.HIGHEST_PROTOCOL)
    with open_session(engine, master) as session, _code_shipped(session):
        slots = _slots(session)
        left, many = list(numbers), FIRST * slots
        while left and (ends is None or time.monotonic() < ends):
            wave, left = left[:many], left[many:]
            began = time.monotonic()
            frame = session.spark.range(0, len(wave), 1, min(len(wave), PARTS * slots))
            table = frame.mapInArrow(_task(packed, tuple(wave)), SCHEMA).toArrow()
            yield [
                CaseOutcome(*values) for values in zip(*(column.to_pylist() for column in table.columns), strict=True)
            ]
            took = max(time.monotonic() - began, 1e-3)
            may_take = WAVE_S if ends is None else min(WAVE_S, 0.5 * max(0.0, ends - time.monotonic()))
            many = max(FIRST * slots, min(4 * many, int(len(wave) * may_take / took)))


def _slots(session: Session) -> int:
    """Return how many cases run at a time, as far as that is known."""
    if session.kind == "spark":
        return max(1, int(session.spark.sparkContext.defaultParallelism))
    return cores()


@contextmanager
def _code_shipped(session: Session) -> Iterator[None]:
    """Give ftplan's code to executors on other machines, where it may be missing or another version."""
    local = session.kind == "sail"
    if session.kind == "spark":
        local = str(session.spark.conf.get("spark.master", "")).startswith("local")
    if local:
        yield
        return
    package = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory(prefix="ftplan-") as folder:
        archive = Path(folder) / "ftplan.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(package.rglob("*")):
                if path.suffix in (".py", ".json", ".typed"):
                    file.write(path, Path("ftplan") / path.relative_to(package))
        session.spark.addArtifacts(str(archive), pyfile=True)
        yield


def _task(packed: bytes, wave: tuple[int, ...]) -> Any:
    """Return the function of a wave. It goes to executors by value, and imports there what it needs."""
    digest = sha256(packed).hexdigest()

    def batches_of_outcomes(batches: Any) -> Any:
        from ftplan.what_if.executors import outcomes_of

        return outcomes_of(batches, wave, packed, digest)

    return batches_of_outcomes


def outcomes_of(
    batches: Iterable[pa.RecordBatch], wave: Sequence[int], packed: bytes, digest: str
) -> Iterator[pa.RecordBatch]:
    """Carry out cases on an executor: each batch holds places in *wave*, which holds numbers of cases."""
    import pyarrow as pa

    if digest not in _UNPACKED:
        _UNPACKED.clear()
        _UNPACKED[digest] = pickle.loads(packed)
    cases, with_plans = _UNPACKED[digest]
    columns = {"number": pa.int64(), "row": pa.string(), "annotations": pa.string(), "plan": pa.string()}
    schema = pa.schema(list(columns.items()))
    for batch in batches:
        for place in batch.column(0).to_pylist():
            outcome = outcome_of(cases, wave[place], with_plans)
            yield pa.RecordBatch.from_pylist([outcome._asdict()], schema=schema)
