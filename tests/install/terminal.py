"""A shell on a terminal, and somebody who presses the tabulator key."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Ends a line of what was typed: it goes to its start, puts ``echo`` before it and has it run.
SHOW = "\x01echo typed: \r"


def typed(shell: Sequence[str], lines: Sequence[str], env: Mapping[str, str], cwd: Path) -> str:
    """Type lines into a shell on a terminal, as they are, then ``exit``; return all that was on its screen."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (50, 200))
    process = subprocess.Popen(
        shell, stdin=its, stdout=its, stderr=its, env={"TERM": "xterm", **env}, cwd=cwd, start_new_session=True
    )
    os.close(its)
    os.write(ours, "".join([*lines, "exit\r"]).encode())
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # the shell has closed the terminal
        pass
    os.close(ours)
    process.wait()
    return seen.decode(errors="replace")


def shown(screen: str) -> list[str]:
    """Return what the lines that were typed had become."""
    return [line.removeprefix("typed: ").strip() for line in screen.splitlines() if line.startswith("typed: ")]
