"""The inputs of a plan: what is given wins over what the plan names, and that over defaults."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import ftplan
from ftplan.api import explain, load_inputs, verify
from tests.places import ROOT

EXAMPLE = ROOT / "examples" / "figure-2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with the files of an example."""
    for name in ("topology", "cluster", "failure"):
        shutil.copy(EXAMPLE / f"{name}.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(problem: ftplan.Problem) -> dict[str, str | None]:
    return {item.role: item.path for item in problem.inputs}


def test_a_plan_names_its_inputs(folder: Path) -> None:
    plan = ftplan.plan(
        "recovery-schedule", ftplan.load(topology="topology.yaml", cluster="cluster.yaml", failure="failure.yaml")
    )
    (folder / "plan.json").write_text(plan.to_json())
    assert names(load_inputs("plan.json")) == {n: f"{n}.yaml" for n in ("topology", "cluster", "failure")}
    assert verify("plan.json").valid
    assert ftplan.evaluate("plan.json") == ftplan.evaluate(plan, load_inputs(plan))
    node = next(item["node"] for step in (plan.plan or {})["steps"] for item in step["recover"])
    assert explain(plan, None, f"node:{node}").rows


def test_what_is_given_wins_over_what_the_plan_names_and_that_over_defaults(folder: Path) -> None:
    plan = ftplan.plan("replicate-tasks", ftplan.load(topology="topology.yaml"), budget=1)
    for name in ("given", "default"):
        shutil.copy("topology.yaml", f"{name}.yaml")
    assert names(load_inputs(plan, defaults={"topology": "default.yaml"})) == {"topology": "topology.yaml"}
    assert names(load_inputs(plan, topology="given.yaml")) == {"topology": "given.yaml"}
    # It was made without a failure and a cluster: a default is not what it answers, what is given is.
    assert names(load_inputs(plan, defaults={"failure": "failure.yaml"})) == {"topology": "topology.yaml"}
    assert set(names(load_inputs(plan, failure="failure.yaml", cluster="cluster.yaml"))) == {
        "topology", "cluster", "failure",
    }  # fmt: skip


def test_what_is_named_nowhere_or_gone_is_said(folder: Path) -> None:
    plan = ftplan.plan("replicate-tasks", ftplan.load(topology="topology.yaml"), budget=1)
    (folder / "topology.yaml").unlink()
    with pytest.raises(ftplan.FtplanError, match=r"plan: its input topology.yaml .* give --topology"):
        verify(plan)
    bare = {
        "format": "ftplan/plan",
        "format_version": "1.0",
        "kind": "allocate-checkpoints",
        "plan": {"assignments": []},
    }
    with pytest.raises(ftplan.FtplanError, match="plan: names no topology file, and --topology is missing"):
        verify({**bare, "plan": {"assignments": []}})


def test_a_name_that_is_too_long_is_not_there(folder: Path) -> None:
    plan = ftplan.plan("replicate-tasks", ftplan.load(topology="topology.yaml"), budget=1)
    long = replace(plan, inputs=tuple(replace(item, path="n" * 3000) for item in plan.inputs))
    with pytest.raises(ftplan.FtplanError, match=r"its input n+… \(topology\) is not there any more"):
        verify(long)
