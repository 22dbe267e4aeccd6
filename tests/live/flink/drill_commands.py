"""The commands of the drill, which it reads in the README beside it."""

from __future__ import annotations

import importlib.util
import shlex
import sys

from tests.places import ROOT

FOLDER = ROOT / "examples" / "flink"


def commands() -> list[list[str]]:
    """Return what the drill runs, word by word."""
    spec = importlib.util.spec_from_file_location("drill", FOLDER / "drill.py")
    assert spec is not None
    assert spec.loader is not None
    drill = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))  # where its own modules are
    try:
        spec.loader.exec_module(drill)
    finally:
        sys.path.remove(str(FOLDER))
    return [shlex.split(command) for command in drill.commands()]


def plans() -> list[str]:
    """Return the files of the plans that these commands write."""
    outputs = [words[words.index("-o") + 1] for words in commands() if "-o" in words]
    return [name for name in outputs if name.endswith(".json")]
