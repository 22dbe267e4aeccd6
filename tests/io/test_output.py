"""Files and folders appear whole or not at all, and nothing is overwritten by accident."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ftplan.errors import FtplanError, OutputError
from ftplan.io.output import new_folder, refuse_existing, write_text
from tests.io.examples import manifest, said, write


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def stats_folder(path: Path, mark: str) -> None:
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps(manifest()))
    (path / "mark").write_text(mark)


def test_new_file(tmp_path: Path) -> None:
    write_text("plan.json", "ä\n")
    assert Path("plan.json").read_bytes() == "ä\n".encode()
    assert entries(tmp_path) == ["plan.json"]
    umask = os.umask(0)
    os.umask(umask)
    assert Path("plan.json").stat().st_mode & 0o777 == 0o666 & ~umask


def test_existing_file_needs_force(tmp_path: Path) -> None:
    write(tmp_path, "plan.json", "old")
    message = "plan.json: exists already; give --force to overwrite it"
    assert said(refuse_existing, "plan.json") == message
    assert said(write_text, "plan.json", "new") == message
    assert Path("plan.json").read_text() == "old"
    Path("plan.json").chmod(0o640)
    write_text("plan.json", "new", force=True)
    assert Path("plan.json").read_text() == "new"
    assert Path("plan.json").stat().st_mode & 0o777 == 0o640
    assert entries(tmp_path) == ["plan.json"]


def test_file_that_appears_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may write the same name between the check and the rename."""
    monkeypatch.setattr("ftplan.io.output.refuse_existing", lambda *_: None)
    write(tmp_path, "plan.json", "theirs")
    assert said(write_text, "plan.json", "ours") == "plan.json: exists already; give --force to overwrite it"
    assert Path("plan.json").read_text() == "theirs"
    assert entries(tmp_path) == ["plan.json"]


def test_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep", "real.json", "old")
    (tmp_path / "link.json").symlink_to("deep/real.json")
    write_text("link.json", "new", force=True)
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "deep" / "real.json").read_text() == "new"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    write(tmp_path, "file", "x")
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder", "keep", "x")
    assert said(write_text, "none/plan.json", "x") == "none/plan.json: its folder 'none' does not exist; make it first"
    assert said(write_text, "file/plan.json", "x") == "file/plan.json: its folder 'file' is no folder; make it first"
    assert said(write_text, "folder", "x", force=True) == (
        "folder: is a folder with something else than statistics in it, which --force does not delete; give another "
        "name"
    )
    write_text("/dev/null", "x")


def test_more_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stats_folder(tmp_path / "stats", "old")
    assert said(write_text, "stats", "x", force=True) == "stats: is a folder; expected the name of a file"
    assert said(refuse_existing, "a\0b").endswith("cannot be written: embedded null byte")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert said(refuse_existing, "plan.json") == "plan.json: its folder '.' may not be written to"


@pytest.mark.parametrize("appears", [False, True])
def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, appears: bool) -> None:
    def refuse(source: Path, target: Path) -> None:
        if appears:
            target.write_text("theirs")
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    if appears:
        assert said(write_text, "plan.json", "ours") == "plan.json: exists already; give --force to overwrite it"
    else:
        write_text("plan.json", "ours")
    assert Path("plan.json").read_text() == ("theirs" if appears else "ours")
    assert entries(tmp_path) == ["plan.json"]


def test_folder_that_appears_meanwhile(tmp_path: Path) -> None:
    def block() -> None:
        with new_folder("stats"):
            (tmp_path / "stats").mkdir()

    assert said(block) == "stats: exists already; give --force to overwrite it"
    assert entries(tmp_path / "stats") == []


