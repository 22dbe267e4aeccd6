"""ftplan for scripts of a test, answered within the tests' process: else each call would import all of it again."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cli.in_process import run_here

#: What stands in for the command: it sends its arguments, folder and environment, and prints what comes back.
_COMMAND = f"""#!{sys.executable} -SE
import json, os, socket, sys
asked = socket.socket(socket.AF_UNIX)
asked.connect({{place!r}})
asked.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
code, out, err = json.loads(asked.makefile().read())
sys.stderr.write(err)
sys.stderr.flush()
sys.stdout.write(out)
sys.exit(code)
"""


def script(words: Sequence[str], *, commands: Path, cwd: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Run a script and return its exit code and what it printed; *commands* is where its ``ftplan`` is written."""
    place = commands / "ftplan.socket"
    command = commands / "ftplan"
    command.write_text(_COMMAND.format(place=str(place)), "utf-8")
    command.chmod(0o755)
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        server.listen()
        with subprocess.Popen(
            words, cwd=cwd, env={**env, "PATH": f"{commands}:{env['PATH']}"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as running:  # fmt: skip
            printed = _printed(running, server)
        return running.returncode, printed.decode()


def _printed(running: subprocess.Popen[bytes], server: socket.socket) -> bytes:
    """Return what a script prints until it ends, and answer its calls meanwhile."""
    assert running.stdout is not None
    printed = b""
    while True:
        ready, _, _ = select.select([running.stdout, server], [], [])
        if server in ready:
            _answer(server)
        if running.stdout in ready:
            more = os.read(running.stdout.fileno(), 1 << 16)
            printed += more
            if not more:
                return printed


def _answer(server: socket.socket) -> None:
    asked, _ = server.accept()
    with asked, asked.makefile() as lines:
        args, cwd, env = json.loads(lines.readline())
        done = run_here(args, cwd=Path(cwd), env=env)
        asked.sendall(json.dumps([done.returncode, done.stdout, done.stderr]).encode())
