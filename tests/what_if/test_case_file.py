"""What a what-if file says: which cases there are, what a row holds, and what is refused."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.cli.what_if import command
from ftplan.what_if import question
from ftplan.what_if.case_file import load_cases
from tests.places import ROOT
from tests.what_if.cases import CLUSTER, ENVELOPE, FAILURE, TOPOLOGY, changed, save, what_if, within


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return save(tmp_path / "project")


GRID = [
    {"fail": ["each zone", ["node:n1", "node:n3"], []]},
    {"add": {"count": [0, 2], "node": {"cpu": 4}}, "traffic": [1.0, 1.5]},
    {"name": "recovery", "options": {"objective": ["priority", "priority-time"]}},
]


def test_cases_of_a_grid(project: Path) -> None:
    """The base, the listed cases, and the product of the axes, the last of them fastest."""
    sweep = what_if(project, cases=[{"id": "twice", "traffic": 2}], grid=GRID)
    assert len(sweep) == 1 + 1 + 4 * 2 * 2
    assert sweep.swept == ("fail", "added", "traffic", "recovery")
    assert [sweep.case(i).id for i in (0, 1)] == ["base", "twice"]
    points = [tuple(sweep.case(i).values.values()) for i in range(2, len(sweep))]
    fails = ("zone:a", "zone:b", "node:n1, node:n3", "nothing")
    steps = [(0, 1.0), (2, 1.5)]
    expected = itertools.product(fails, steps, ("priority", "priority-time"))
    assert points == [(fail, added, traffic, objective) for fail, (added, traffic), objective in expected]
    last = sweep.case(len(sweep) - 1)
    assert last.id == "fail=nothing added=2 traffic=1.5 recovery=priority-time"
    assert last.deltas == {
        "add": [{"node": {"cpu": 4}, "count": 2}],
        "traffic": [1.5],
        "fail": [],
        "options": {"objective": "priority-time"},
    }
    with pytest.raises(IndexError):
        sweep.case(len(sweep))


def test_each_of_a_kind(project: Path) -> None:
    grids = {
        "each node": ["node:n1", "node:n2", "node:n3", "node:n4", "node:n10"],
        "each operator": [f"operator:{item['id']}" for item in TOPOLOGY["operators"]],
        "each task": [f"task:{o['id']}/{i}" for o in TOPOLOGY["operators"] for i in range(o["parallelism"])],
    }
    for each, expected in grids.items():
        sweep = what_if(project, grid=[{"fail": each}])
        assert [sweep.case(i).values["fail"] for i in range(1, len(sweep))] == expected


def test_rows(project: Path) -> None:
    """A row has every column; rows are the same in any order, from any copy, and in any process."""
    measures = ["objective", "last-back-s", "summary.after.priority_time", "plan.steps", "gap"]
    sweep = what_if(
        project, run={"fail": "zone:b"}, measures=measures, cases=[{"id": "bad", "remove": "node:x"}], grid=GRID
    )
    columns = [column.name for column in sweep.columns]
    assert columns == [
        *("case", "fail", "added", "traffic", "recovery", "status", "algorithm", "sense", *measures),
        *(f"delta_{name}" for name in measures),
        "reason",
    ]
    rows = [sweep.row(i) for i in range(len(sweep))]
    assert all(list(row) == columns for row in rows)
    copy = pickle.loads(pickle.dumps(sweep))
    assert [copy.row(i) for i in reversed(range(len(sweep)))] == rows[::-1]
    plan = sweep.answer(2)
    assert isinstance(plan, ftplan.Plan)
    assert plan.objective is not None
    assert rows[2]["objective"] == plan.objective.value
    assert rows[2]["sense"] == "max"
    assert rows[2]["plan.steps"] == len((plan.plan or {})["steps"])
    assert rows[2]["summary.after.priority_time"] == pytest.approx(plan.summary["after"]["priority_time"], abs=1e-9)
    assert rows[2]["last-back-s"] == pytest.approx(ftplan.evaluate(plan, _problem(project))["last-back-s"], abs=1e-9)
    assert rows[1] == dict.fromkeys(columns) | {
        "case": "bad",
        "status": "error",
        "reason": "remove: node:x: unknown node 'x'",
    }
    changes = sweep.differences(rows[3], rows[0])
    assert changes["delta_objective"] == rows[3]["objective"] - rows[0]["objective"]
    assert sweep.differences(rows[1], rows[0])["delta_objective"] is None


def _problem(project: Path) -> ftplan.Problem:
    return ftplan.load(topology=str(project / "topology.yaml"), cluster=str(project / "cluster.yaml"))


def test_a_fault_is_a_row_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of many cases does not end the others; an interrupt does."""
    sweep = what_if(project, run={"fail": "zone:b"})
    for fault in (ZeroDivisionError("by 0"), KeyboardInterrupt()):
        monkeypatch.setattr(question, "plan", _raising(fault))
        if isinstance(fault, Exception):
            assert sweep.row(0)["reason"] == "a fault of ftplan, not yours: ZeroDivisionError: by 0"
        else:
            with pytest.raises(KeyboardInterrupt):
                sweep.row(0)


