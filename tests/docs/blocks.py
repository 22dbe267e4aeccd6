"""The code blocks of a page, and the commands in them with what they print."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.places import ROOT

#: What a block may be. ``text`` is for what nobody types and no command prints.
LANGUAGES = ("console", "python", "yaml", "json", "toml", "ini", "text")
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)(?P<attributes>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


def pages() -> list[Path]:
    """Return all pages that people read: README, CONTRIBUTING, the site, the READMEs of examples."""
    return [
        ROOT / "README.md", ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*/README.md")),
    ]  # fmt: skip


@dataclass(frozen=True)
class Block:
    """A code block: its language, its ``title="..."``, its text, the line at which it begins."""

    language: str
    title: str | None
    text: str
    line: int


@dataclass(frozen=True)
class Step:
    """A command of a console block; *printed* is what the page shows of its output, None where it shows nothing."""

    command: str
    printed: str | None
    code: int


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page in their order; what stands within tabs and notes loses its indent."""
    for found in _FENCE.finditer(text):
        title = re.search(r'title="([^"]*)"', found["attributes"])
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found["language"], title[1] if title else None, textwrap.dedent(found["text"]), line)


def steps(text: str) -> Iterator[Step]:
    """Yield the commands of a console block: lines behind ``$``, continued by a backslash; below stands the output.

    ``[1]`` as the last line is the exit code, unless that is 0.
    """
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.rstrip("\n").split("\n")
        command = lines.pop(0)
        while command.endswith("\\"):
            command = command[:-1].rstrip() + " " + lines.pop(0).strip()
        code = 0
        if lines and (exit_code := re.fullmatch(r"\[(\d+)\]", lines[-1])):
            code = int(exit_code[1])
            lines.pop()
        while lines and not lines[-1].strip():
            lines.pop()
        yield Step(re.sub(r"\s{2,}# .*$", "", command).strip(), "\n".join(lines) if lines else None, code)


def prints(text: str) -> str:
    """Return what a block of Python says that it prints: lines of its own that begin with ``# >``."""
    return "\n".join(line[3:].removeprefix(" ") for line in text.split("\n") if line.startswith("# >"))


def agrees(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed: ``…`` is any text, and as a line of its own any lines."""
    parts = []
    for line in shown.split("\n"):
        words = r".*".join(re.escape(part.rstrip() if i else part) for i, part in enumerate(line.rstrip().split("…")))
        parts.append(r"(?:.*\n)*?" if line.strip() == "…" else words + r" *\n")
    lines = "".join(line.rstrip() + "\n" for line in printed.split("\n"))
    return re.fullmatch("".join(parts) + r"\n*", lines.lstrip("\n")) is not None
