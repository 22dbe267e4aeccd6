"""Damaged and cut files of every form: recovery costs or one clear line, never a trace."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import LONGEST_MESSAGE, FtplanError

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = {
    path.name: path
    for path in (
        EXAMPLES / "recoveries" / "recoveries.csv",
        EXAMPLES / "recoveries" / "curve.parquet",
        EXAMPLES / "flink" / "jobmanager.log",
    )
}


@functools.cache
def original(name: str) -> bytes:
    return FILES[name].read_bytes()


def damaged(data: bytes, cut: float, changes: list[tuple[float, int]]) -> bytes:
    kept = bytearray(data[: max(1, int(len(data) * cut))])
    for place, byte in changes:
        kept[int(place * (len(kept) - 1))] = byte
    return bytes(kept)


@pytest.mark.parametrize("name", FILES)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_damage(name: str, tmp_path: Path, data: st.DataObject) -> None:
    cut = data.draw(st.sampled_from([1.0, 1.0, 0.9, 0.5, 0.05]) | st.floats(0.0, 1.0))
    changes = data.draw(st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), max_size=20))
    path = tmp_path / name
    path.write_bytes(damaged(original(name), cut, changes))
    said = None
    try:
        assert ftplan.calibrate(path, draws=0).to_dict()["parameters"]
    except FtplanError as error:
        said = error
    if said is not None:
        assert "\n" not in str(said)
        assert len(str(said)) <= LONGEST_MESSAGE
        assert said.exit_code == 2