def _raising(fault: BaseException) -> Any:
    def plan(*args: Any, **kwargs: Any) -> None:
        raise fault

    return plan


def test_fingerprints(project: Path) -> None:
    """Equal files have equal fingerprints; each file, what is measured and the document count."""
    (project / "log.csv").write_text("time,node\n1,a\n")
    (project / "other.yaml").write_text(json.dumps(changed(CLUSTER, lambda d: d["nodes"][0].update(cpu=5))))
    parts: dict[str, Any] = {
        "cases": [{"id": "other", "inputs": {"cluster": "other.yaml"}}],
        "grid": [{"failures": {"from": "log.csv", "draws": 2}}],
    }
    seen = [what_if(project, **parts).fingerprint]
    assert what_if(project, **parts).fingerprint == seen[0]
    with within(project):
        seen.append(load_cases("what-if.yaml", measures=["gap"]).fingerprint)
        seen.append(load_cases("what-if.yaml", cluster="other.yaml").fingerprint)
    for name in ("log.csv", "other.yaml", "topology.yaml"):
        with (project / name).open("a") as file:
            file.write("\n" if name != "log.csv" else "2,b\n")
        seen.append(what_if(project, **parts).fingerprint)
    assert len(set(seen)) == len(seen)


def test_python_documents() -> None:
    """Everything may be given in Python; paths are then as the working folder has them."""
    document = {
        **ENVELOPE,
        "inputs": {"topology": dict(TOPOLOGY), "cluster": dict(CLUSTER)},
        "run": {"command": "recovery-schedule", "fail": "node:n2", "algorithm": "best-density"},
    }
    sweep = load_cases(document, failure=FAILURE)
    assert sweep.row(0)["status"] == "optimal"
    assert len(sweep) == 1


def test_misspelt_keys_are_warned_of(project: Path) -> None:
    sweep = what_if(project, cases=[{"id": "a", "traffic": 2, "algoritm": "exact"}])
    assert [warning.message for warning in sweep.warnings] == [
        "what-if.yaml: cases[0].algoritm: unknown key is ignored (did you mean 'algorithm'?)"
    ]