def test_folder_whose_exchange_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old folder is back under its name."""
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    stats_folder(tmp_path / "stats", "old")
    rename = Path.rename

    def fail(source: Path, target: Path) -> Path:
        if source.name.endswith(".partial") and (source / "mark").read_text() == "new":
            raise OSError(errno.EIO, "Input/output error")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OutputError), new_folder("stats", force=True) as folder:
        (folder / "mark").write_text("new")
    assert entries(tmp_path) == ["stats"]
    assert (tmp_path / "stats" / "mark").read_text() == "old"


def test_disk_that_may_not_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", refuse)
    assert said(write_text, "plan.json", "new") == "plan.json: cannot be written: Read-only file system"


def test_disk_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is exit 74 and leaves the old file, without a trace of the new one."""
    write(tmp_path, "plan.json", "old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError) as raised:
        write_text("plan.json", "new", force=True)
    assert raised.value.exit_code == 74
    assert str(raised.value) == (
        "plan.json: could not be written: No space left on device; nothing was left half-written"
    )
    assert (tmp_path / "plan.json").read_text() == "old"
    assert entries(tmp_path) == ["plan.json"]


def test_new_folder(tmp_path: Path) -> None:
    with new_folder("stats") as folder:
        assert not Path("stats").exists()
        (folder / "inner").mkdir()
        (folder / "inner" / "a").write_text("a")
    assert Path("stats/inner/a").read_text() == "a"
    assert entries(tmp_path) == ["stats"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_folder_of_a_block_that_fails(tmp_path: Path, error: type[BaseException]) -> None:
    stats_folder(tmp_path / "stats", "old")

    def block() -> None:
        with new_folder("stats", force=True) as folder:
            (folder / "a").write_text("a")
            raise error

    with pytest.raises(error):
        block()
    assert entries(tmp_path) == ["stats"]
    assert (tmp_path / "stats" / "mark").read_text() == "old"


@pytest.mark.parametrize("exchange", [True, False])
def test_folder_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool) -> None:
    """Also where the system cannot exchange two names in one step."""
    if not exchange:
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    stats_folder(tmp_path / "stats", "old")
    assert said(new_folder("stats").__enter__) == "stats: exists already; give --force to overwrite it"
    with new_folder("stats", force=True) as folder:
        (folder / "mark").write_text("new")
    assert entries(tmp_path) == ["stats"]
    assert entries(tmp_path / "stats") == ["mark"]
    assert (tmp_path / "stats" / "mark").read_text() == "new"


def test_other_folders_are_never_deleted(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    write(tmp_path / "home", "manifest.json", '{"format": "other"}')
    write(tmp_path, "file", "x")
    with pytest.raises(FtplanError, match="which --force does not delete"), new_folder("home", force=True):
        pass
    with pytest.raises(FtplanError, match="file: is a file; expected a statistics folder or a new name"):
        new_folder("file", force=True).__enter__()
    (tmp_path / "empty").mkdir()
    with new_folder("empty", force=True) as folder:
        (folder / "a").write_text("a")
    assert entries(tmp_path / "empty") == ["a"]


WRITER = """
import sys
from ftplan.io.output import new_folder, write_text
print("ready", flush=True)
letter = sys.argv[1]
while True:
    write_text("plan.json", letter * 3_000_000, force=True)
    with new_folder("stats", force=True) as folder:
        (folder / "manifest.json").write_text('{"format": "ftplan/stats"}')
        for i in range(20):
            (folder / str(i)).write_text(letter)
"""


def test_kill_while_writing(tmp_path: Path) -> None:
    """kill -9 at any moment leaves the old file and folder or the new ones, never half."""
    (tmp_path / "plan.json").write_text("o" * 3_000_000)
    for round_ in range(6):
        letter = "ab"[round_ % 2]
        writer = subprocess.Popen([sys.executable, "-c", WRITER, letter], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.011 * (round_ + 1))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        content = (tmp_path / "plan.json").read_text()
        assert len(content) == 3_000_000
        assert len(set(content)) == 1
        if (tmp_path / "stats").exists():
            numbered = [entry for entry in (tmp_path / "stats").iterdir() if entry.name != "manifest.json"]
            assert len(numbered) == 20
            assert len({entry.read_text() for entry in numbered}) == 1
