"""The example in CONTRIBUTING runs and says what it says that it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"


def test_the_example_of_a_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    section = CONTRIBUTING.read_text("utf-8").split("## Add a simulation")[1]
    source = section.split("```python\n")[1].split("```")[0]
    (said,) = re.findall(r"print\(.*  # (.*)", source)
    exec(compile(source, "CONTRIBUTING.md", "exec"), {})
    assert capsys.readouterr().out == said + "\n"
