"""What a shell completes: names of files where an option or argument takes one; words and commands click knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FILES, _FOLDERS = re.compile(r"\b(FILE|FOLDER|PLAN|LOG|RECOVERIES|WHAT-IF)\b"), re.compile(r"\bDIR\b")


class Place(click.types.StringParamType):
    """Text that names a file or a folder."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Leave it to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type=self.kind)]


def name_places(command: click.Command) -> None:
    """Let a shell complete names of files in what stands for one in ``--help``."""
    for parameter in command.params:
        if type(parameter.type) is click.types.StringParamType and parameter.metavar:
            if _FOLDERS.search(parameter.metavar):
                parameter.type = Place("dir")
            elif _FILES.search(parameter.metavar):
                parameter.type = Place("file")
