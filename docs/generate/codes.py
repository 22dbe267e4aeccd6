"""Codes of violations and warnings: what codes.yaml says of each, and which the code states."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

SOURCE = Path(__file__).resolve().parents[2] / "ftplan"
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
#: A code that stands within a message instead of beside it.
_WITHIN = re.compile(r" \[([A-Z][A-Z0-9_]+)\]$")
#: What carries a code of one word too.
_CARRIERS = ("Warn", "Violation", "assume", "note")
#: What looks like a code and is none: names of variables of the environment, parts of regular expressions.
_NONE = re.compile(
    r"(?:FTPLAN|JAVA|PYSPARK|RUST|SC|SPARK)_.*|.*_NUM_THREADS"
    r"|ASSERT_NOT|AT_(?:BEGINNING|(?:NON_)?BOUNDARY)|ATOMIC_GROUP|GROUPREF_EXISTS|NOT_(?:DIGIT|LITERAL|WORD)|POSSESSIVE_REPEAT"
)


@cache
def listed() -> dict[str, dict[str, str]]:
    """Return code and meaning, by group."""
    found: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("codes.yaml").read_text("utf-8"))
    return found


def stated() -> set[str]:
    """Return the codes that the code states."""
    return {code for path in SOURCE.rglob("*.py") for code in _of(path.read_text("utf-8"))}


def _of(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _CODE.fullmatch(node.value) and not _NONE.fullmatch(node.value):
                yield node.value
            yield from _WITHIN.findall(node.value)
        elif isinstance(node, ast.Call) and node.args and _name(node.func) in _CARRIERS:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.isupper():
                yield first.value


def _name(function: ast.expr) -> str:
    return getattr(function, "id", "") or getattr(function, "attr", "")


def codes(group: str) -> str:
    """Return the codes of a group as a list: each with what it means and what to do."""
    if group not in listed():
        raise LookupError(f"no group {group!r} in codes.yaml: one of {', '.join(listed())}")
    return "\n".join(f"- `{code}`: {meaning}" for code, meaning in sorted(listed()[group].items()))
