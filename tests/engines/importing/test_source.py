"""What can be given to an import: files, folders, standard input, a URL."""

from __future__ import annotations

from pathlib import Path

import pytest

import ftplan
from ftplan.engines.importing.source import open_source
from ftplan.engines.registry import importers
from ftplan.errors import FtplanError


def test_files_and_folders(tmp_path: Path) -> None:
    for name, data in (
        ("b10.json", b"[1]"),
        ("b2.json", b"{}"),
        (".hidden.json", b"{}"),
        ("x.bin", b"\0"),
        ("n.txt", b"a"),
    ):
        (tmp_path / name).write_bytes(data)
    source = open_source(tmp_path)
    assert [Path(path).name for path in source.paths] == ["b2.json", "b10.json", "n.txt", "x.bin"]
    assert [value for _, value in source.documents()] == [{}, [1]]
    assert [text for _, text in source.texts()] == ["{}", "[1]", "a"]
    assert list(source.latest.values()) == [{}, [1]]
    alone = open_source([str(tmp_path / "x.bin")])
    with pytest.raises(FtplanError, match="is a binary file"):
        list(alone.texts())
    both = open_source([tmp_path / "n.txt", tmp_path / "b2.json"])
    assert both.name.endswith("n.txt and 1 more")


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "collected").mkdir()
    (tmp_path / "collected" / "collection.json").write_text("{}")
    for given, said in (
        ([], "give a file, a folder or a URL"),
        ([tmp_path / "empty"], "holds no files"),
        (["http://a", "b"], "give it alone"),
        ([tmp_path / "collected", "b"], "is a collected folder; give it alone"),
    ):
        with pytest.raises(FtplanError, match=said):
            open_source(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", importers())
def test_every_engine_refuses_what_is_not_its_own_in_a_line(engine: str, tmp_path: Path) -> None:
    for name, text in (("a.json", '{"a": 1}'), ("b.yaml", "a: [1, 2"), ("c.txt", "hello\n"), ("d.json", "[]")):
        (tmp_path / name).write_text(text)
        with pytest.raises(FtplanError) as raised:
            ftplan.import_topology(tmp_path / name, engine)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) <= 400
    with pytest.raises(FtplanError):
        ftplan.import_topology(tmp_path / "missing.json", engine)


def test_arguments_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "flux.yaml"
    path.write_text("spouts: [{id: s, className: S}]\n")
    for wrong, said in (
        ({"zone_map": 3}, "--zone-map: 3 is not"), ({"cores": -1}, "--cores: -1 is not"), ({"nodes": 1}, "unknown"),
        ({"partitions": "3"}, "--partitions: goes with kafka-streams, not with storm"),
        ({"strict": "yes"}, "--strict: 'yes' is not True or False"), ({"node_by": "rack"}, "one of host, process"),
        ({"output": ""}, "--output: '' is not a path"), ({"cluster_output": str(tmp_path / "c")}, "names no hosts"),
        ({"output": str(tmp_path / "no" / "t.yaml")}, "does not exist; make it first"),
    ):  # fmt: skip
        with pytest.raises(FtplanError, match=said):
            ftplan.import_topology(path, "storm", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "c").exists()
    with pytest.raises(FtplanError, match=r"--from: 'strom' is not one of .* \(did you mean 'storm'\?\)"):
        ftplan.import_topology(path, "strom")
    done = ftplan.import_topology(path, "storm", output=tmp_path / "t.json", parallelism=["s=2"])
    assert done.topology["operators"][0]["parallelism"] == 2
    assert ftplan.load(topology=tmp_path / "t.json").topology.task_count == 2  # type: ignore[union-attr]
    with pytest.raises(FtplanError, match="exists already"):
        ftplan.import_topology(path, "storm", output=tmp_path / "t.json")
