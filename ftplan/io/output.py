"""Writing answers: whole or not at all, and never over something by accident."""

from __future__ import annotations

import ctypes
import errno
import glob
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ftplan.errors import FtplanError, OutputError
from ftplan.io.documents import display_name
from ftplan.io.inputs_read import is_input
from ftplan.io.leftovers import mark, remove_left

#: Mistakes in the name that was given; everything else is a failure of the disk.
_USER_ERRORS = (
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
)
_PARTIAL = ".partial"
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def refuse_existing(path: str | os.PathLike[str], force: bool = False) -> None:
    """Check before any work that *path* may be written.

    Raises FtplanError if the command at hand reads it; if it exists and *force* is false; if its folder is missing or
    may not be written to; if *force* is true and it is a folder other than a statistics folder.
    """
    target = Path(path)
    name = display_name(path)
    try:
        if _is_special(target):
            return
        if is_input(target):
            raise FtplanError(f"{name}: is an input of this command, which is never overwritten; give another name")
        if os.path.lexists(target) and not force:
            raise FtplanError(f"{name}: exists already; give --force to overwrite it")
        if target.is_dir():
            _refuse_strange_folder(target)
        parent = Path(os.path.realpath(target)).parent
        if not parent.is_dir():
            what = "is no folder" if parent.exists() else "does not exist"
            raise FtplanError(f"{name}: its folder {display_name(parent)!r} {what}; make it first")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise FtplanError(f"{name}: its folder {display_name(parent)!r} may not be written to")
    except (OSError, ValueError) as error:
        raise FtplanError(f"{name}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def write_text(path: str | os.PathLike[str], text: str, force: bool = False) -> None:
    """Write *text* as UTF-8, as :func:`write_bytes` does."""
    write_bytes(path, text.encode("utf-8"), force)


def write_bytes(path: str | os.PathLike[str], data: bytes, force: bool = False) -> None:
    """Write *data* into a file beside *path*, to the disk, then renamed.

    A reader sees the old file or the new one, never half of it, even when the process is killed. Without *force* an
    existing file is not replaced, also when it appeared meanwhile. Devices and pipes are written to directly.

    Raises FtplanError as :func:`refuse_existing`; OutputError if the disk fails (full, or an error of the device).
    """
    target = Path(path)
    refuse_existing(target, force)
    name = display_name(path)
    if target.is_dir():
        raise FtplanError(f"{name}: is a folder; expected the name of a file")
    with _disk_errors(name):
        if _is_special(target):
            target.write_bytes(data)
            return
        target = Path(os.path.realpath(target))
        beside = _beside(target)
        try:
            with beside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if force:
                if target.exists():
                    shutil.copymode(target, beside)
                beside.replace(target)
            else:
                _move_without_replacing(beside, target, name)
            _sync_folder(target.parent)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


@contextmanager
def new_folder(path: str | os.PathLike[str], force: bool = False) -> Iterator[Path]:
    """Yield a new folder beside *path*, and put it in place when the block ends well.

    When the block raises, also on an interrupt, the new folder is removed and *path* stays as it was. With *force* a
    statistics folder that stands there is replaced, in one step where the system can exchange two names; any other
    folder with something in it is never touched.

    Raises FtplanError as :func:`refuse_existing`; OutputError if the disk fails while the folder is made or moved.
    """
    refuse_existing(path, force)
    name = display_name(path)
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not target.is_dir():
        raise FtplanError(f"{name}: is a file; expected a statistics folder or a new name")
    beside = _beside(target)
    try:
        with _disk_errors(name):
            beside.mkdir()
        yield beside
        with _disk_errors(name):
            for file in sorted(beside.rglob("*")):
                if file.is_file():
                    _sync(file)
            if target.is_dir():
                if not force:
                    raise FtplanError(f"{name}: exists already; give --force to overwrite it")
                _refuse_strange_folder(target)
                _exchange(beside, target)
            else:
                beside.rename(target)
            _sync_folder(target.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def _disk_errors(name: str) -> Iterator[None]:
    """Turn the system's complaints into ours."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _USER_ERRORS:
            raise FtplanError(f"{name}: cannot be written: {reason}") from None
        raise OutputError(f"{name}: could not be written: {reason}; nothing was left half-written") from None


def _is_special(path: Path) -> bool:
    """Return whether *path* is a device or a pipe, such as /dev/stdout."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _refuse_strange_folder(folder: Path) -> None:
    """Raise unless a folder is empty or holds statistics."""
    if not any(folder.iterdir()):
        return
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        is_stats = isinstance(manifest, dict) and manifest.get("format") == "ftplan/stats"
    except (OSError, ValueError, RecursionError):
        is_stats = False
    if not is_stats:
        raise FtplanError(
            f"{display_name(folder)}: is a folder with something else than statistics in it, which --force does not "
            "delete; give another name"
        )


def _beside(target: Path) -> Path:
    """Return a new name beside a target, and remove what processes that were killed left of it."""
    stem = f".{target.name[:100]}"
    remove_left(target.parent, f"{glob.escape(stem)}.*{_PARTIAL}", _PARTIAL)
    return target.with_name(f"{stem}{mark()}{_PARTIAL}")


def _move_without_replacing(source: Path, target: Path, name: str) -> None:
    """Rename, but fail if *target* exists by now: a hard link does that in one step, where there are hard links."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise FtplanError(f"{name}: exists already; give --force to overwrite it") from None
    except OSError:
        if os.path.lexists(target):
            raise FtplanError(f"{name}: exists already; give --force to overwrite it") from None
        source.rename(target)


def _exchange(new: Path, old: Path) -> None:
    """Swap two folders under their names, in one step on Linux; *new* is then the old one."""
    library = ctypes.CDLL(None, use_errno=True)
    swap = getattr(library, "renameat2", None)
    if swap is not None and swap(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE) == 0:
        return
    aside = _beside(old)
    old.rename(aside)
    try:
        new.rename(old)
    except BaseException:
        aside.rename(old)
        raise
    aside.rename(new)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot
        _sync(folder)
