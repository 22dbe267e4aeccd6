"""What docs/ci.md shows for other programs: inputs and hooks that there are, at the version that is here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import ftplan
from tests.ci.github import ACTION
from tests.ci.gitlab import INPUTS
from tests.ci.schemas import held_to
from tests.docs.blocks import blocks
from tests.places import ROOT

TAG = f"v{ftplan.__version__}"


def written(title: str) -> str:
    """Return the file of a title."""
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    (block,) = (block for block in blocks(page) if block.title == title)
    return block.text


def shown(title: str) -> Any:
    """Return what the file of a title holds."""
    return yaml.safe_load(written(title))


def test_inputs_of_the_action() -> None:
    steps = shown(".github/workflows/recovery-plan.yml")["jobs"]["plan"]["steps"]
    (step,) = (step for step in steps if "ftplan" in step.get("uses", ""))
    assert step["uses"] == f"ftplan/ftplan@{TAG}"
    assert set(step["with"]) <= set(ACTION["inputs"])


def test_inputs_of_the_component() -> None:
    (include,) = shown(".gitlab-ci.yml")["include"]
    assert include["remote"].endswith(f"/{TAG}/templates/ftplan.yml")
    assert include["inputs"]["version"] == ftplan.__version__
    assert set(include["inputs"]) <= set(INPUTS)


def test_hooks() -> None:
    (repository,) = shown(".pre-commit-config.yaml")["repos"]
    assert repository["rev"] == TAG
    there = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in there]


@pytest.mark.parametrize(
    ("title", "schema"),
    [(".github/workflows/recovery-plan.yml", "vendor.github-workflows"), (".gitlab-ci.yml", "vendor.gitlab-ci")],
)
def test_files_are_what_their_readers_expect(tmp_path: Path, title: str, schema: str) -> None:
    (tmp_path / "shown.yml").write_text(written(title), "utf-8")
    assert held_to(schema, tmp_path / "shown.yml") == ""