#: Parts of a what-if file, and what is said before any case is answered.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"run": {"command": "recover-schedule"}}, "run.command: unknown command 'recover-schedule' (did you mean 'recov"),
    ({"run": {"algorithm": "best-densty"}}, "run.algorithm: unknown 'best-densty' (did you mean 'best-density'?): one"),
    ({"run": {"options": {"maxcpu": 1}}}, "run.options: recovery-schedule: unknown option 'maxcpu' (did you mean 'max"),
    ({"run": {"options": {"max-cpu": 3}}}, "run.options: --max-cpu: 3 is not a number above 0 and at most 1"),
    ({"run": {"options": {"fail": "node:n1"}}}, "run.options: recovery-schedule: unknown option 'fail'"),
    ({"run": {"options": {"max-cpu": 1, "max_cpu": 1}}}, "run.options: 'max_cpu' is given twice"),
    ({"run": {"plan": "plan.json"}}, "run.plan: recovery-schedule makes a plan: leave it out, or write 'command: eval"),
    ({"run": {"command": "evaluate", "algorithm": None}}, "run.plan: is missing: which plan shall be evaluated?"),
    ({"measures": ["objektive"]}, "measures[0]: unknown measure 'objektive' (did you mean 'objective'?): one of obj"),
    ({"measures": ["gap", "gap"]}, "measures[1]: 'gap' is named twice"),
    ({"inputs": {"topology": "topolgy.yaml"}}, "topolgy.yaml: no such file (did you mean 'topology.yaml'?)"),
    ({"inputs": {"cluster": "topology.yaml"}}, "topology.yaml: format: this is a topology file"),
    ({"cases": [{"id": "a"}]}, "cases[0]: changes nothing; it may have inputs, plan, remove, add, set, scale"),
    ({"cases": [{"id": "base", "seed": 1}]}, "cases[0].id: 'base' is the case in which nothing differs"),
    ({"cases": [{"id": "a", "seed": 1}, {"id": "a", "seed": 2}]}, "cases[1].id: duplicate id 'a' (also cases[0])"),
    ({"cases": [{"id": "a", "plan": "x.json"}]}, "cases[0]: plan: recovery-schedule makes a plan"),
    ({"cases": [{"id": "a", "algorithm": "x"}]}, "cases[0]: algorithm: unknown 'x'"),
    ({"cases": [{"id": "a", "set": {"nod:n1": {"cpu": 1}}}]}, "cases[0]: set: nod:n1: 'nod:n1' names nothing"),
    (
        {"cases": [{"id": "a", "set": {"node:n1": {"cpus": 1}}}]},
        "cases[0]: set: node:n1: unknown field 'cpus' (",
    ),
    (
        {"cases": [{"id": "a", "set": {"task:a": {"cpu": 1}}}]},
        "cases[0]: set: task:a: selector 'task:a': exp",
    ),
    ({"cases": [{"id": "a", "set": {"task:a/1": {"id": 1}}}]}, "cases[0]: set: task:a/1: a task has no field 'id'"),
    ({"cases": [{"id": "a", "inputs": {"stats": "x"}}]}, "cases[0]: x: no such folder"),
    ({"cases": [{"id": "a", "traffic": 0}]}, "cases[0].traffic: must be from 1e-06 to 1e+06, got 0"),
    ({"grid": [{"name": "x"}]}, "grid[0]: varies nothing; it may have cases, inputs, plan, remove, add"),
    ({"grid": [{"options": {}}]}, "grid[0]: varies nothing"),
    ({"grid": [{"seed": []}]}, "grid[0]: seed: lists nothing"),
    ({"grid": [{"seed": [1, 2, 1]}]}, "grid[0]: lists seed=1 twice"),
    ({"grid": [{"seed": [1]}, {"seed": [2]}]}, "grid[1]: there is a column 'seed' already: give the axis another name"),
    ({"grid": [{"seed": [1], "name": "status"}]}, "grid[0]: there is a column 'status' already"),
    (
        {"grid": [{"seed": [1, 2], "traffic": [1]}]},
        "grid[0]: what varies in step needs equally many values, but tra",
    ),
    (
        {"grid": [{"cases": [{"id": "a", "seed": 1}]}]},
        "grid[0]: name: is missing: what is the column of the cas",
    ),
    ({"grid": [{"fail": ["each zone", ["each node"]]}]}, "grid[0]: 'each node' stands for itself, not with others"),
    ({"grid": [{"seed": {"count": 9999}}, {"traffic": [i + 1 for i in range(1001)]}]}, "grid: has 10,008,999 combin"),
    ({"grid": [{"failures": {"from": "x.csv", "draws": 1}}]}, "grid[0]: x.csv: no such failure log"),
    (
        {"grid": [{"failures": {"from": "topology.yaml", "draws": 1}}]},
        "grid[0]: topology.yaml: there is no column",
    ),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_refused_before_any_work(parts: dict[str, Any], message: str, project: Path) -> None:
    with pytest.raises(ftplan.FtplanError) as raised:
        what_if(project, **parts)
    said = str(raised.value)
    assert said.removeprefix("what-if.yaml: ").startswith(message)
    assert "\n" not in said


