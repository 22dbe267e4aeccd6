"""Damaged and cut files of every form: recovery costs or one clear line, never a trace."""

from __future__ import annotations

import functools
import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import LONGEST_MESSAGE, FtplanError
from tests.costs.recoveries.cases import killed_and_restarted
from tests.places import ROOT

EXAMPLES = ROOT / "examples"
#: The file that is damaged, by form.
FILES = {
    "recoveries": "recoveries.csv",
    "curves": "curve.parquet",
    "flink": "jobmanager.log",
    "collected": "answers/2026-11-22T08.jsonl",
    "spark": "app-2",
}


@functools.cache
def originals(form: str) -> dict[str, bytes]:
    """Return the files of a form, by their names."""
    if form == "recoveries" or form == "curves":
        return {FILES[form]: (EXAMPLES / "recoveries" / FILES[form]).read_bytes()}
    if form == "flink":
        return {FILES[form]: (EXAMPLES / "flink" / FILES[form]).read_bytes()}
    if form == "collected":
        folder = EXAMPLES / "flink" / "collected"
        lines = gzip.decompress((folder / f"{FILES[form]}.gz").read_bytes()).splitlines(keepends=True)
        told = [line for line in lines if b"/exceptions" in line or b"/checkpoints" in line or b"/vertices/" in line]
        short = b"".join(line for line in told if b"/metrics" not in line)
        return {"collection.json": (folder / "collection.json").read_bytes(), FILES[form]: short}
    with tempfile.TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in killed_and_restarted(Path(folder))}


def damaged(data: bytes, cut: float, changes: list[tuple[float, int]]) -> bytes:
    kept = bytearray(data[: max(1, int(len(data) * cut))])
    for place, byte in changes:
        kept[int(place * (len(kept) - 1))] = byte
    return bytes(kept)


@pytest.mark.parametrize("form", FILES)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damage(form: str, data: st.DataObject) -> None:
    cut = data.draw(st.sampled_from([1.0, 1.0, 0.9, 0.5, 0.05]) | st.floats(0.0, 1.0))
    changes = data.draw(st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), max_size=20))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in originals(form).items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(damaged(content, cut, changes) if file == FILES[form] else content)
        sources = [folder] if form == "collected" else sorted(folder.iterdir())
        said = None
        try:
            assert ftplan.calibrate(sources, draws=0).to_dict()["parameters"]
        except FtplanError as error:
            said = error
    if said is not None:
        assert "\n" not in str(said)
        assert len(str(said)) <= LONGEST_MESSAGE
        assert said.exit_code == 2


@pytest.mark.parametrize("form", FILES)
def test_undamaged(form: str, tmp_path: Path) -> None:
    for file, content in originals(form).items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(content)
    sources = [tmp_path] if form == "collected" else sorted(tmp_path.iterdir())
    assert "restart_s" in ftplan.calibrate(sources, draws=0).to_dict()["parameters"]
