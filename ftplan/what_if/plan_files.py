"""The plan of each case in a file of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ftplan.errors import FtplanError
from ftplan.io.documents import display_name
from ftplan.io.output import refuse_existing, write_text
from ftplan.what_if.outcome import Outcome

if TYPE_CHECKING:
    from ftplan.what_if.sweep import Sweep


class PlanFiles:
    """A folder with a file for each case that was answered: ``0012-ID.json``, by number and id of the case."""

    def __init__(self, folder: str | os.PathLike[str], sweep: Sweep, *, force: bool = False) -> None:
        """Make the folder if there is none.

        Raises
        ------
        FtplanError
            If it cannot be written to, or holds anything and *force* is false.
        """
        self.folder, self.sweep = Path(folder), sweep
        name = display_name(folder)
        if self.folder.is_dir():
            if not force and any(self.folder.iterdir()):
                raise FtplanError(f"{name}: holds files already; give --force to overwrite those of the same cases")
            return
        refuse_existing(folder)
        self.folder.mkdir()

    def path(self, number: int) -> Path:
        """Return the file of a case."""
        digits = max(4, len(str(len(self.sweep) - 1)))
        shown = re.sub(r"[^\w.=+-]+", "-", self.sweep.case(number).id)[:80].strip("-.")
        return self.folder / f"{number:0{digits}d}-{shown}.json"

    def written(self, number: int, row: Mapping[str, Any]) -> bool:
        """Return whether all that a row which is done has to leave is there: an error leaves no plan."""
        return row.get("status") == "error" or self.path(number).is_file()

    def write(self, outcomes: Iterable[Outcome]) -> None:
        """Write the plans of cases, each whole or not at all.

        Raises
        ------
        OutputError
            If the disk fails.
        """
        for outcome in outcomes:
            if outcome.plan is not None:
                write_text(self.path(outcome.number), outcome.plan, force=True)