def test_the_example_of_the_help_is_a_whole_file(project: Path) -> None:
    text = str(command.help)
    (project / "what-if.yaml").write_text(text[text.index("# spare-nodes") : text.rindex("\b")])
    with within(project):
        sweep = load_cases("what-if.yaml", cluster=json.loads(json.dumps(CLUSTER).replace('"a"', '"rack-a"')))
    assert [sweep.case(i).id for i in range(4)] == [
        "base", "twice-the-load", "smaller-nodes", "fail=zone:b spares=0",
    ]  # fmt: skip
    assert len(sweep) == 1 + 2 + 2 * 3


def messages(project: Path, **parts: Any) -> list[str]:
    with pytest.raises(ftplan.FtplanError) as raised:
        what_if(project, **parts)
    said = raised.value.messages
    more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    assert str(raised.value) == said[0] + more
    return [text.removeprefix("what-if.yaml: ") for text in said]


def test_all_mistakes_are_told_at_once(project: Path) -> None:
    """Those of the shape first, since nothing else can be seen then; what the inputs hide is not made up."""
    shape = messages(project, measures=[], cases=[{"id": "a", "traffic": 0}, {"id": "b", "seed": "x"}])
    assert [text.partition(":")[0] for text in shape] == ["measures", "cases[0].traffic", "cases[1].seed"]
    parts: dict[str, Any] = {
        "run": {"algorithm": "best-densty", "plan": "plan.json", "options": {"maxcpu": 1}},
        "measures": ["objektive", "gap", "gap"],
        "cases": [{"id": "a"}, {"id": "a", "algorithm": "x"}],
        "grid": [{"fail": "each zone"}, {"seed": []}],
    }
    assert [text.partition(":")[0] for text in messages(project, **parts)] == [
        "cases[1].id", "cases[0]", "run.plan", "run.algorithm", "run.options", "measures[0]", "measures[2]", "cases[1]",
        "grid[1]",
    ]  # fmt: skip
    told = messages(
        project, inputs={"topology": "topolgy.yaml", "cluster": "clustr.yaml"}, grid=[{"fail": "each zone"}]
    )
    assert [text.partition(":")[0] for text in told] == ["topolgy.yaml", "clustr.yaml"]


