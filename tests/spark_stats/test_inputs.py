"""Files are found and looked at before any engine starts."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
from pathlib import Path
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.spark_stats import pipeline
from ftplan.spark_stats.inputs import LogFile, find_files, inspect_files
from ftplan.spark_stats.mapping import LogMapping

#: Two lines of CSV, packed as a frame of Zstandard.
ZST = pa.compress(b"a\n1\n", codec="zstd", asbytes=True)


def look(*paths: Path | str) -> list[LogFile]:
    return inspect_files(find_files([str(p) for p in paths]))


def test_what_is_beyond_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remote files, and types that Sail lacks; not the size, since a log is read piece by piece."""
    mapping = LogMapping(time_columns=("t",), operator="op", key_columns=("k",))
    (tmp_path / "a.csv").write_bytes(b"x" * 1000)
    monkeypatch.setenv("FTPLAN_MAX_MEMORY_GB", "0.0000001")
    assert pipeline._beyond([(str(tmp_path / "a.csv"), False)], mapping) is None
    monkeypatch.delenv("FTPLAN_MAX_MEMORY_GB")
    assert pipeline._beyond([("s3a://b/x.csv", True)], mapping) == "s3a://b/x.csv lies on a remote store"
    parquet = tmp_path / "c.parquet"
    for name in ("t", "k", "other"):
        pq.write_table(pa.table({name: pa.array(["a"]).dictionary_encode()}), parquet)
        told = pipeline._beyond([(str(parquet), False)], mapping)
        assert (told or "").startswith(f"column '{name}' of ") is (name != "other")


