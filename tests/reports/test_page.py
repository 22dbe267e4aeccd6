"""Pages: self-contained, escaped, the same bytes for the same documents, and not too large."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.model.plan import Plan
from ftplan.reports.page import MOST_CELLS
from tests.cli.in_process import environment, run_here
from tests.fuzz.mutations import mutated
from tests.reports import cases
from tests.reports.cases import EXAMPLES, HOSTILE, TAGS, Parsed

pytest.importorskip("jinja2")

LIMIT = 2_000_000


def checked(html: str) -> Parsed:
    """Parse a page and hold it to what holds for every one."""
    page = Parsed(html)
    assert page.tags <= TAGS
    assert not [item for item in page.attributes if item[1].startswith("on")]
    links = [(name, value) for _, name, value in page.attributes if name in ("href", "src", "action", "xlink:href")]
    assert all(value.startswith("#") or value == "data:," for _, value in links), links
    assert len(page.ids) == len(set(page.ids))
    anchors = {value.removeprefix("#") for name, value in links if value.startswith("#")}
    named = {one for _, name, value in page.attributes if name == "aria-labelledby" for one in value.split()}
    assert anchors | named <= set(page.ids)
    assert page.headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(page.headings))
    assert not re.search(r"\d\.\d{6,}(?!\d*[^<]*</style>)", page.words)
    assert len(html.encode()) <= LIMIT
    return page


@pytest.mark.parametrize("name", list(cases.DOCUMENTS))
def test_every_kind_of_document_has_a_page(name: str) -> None:
    document = cases.document(name)
    page = checked(ftplan.report(document))
    assert "Content-Security-Policy" in {value for _, name, value in page.attributes if name == "http-equiv"}
    assert "None" not in page.words.split()


def test_all_documents_on_one_page() -> None:
    listed = list(cases.documents().values())
    page = checked(ftplan.report(listed))
    assert f"{len(listed)} documents by ftplan" in page.words
    assert "All documents side by side" in page.words


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_from_inputs_is_text(text: str) -> None:
    plan, topology = cases.hostile(text)
    html = ftplan.report([plan, plan], topology=topology, title=text)
    page = checked(html)
    assert page.words.count(" ".join(text.split())) > 20
    assert "<script" not in html
    assert "<img" not in html


@settings(max_examples=30)
@given(st.text(min_size=1, max_size=40))
def test_any_text_stays_text(text: str) -> None:
    plan = Plan("rebalance", {"moves": [{"operator": text, "key_group": 1, text: text}], text: [text]}, reason=text)
    checked(ftplan.report(plan, title=text))


def test_the_same_documents_give_the_same_bytes() -> None:
    code = (
        "import ftplan; from tests.reports import cases; import hashlib; "
        "print(hashlib.sha256(ftplan.report([cases.recovery(), cases.drain(), cases.what_if()]).encode()).hexdigest())"
    )
    digests = {
        subprocess.check_output(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=cases.ROOT, text=True
        )
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_the_first_lines_say_what_matters() -> None:
    words = checked(ftplan.report(cases.recovery())).words
    lead = words[: words.index("How good it is")]
    for text in (
        "Optimal for these inputs; 1 assumption",
        "10 failed tasks come back in 5 steps",
        "All 4 failed queries",
        "5 min",
        "No warnings",
    ):
        assert text in lead, text


def test_gap_and_bound_are_said_in_words() -> None:
    plan = cases.drain()
    words = checked(ftplan.report(plan)).words
    assert "Rounds: 3 (less is better); it is proven that no plan that keeps the same rules gets below 2." in words
    assert "The gap between the two is 33.3 % of the value" in words


def test_why_there_is_no_plan() -> None:
    words = checked(ftplan.report(cases.refused())).words
    assert "No plan is possible" in words
    assert "Smallest change that helps: add to the nodes: {id: extra-1, cpu: 5}." in words


def test_options_inputs_and_rules_are_named() -> None:
    plan = cases.replication()
    words = checked(ftplan.report(plan)).words
    assert "Options asked for" in words
    assert "Derived from inputs and options" in words
    for item in plan.inputs:
        assert item.sha256 in words
    for rule in plan.rules or ():
        assert rule in words


def _written(plan: Plan, folder: Path) -> Path:
    path = folder / "plan.json"
    path.write_text(plan.to_json())
    return path


def _moved(folder: Path, text: str | None = None) -> Plan:
    """A plan whose inputs lie elsewhere, or have another text by now."""
    plan = cases.recovery()
    document = plan.to_dict()
    document["inputs"] = [{**item.to_dict(), "path": f"{folder.name}-{item.role}.yaml"} for item in plan.inputs]
    if text is not None:
        (folder / f"{folder.name}-topology.yaml").write_text(text)
    path = folder / "plan.json"
    path.write_text(json.dumps(document))
    from ftplan.io.plan_file import load_plan

    return load_plan(path).value


def test_without_its_inputs_a_plan_is_shown_alone(tmp_path: Path) -> None:
    _moved(tmp_path)
    words = checked(ftplan.report(tmp_path / "plan.json")).words
    assert "is not at hand" in words
    assert "INPUT_MISSING" in words
    assert "The plan on the topology" not in words


def test_the_command_writes_the_page_into_a_pipe(tmp_path: Path) -> None:
    _moved(tmp_path)
    done = run_here(["report", "plan.json"], cwd=tmp_path, env=environment())
    assert done.returncode == 0
    assert "is not at hand" in checked(done.stdout).words


def test_inputs_beside_the_plan_are_found(tmp_path: Path) -> None:
    text = (EXAMPLES / "figure-2" / "topology.yaml").read_text()
    _moved(tmp_path, text)
    words = checked(ftplan.report(tmp_path / "plan.json")).words
    assert "The plan on the topology" in words
    assert "STALE_INPUT" not in words


def test_changed_and_broken_inputs_are_told(tmp_path: Path) -> None:
    text = (EXAMPLES / "figure-2" / "topology.yaml").read_text()
    _moved(tmp_path, text.replace("name: figure-2", "name: figure-3"))
    assert "STALE_INPUT" in checked(ftplan.report(tmp_path / "plan.json")).words
    _moved(tmp_path, "format: ftplan/topology\n")
    assert "cannot be read any more" in checked(ftplan.report(tmp_path / "plan.json")).words


def test_large_topologies_are_folded_by_operator() -> None:
    plan = cases.recovery_with_events()
    whole, folded = (Parsed(ftplan.report(plan, max_tasks=n)) for n in (400, 10))
    assert "Operators are folded" not in whole.words
    assert "Operators are folded" in folded.words
    cells = [sum(tag == "rect" for tag, name, _ in page.attributes if name == "x") for page in (whole, folded)]
    assert cells[1] <= cells[0] - 83


def _large(operators: int, tasks: int) -> tuple[dict[str, Any], Plan]:
    """A chain of operators of which every task fails and comes back."""
    ids = [f"operator-{k}" for k in range(operators)]
    edges = [{"from": a, "to": b, "partitioning": "one-to-one"} for a, b in pairwise(ids) if tasks > 1]
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "name": "large",
        "operators": [{"id": name, "parallelism": tasks} for name in ids],
        "edges": edges,
    }
    every = [(name, i) for name in ids for i in range(tasks)]
    steps = [
        {
            "step": k,
            "at_s": 60.0 * k,
            "recover": [
                {"operator": name, "index": i, "node": f"node-{i % 100}", "cpu": 0.1, "ready_s": 60.0 * k + i % 7}
                for name, i in every[k::25]
            ],
            "restored": [{"operator": name, "index": i, "priority": 1.0, "at_s": 60.0 * k} for name, i in every[k::25]],
        }
        for k in range(25)
    ]
    queries = [{"operator": name, "index": i, "priority": 1.0, "back_s": 60.0 * (i % 25)} for name, i in every]
    timeline = [{"at_s": 0.3 * k, "queries": k, "priority": float(k)} for k in range(5000)]
    return topology, Plan("recovery-schedule", {"steps": steps, "queries": queries, "timeline": timeline})


@pytest.mark.parametrize(
    ("operators", "tasks", "max_tasks"), [(10, 500, 400), (5000, 1, 400), (200, 25, MOST_CELLS), (10, 200, MOST_CELLS)]
)
def test_a_plan_of_5000_tasks_stays_small(operators: int, tasks: int, max_tasks: int) -> None:
    topology, plan = _large(operators, tasks)
    checked(ftplan.report(plan, topology=topology, max_tasks=max_tasks))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "give at least one"),
        (5, "no plan, evaluation or what-if result"),
        ([5], "no plan, evaluation or what-if result"),
        ("missing.json", "no such file"),
        ({"format": "ftplan/topology"}, "this is a topology file"),
    ],
)
def test_what_is_no_document_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ftplan.FtplanError, match=message):
        ftplan.report(given)


def test_a_wrong_topology_is_refused() -> None:
    with pytest.raises(ftplan.FtplanError, match="format"):
        ftplan.report(cases.recovery(), topology={"format": "x"})
    for wrong in (-1, MOST_CELLS + 1, 1.5, True):
        with pytest.raises(ftplan.FtplanError, match="max_tasks"):
            ftplan.report(cases.recovery(), max_tasks=wrong)  # type: ignore[arg-type]


def test_without_jinja2_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from ftplan.reports.page import templates

    templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ftplan.FtplanError, match=r"a report needs jinja2.*pip install 'ftplan\[report\]'"):
        ftplan.report(cases.refused())


@pytest.mark.parametrize("part", ["summary", "options", "plan", None])
def test_damaged_documents_are_pages_or_refused(part: str | None) -> None:
    """A file may hold anything under a free name."""
    pages = 0
    documents = [d if isinstance(d, dict) else d.to_dict() for d in cases.documents().values()]
    for k in range(40):
        random = Random(k)
        document: Any = json.loads(json.dumps(documents[k % len(documents)]))
        with suppress(IndexError):  # nothing is left to damage
            if part is None:
                document, _ = mutated(document, random)
            elif isinstance(document.get(part), dict):
                document[part], _ = mutated(document[part], random)
        with suppress(ftplan.FtplanError):
            ftplan.report(document)
            pages += 1
    assert pages