#: What only a case can tell is its row's reason.
FAILED: list[tuple[dict[str, Any], str]] = [
    ({"set": {"node:n9": {"cpu": 1}}}, "set: node:n9: unknown node 'n9'"),
    ({"set": {"node:n2": {"cpu": -1}}}, "cluster.yaml: nodes[2].cpu: must be at least 0, got -1"),
    ({"set": {"node:m*": {"cpu": 1}}}, "set: node:m*: no node is called so"),
    (
        {"set": {"operator:join": {"parallelism": 3}}},
        "topology.yaml: operators[2].cpu: wrong length: got 4, ex",
    ),
    ({"set": {"task:sink/4": {"cpu": 3}}}, "set: task:sink/4: 'sink' has 4 tasks, counted from 0"),
    ({"set": {"task:sink/0": {"rate_out": 3}}}, "set: task:sink/0: 'sink' has no rate_out: set it for the operator"),
    ({"set": {"scenario:a": {"probability": 1}}}, "there is no failure to change"),
    ({"scale": {"operator:join": {"rate_out": 2}}}, "scale: operator:join: rate_out: there is nothing to multiply"),
    ({"scale": {"node:n1": {"cpu": "2"}}}, "scale: node:n1: cpu: there is nothing to multiply"),
    ({"remove": "operator:join"}, "remove: without join, operator 'audit' would become a source: take it out too"),
    (
        {"remove": ["operator:sink", "operator:audit"]},
        "remove: without audit, sink, operator 'join' would become an",
    ),
    ({"remove": "task:sink/1"}, "remove: task:sink/1: only nodes, zones and operators can be taken out"),
    ({"remove": ["node:n1", "node:n2", "node:n3", "node:n10"]}, "no node is left that accepts tasks"),
    ({"add": {"node": {"cores": 1}}}, "add: node: unknown field 'cores'"),
    ({"add": {"node": {"id": "x"}}}, "add: node: leave out id, the nodes get theirs from add.id"),
    ({"fail": "node:n9"}, "--fail: node:n9: unknown node 'n9'"),
    ({"fail": []}, "nothing fails: give --fail SELECTOR"),
]


@pytest.mark.parametrize(("delta", "reason"), FAILED)
def test_failed_cases(delta: dict[str, Any], reason: str, project: Path) -> None:
    row = what_if(project, run={"fail": "node:n2"}, cases=[{"id": "bad", **delta}]).row(1)
    assert row["status"] == "error"
    assert row["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("summary.after.fidelty", "measures: unknown 'summary.after.fidelty'; summary.after has"),
        (
            "summary.before.priority_tim",
            "measures: unknown 'summary.before.priority_tim' (did you mean 'priority_time'",
        ),
        ("plan.steps.9", "measures: unknown 'plan.steps.9'; plan.steps holds no such thing"),
        ("options.objective", "measures: options.objective is no number but 'priority-time'"),
    ],
)
def test_measures_that_a_plan_lacks(measure: str, reason: str, project: Path) -> None:
    row = what_if(project, run={"fail": "node:n2"}, measures=[measure]).row(0)
    assert row["reason"].startswith(reason)


def test_measures_without_an_answer(project: Path) -> None:
    """An infeasible plan has measures of none, not an error."""
    measures = ["last-back-s", "plan.steps", "summary.after.priority_time"]
    sweep = what_if(project, run={"fail": "zone:b", "options": {"arrivals": False, "max-cpu": 0.1}}, measures=measures)
    row = sweep.row(0)
    assert row["status"] == "infeasible"
    assert [row[name] for name in measures] == [None] * 3
    assert row["reason"]


def test_metrics_under_what_fails(project: Path) -> None:
    """A kind that answers no failure is planned without, and what fails counts in its metrics."""
    small = ROOT / "tests" / "data" / "small"
    inputs = {role: str(small / f"{role}.yaml") for role in ("topology", "cluster")} | {"stats": str(small / "stats")}
    run = {"command": "allocate-checkpoints", "algorithm": "even"}
    measures = ["recoverable-share", {"name": "plan.assignments", "sense": "min", "unit": "groups"}]
    sweep = what_if(project, inputs=inputs, run=run, measures=measures, grid=[{"fail": "each zone"}])
    plan = sweep.answer(1)
    assert isinstance(plan, ftplan.Plan)
    problem = ftplan.load(**inputs)
    for number, zone in enumerate("abc", 1):
        row = sweep.row(number)
        assert row["recoverable-share"] == ftplan.evaluate(plan, problem, fail=[f"zone:{zone}"])["recoverable-share"]
        assert row["plan.assignments"] == 12
    assert {column.name: column.unit for column in sweep.columns}["plan.assignments"] == "groups"
    unscored = what_if(project, inputs=inputs, run=run, grid=[{"fail": "each zone"}]).row(1)
    assert unscored["reason"].startswith("allocate-checkpoints plans for no failure in particular")