def test_folder_glob_and_duplicates(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.csv", "a.csv", "sub/c.csv.gz", "d.csv.zst", "_SUCCESS", ".a.csv.crc", "notes.md"):
        data = b"x\n1\n"
        packed = {".gz": gzip.compress(data, mtime=0), ".zst": ZST}
        (tmp_path / name).write_bytes(packed.get(Path(name).suffix, data))
    assert [Path(f.path).name for f in look(tmp_path)] == ["a.csv", "b.csv", "d.csv.zst", "c.csv.gz"]
    assert len(look(tmp_path / "*.csv", tmp_path / "a.csv")) == 2
    with pytest.raises(FtplanError, match="no file matches"):
        look(tmp_path / "*.jsonl")
    assert len(look(f"file://{tmp_path}/a.csv")) == 1
    (tmp_path / "empty").mkdir()
    for path, message in (("none.csv", "no such file"), ("empty", "the folder holds no log file")):
        with pytest.raises(FtplanError, match=message):
            look(tmp_path / path)
    with pytest.raises(FtplanError, match="no log file is given"):
        look()


def test_what_is_learnt(tmp_path: Path) -> None:
    data = '\ufeffa,b\r\n1,"x"\r\n2,é'.encode()
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    (file,) = look(path)
    assert (file.rows, file.header, file.quoted, file.utf8) == (3, "a,b", True, True)
    assert (file.bytes, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    zipped = tmp_path / "y.csv.gz"
    zipped.write_bytes(gzip.compress(b"a\n1\n", mtime=0) + gzip.compress(b"2\n"))
    (file,) = look(zipped)
    assert (file.rows, file.header, file.quoted) == (3, "a", False)
    zipped = tmp_path / "z.csv.zst"
    zipped.write_bytes(ZST + ZST)
    (file,) = look(zipped)
    assert (file.rows, file.header, file.sha256) == (4, "a", hashlib.sha256(ZST + ZST).hexdigest())


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.csv", b"", "the file is empty"),
        ("x.csv", b"a,b\n\x00\x01", "not a text file"),
        ("x.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        ("x.csv", gzip.compress(b"a,b\n", mtime=0), "does not end in .gz"),
        ("x.csv.gz", b"a,b\n", "is no gz file"),
        ("x.csv.gz", gzip.compress(b"a,b\n" * 99, mtime=0)[:-9], "cut off after"),
        ("x.csv.gz", gzip.compress(b"a,b\n" * 99, mtime=0)[:-9] + b"x" * 9, "damaged gz file"),
        ("x.csv", ZST, "does not end in .zst"),
        ("x.csv.zst", b"a,b\n", "is no zst file"),
        ("x.csv.zst", ZST[:-3], "damaged zst file"),
        ("x.parquet", b"PAR1 nonsense", "no readable Parquet file"),
        ("x.parquet", b"a,b\n", "no readable Parquet file"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FtplanError, match=message) as caught:
        look(tmp_path / name)
    assert name in str(caught.value)


def test_what_a_file_holds_wins_over_its_name(tmp_path: Path) -> None:
    """Parquet and JSON objects are seen; all else is what the name says, a table of text without one."""
    row, packed = b'\xef\xbb\xbf {"t": 1}\n', gzip.compress(b'{"t": 1}\n')
    for name, data, kind in (
        ("a.txt", row, "jsonl"), ("a.csv", row, "jsonl"), ("a.log", row, "jsonl"), ("a.log.gz", packed, "jsonl"),
        ("a.csv.gz", gzip.compress(b"t,k\n"), "csv"), ("b.log", b"t,k\n", "csv"), ("b.json", b"t,k\n", "jsonl"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        assert [file.format for file in look(tmp_path / name)] == [kind], name
    pq.write_table(pa.table({"t": [1]}), tmp_path / "c.csv")
    assert [file.format for file in look(tmp_path / "c.csv")] == ["parquet"]


def test_mixed_formats(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(FtplanError, match="mixes csv and jsonl"):
        look(tmp_path)


def test_files_that_vanish_and_readings_that_are_stopped(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(FtplanError, match=r"none.csv: cannot be read \(No such file or directory\)"):
        inspect_files([(str(tmp_path / "none.csv"), False)])
    stop = Event()
    stop.set()
    with pytest.raises(FtplanError, match="interrupted"):
        inspect_files([(str(tmp_path / "x.csv"), False)], stop=stop)


def test_empty_files_are_left_out(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": [1]}), tmp_path / "x.parquet")
    (tmp_path / "y.parquet").touch()
    assert [Path(f.path).name for f in look(tmp_path)] == ["x.parquet"]


@pytest.mark.parametrize("piece", [1, 2, 3, 5])
def test_characters_may_be_cut_between_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr("ftplan.spark_stats.inputs._CHUNK", piece)
    for text, utf8 in (("é€😀\n".encode() * 3, True), ("é€😀".encode()[:-1], False), (b"a\xc3a\n", False)):
        (tmp_path / "x.csv").write_bytes(b"a\n" + text)
        assert look(tmp_path / "x.csv")[0].utf8 is utf8


def test_remote_paths_pass_through() -> None:
    with pytest.raises(FtplanError, match="the name does not tell the format; give --input-format"):
        look("s3a://bucket/day/log")
    (file,) = look("s3a://bucket/day/log.jsonl.gz")
    assert (file.remote, file.format, file.uri(), file.sha256) == (True, "jsonl", "s3a://bucket/day/log.jsonl.gz", None)


@given(cut=st.integers(1, 400), flip=st.integers(0, 400), kind=st.sampled_from(["csv.gz", "parquet"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_cut_and_damaged_files_are_one_sentence(tmp_path: Path, cut: int, flip: int, kind: str) -> None:
    """Whatever happens to the bytes: it is read, or it is one clear error."""
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"t": list(range(50)), "k": ["a"] * 50}), path)
    else:
        path.write_bytes(gzip.compress(b"t,k\n" + b"1,a\n" * 60, mtime=0))
    data = bytearray(path.read_bytes()[:-cut])
    if data:
        data[flip % len(data)] ^= 0x55
    path.write_bytes(bytes(data))
    with contextlib.suppress(FtplanError):
        look(path)
