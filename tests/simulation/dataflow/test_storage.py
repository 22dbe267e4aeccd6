"""Sources' logs: every record once, whatever the load; what was trimmed is gone."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.simulation.dataflow.storage import SourceInput, SourceLog
from ftplan.simulation.dataflow.streams import Barrier
from tests.simulation.dataflow.cases import job


def test_batches_have_the_records_of_their_second() -> None:
    of = job([2.5, 0], [(0, 1, 1.0)], load=np.array([1.0, 0.0, 2.0]))
    log = SourceLog(of, identities=True)
    batches = [log.read(0, batch) for batch in range(200)]
    assert [records.size for records in batches[:5]] == [2, 0, 5, 5, 5]
    names = [name for records in batches for name in records.identities]
    assert names == [(0, number) for number in range(1, len(names) + 1)]


def test_a_source_takes_what_the_log_has_and_no_more() -> None:
    log = SourceLog(job([3, 0], [(0, 1, 1.0)]), identities=False)
    source = SourceInput(log, task=0, batch=1)
    log.batches = 2
    taken = source.take()
    assert taken is not None
    assert [(records.batch, records.first, records.size) for records in taken] == [(1, 4, 3)]
    assert source.take() is None
    with pytest.raises(TypeError, match="sent to a source"):
        source.put(Barrier(0, 0))


def test_what_was_trimmed_is_gone() -> None:
    log = SourceLog(job([3, 0], [(0, 1, 1.0)]), identities=False)
    log.kept_from = 4
    assert log.read(0, 4).size == 3
    with pytest.raises(LookupError, match="batch 3 is gone"):
        log.read(0, 3)
