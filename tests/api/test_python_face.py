"""The Python face: load, plan, evaluate, on paths, dicts, pandas and Arrow tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import ftplan
from ftplan.api import diff, explain, verify
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"


@pytest.fixture(scope="module")
def problem() -> ftplan.Problem:
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml", stats=SMALL / "stats")


def test_paths_dicts_pandas_and_arrow_give_the_same_plan(problem: ftplan.Problem) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(SMALL / "stats" / "key_groups.parquet")
    manifest = json.loads((SMALL / "stats" / "manifest.json").read_text())
    topology, cluster = (yaml.safe_load((SMALL / f"{n}.yaml").read_text()) for n in ("topology", "cluster"))
    expected = ftplan.plan("allocate-checkpoints", problem).plan
    for key_groups in (table, table.to_pandas(), table.to_pylist()):
        given = ftplan.load(topology=topology, cluster=cluster, stats={"manifest": manifest, "key_groups": key_groups})
        assert ftplan.plan("allocate-checkpoints", given).plan == expected


def test_a_written_plan_reads_back_as_the_same_bytes(problem: ftplan.Problem, tmp_path: Path) -> None:
    from ftplan.io.plan_file import load_plan

    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact")
    (tmp_path / "plan.json").write_text(plan.to_json())
    assert load_plan(tmp_path / "plan.json").value.to_json() == plan.to_json()


def test_moves_are_the_difference_to_the_checkpoints_in_place(problem: ftplan.Problem) -> None:
    """Only alerts has checkpoints now; those that stay are not moved, new ones have no origin."""
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact")
    assert plan.plan is not None
    now = {("alerts", g): [n] for g, n in enumerate(["n2", "n2", "n1", "n1"])}
    after = {(a["operator"], a["key_group"]): a["checkpoints"] for a in plan.plan["assignments"]}
    for move in plan.plan["moves"]:
        name = (move["operator"], move["key_group"])
        assert move["to"] in after[name]
        assert move["to"] not in now.get(name, [])
        assert move["from"] in now.get(name, [None])
        assert move["bytes"] == (262144.0 if name[0] == "alerts" else 524288.0)
    staying = sum(after[name] == nodes for name, nodes in now.items())
    assert len(plan.plan["moves"]) == 12 - staying


def test_verify_names_each_kind_of_damage(problem: ftplan.Problem) -> None:
    import dataclasses

    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact")

    def damaged(**changes: object) -> set[str]:
        assert plan.plan is not None
        assignments = [dict(a) for a in plan.plan["assignments"]]
        assignments[0].update(changes)
        hurt = dataclasses.replace(plan, plan={**plan.plan, "assignments": assignments})
        return {v.code for v in verify(hurt, problem).violations}

    assert "COPY_WITH_PRIMARY" in damaged(checkpoints=["n1"])
    assert "UNKNOWN_NODE" in damaged(checkpoints=["n99"])
    assert "UNKNOWN_KEY_GROUP" in damaged(operator="alarms")
    assert {"ASSIGNED_TWICE", "MISSING_KEY_GROUP"} <= damaged(key_group=1)
    assert plan.objective is not None
    lied = dataclasses.replace(plan, objective=dataclasses.replace(plan.objective, value=-1e6))
    assert {v.code for v in verify(lied, problem).violations} == {"OBJECTIVE_DIFFERS"}
    stale = dataclasses.replace(plan, inputs=tuple(dataclasses.replace(i, sha256="0" * 64) for i in plan.inputs))
    assert {v.code for v in verify(stale, problem).violations} == {"STALE_INPUT"}
    assert verify(stale, problem, ignore_stale=True).valid


def test_a_plan_made_by_hand_is_evaluated_and_verified(problem: ftplan.Problem) -> None:
    """It has only format, version, kind and plan, and leaves the primaries out."""
    from ftplan.io.plan_file import load_plan

    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="even", objective="correlation")
    assert plan.plan is not None
    bare = [{k: a[k] for k in ("operator", "key_group", "checkpoints")} for a in plan.plan["assignments"]]
    document = {
        "format": "ftplan/plan",
        "format_version": "1.0",
        "kind": "allocate-checkpoints",
        "plan": {"assignments": bare},
    }
    made = load_plan(document).value
    assert verify(made, problem).valid
    assert plan.objective is not None
    assert ftplan.evaluate(made, problem)["correlation"] == pytest.approx(plan.objective.value)


def test_evaluate_counts_what_a_failure_leaves(problem: ftplan.Problem) -> None:
    """Groups of sessions on n3 and n4 fail with zone b; a copy counts if its node is elsewhere."""
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="baseline", seed=3)
    assert plan.plan is not None
    failed = [a for a in plan.plan["assignments"] if a["primary"] in ("n3", "n4")]
    kept = [a for a in failed if not {*a["checkpoints"]} <= {"n3", "n4"}]
    found = ftplan.evaluate(plan, problem, fail=["zone:b"])
    assert found["lost-groups"] == len(failed) - len(kept)
    assert found["recoverable-share"] == pytest.approx(len(kept) / len(failed))
    assert found["lost-groups"] == ftplan.evaluate(plan, problem, fail=["node:n3", "node:n4"])["lost-groups"]
    assert ftplan.evaluate(plan, problem, fail=["key-group:sessions/0"])["recoverable-share"] == 1.0
    task = ftplan.evaluate(plan, problem, fail=["task:sessions/0", "operator:alerts"], fail_under=["lost-groups=0"])
    assert task.unmet == ()
    assert ftplan.evaluate(plan, problem, fail_under=["imbalance=0.0001"]).unmet
    for wrong in ("zone:z", "node:n99", "task:sessions/9", "query:alerts/0", "key-group:clicks/0", "x"):
        with pytest.raises(ftplan.FtplanError):
            ftplan.evaluate(plan, problem, fail=[wrong])


def test_explain_lists_every_node_with_its_rule(problem: ftplan.Problem) -> None:
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", balance="none")
    found = explain(plan, problem, "key-group:sessions/0")
    assert [row["node"] for row in sorted(found.rows, key=lambda r: r["node"])] == [f"n{i}" for i in range(1, 7)]
    chosen = next(row for row in found.rows if row["chosen"])
    own = next(row for row in found.rows if row["node"] == "n3")
    assert own["ruled out by"].startswith("COPY_WITH_PRIMARY")
    best = chosen["usable windows"]
    assert all(row["usable windows"] <= best for row in found.rows if row["ruled out by"] is None)
    assert explain(plan, problem, f"node:{chosen['node']}").rows
    with pytest.raises(ftplan.FtplanError):
        explain(plan, problem, "key-group:sessions/99")


def test_diff_of_two_plans(problem: ftplan.Problem) -> None:
    first, second = (ftplan.plan("allocate-checkpoints", problem, algorithm=a) for a in ("exact", "even"))
    assert not diff(first, first).changed
    found = diff(first, second)
    assert found.changed
    assert {c["what"] for c in found.changes} == {"checkpoints"}
    assert found.objective["from"] >= found.objective["to"]


def test_wrong_names_get_suggestions(problem: ftplan.Problem) -> None:
    for call in (
        lambda: ftplan.plan("alocate-checkpoints", problem),
        lambda: ftplan.plan("allocate-checkpoints", problem, algorithm="exakt"),
        lambda: ftplan.plan("allocate-checkpoints", problem, balence=1),
    ):
        with pytest.raises(ftplan.FtplanError, match="did you mean"):
            call()


def test_missing_placement_names_the_remedies() -> None:
    cluster = yaml.safe_load((SMALL / "cluster.yaml").read_text())
    del cluster["placement"]
    bare = ftplan.load(topology=SMALL / "topology.yaml", cluster=cluster, stats=SMALL / "stats")
    with pytest.raises(ftplan.FtplanError, match=r"placement\.tasks.*--spread"):
        ftplan.plan("allocate-checkpoints", bare)
    spread = ftplan.load(topology=SMALL / "topology.yaml", cluster=cluster, stats=SMALL / "stats", spread=True)
    plan = ftplan.plan("allocate-checkpoints", spread)
    assert "SPREAD" in {w.code for w in plan.warnings}
    assert verify(plan, spread).valid


@pytest.mark.parametrize("algorithm", ["correlated", "exact"])
@pytest.mark.parametrize(("copies", "anti_affinity"), [(1, "node"), (2, "zone")])
def test_a_failover_limit_is_recorded_and_verified(
    problem: ftplan.Problem, algorithm: str, copies: int, anti_affinity: str
) -> None:
    asked = {"algorithm": algorithm, "copies": copies, "anti_affinity": anti_affinity, "balance": "none"}
    least = ftplan.plan("allocate-checkpoints", problem, minimise="failover", **asked)
    limit = least.options["failover_limit"]
    assert "failover" in (least.rules or ())
    assert verify(least, problem).violations == ()
    assert least.summary["after"]["failover_load_ratio"] == pytest.approx(limit, abs=2e-6)
    assert ftplan.evaluate(least, problem)["failover-load-ratio"] == least.summary["after"]["failover_load_ratio"]
    refused = ftplan.plan("allocate-checkpoints", problem, failover_limit=limit - 0.01, **asked)
    assert refused.status == "infeasible"
    assert refused.infeasible is not None
    assert refused.infeasible.smallest_fix == f"--failover-limit {limit:.6f}".rstrip("0").rstrip(".")
    stricter = replace(least, options={**least.options, "failover_limit": limit - 0.01})
    assert [v.code for v in verify(stricter, problem).violations] == ["OVER_FAILOVER"]


def test_only_some_planners_keep_a_failover_limit(problem: ftplan.Problem) -> None:
    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="even", failover_limit=1.2)
    assert "FAILOVER_NOT_ENFORCED" in [w.code for w in plan.warnings]
    assert plan.options["failover_limit"] is None
    with pytest.raises(ftplan.FtplanError, match="leave out --failover-limit"):
        ftplan.plan("allocate-checkpoints", problem, failover_limit=1.2, minimise="failover")
    with pytest.raises(ftplan.FtplanError, match="--failover-limit: 'x' is not a number"):
        ftplan.plan("allocate-checkpoints", problem, failover_limit="x")


def test_full_checkpoints_need_no_allocation() -> None:
    topology = yaml.safe_load((SMALL / "topology.yaml").read_text())
    cluster = SMALL / "cluster.yaml"
    said = []
    for count in range(3):
        for operator in topology["operators"][1 : 1 + count]:
            operator["checkpoint"] = {"kind": "full"}
        plan = ftplan.plan(
            "allocate-checkpoints", ftplan.load(topology=topology, cluster=cluster, stats=SMALL / "stats")
        )
        said.append([w.message for w in plan.warnings if w.code == "FULL_CHECKPOINTS"])
    assert said[0] == []
    assert "sessions" in said[1][0]
    assert "incremental ones of alerts" in said[1][0]
    assert "all planned operators (alerts, sessions)" in said[2][0]


def test_diff_tells_the_bytes_that_move(problem: ftplan.Problem) -> None:
    first, second = (ftplan.plan("allocate-checkpoints", problem, algorithm=a) for a in ("exact", "even"))
    found = diff(first, second, problem)
    now = {(a["operator"], a["key_group"]): a["checkpoints"] for a in (first.plan or {})["assignments"]}
    then = {(a["operator"], a["key_group"]): a["checkpoints"] for a in (second.plan or {})["assignments"]}
    changed = [name for name in now if now[name] != then[name]]
    assert found.copies_moved == len(changed)
    assert found.bytes_moved == sum(262144.0 if name[0] == "alerts" else 524288.0 for name in changed)
    assert json.loads(found.to_json())["bytes_moved"] == found.bytes_moved
    unknown = diff(first, second)
    assert unknown.copies_moved == found.copies_moved
    assert unknown.bytes_moved is None
    assert diff(first, first).bytes_moved == 0.0


def test_diff_of_two_copies_moves_only_what_differs(problem: ftplan.Problem) -> None:
    def made(*groups: list[str]) -> ftplan.Plan:
        from ftplan.io.plan_file import load_plan

        assignments = [{"operator": "alerts", "key_group": g, "checkpoints": nodes} for g, nodes in enumerate(groups)]
        document = {"format": "ftplan/plan", "format_version": "1.0", "kind": "allocate-checkpoints"}
        return load_plan({**document, "plan": {"assignments": assignments}}).value

    found = diff(made(["n3", "n4"], ["n5"], ["n3"]), made(["n4", "n5"], ["n5", "n6"]), problem)
    assert [(m["key_group"], m["from"], m["to"], m["bytes"]) for m in found.moves] == [
        (0, "n3", "n5", 262144.0),
        (1, None, "n6", 262144.0),
        (2, "n3", None, 0.0),
    ]
    assert (found.copies_moved, found.bytes_moved) == (2, 524288.0)


@pytest.mark.parametrize("copies", [1, 2])
def test_explain_agrees_with_the_checker_for_every_copy(problem: ftplan.Problem, copies: int) -> None:
    from ftplan.model.measures.key_group_series import key_group_series
    from ftplan.planners.allocate_checkpoints.judge import rules_of
    from ftplan.planners.allocate_checkpoints.violations import violations

    plan = ftplan.plan("allocate-checkpoints", problem, algorithm="exact", copies=copies)
    assert plan.plan is not None
    assert problem.topology is not None
    assert problem.cluster is not None
    assert problem.stats is not None
    series = key_group_series(problem.stats, "records", problem.topology)
    assignments = plan.plan["assignments"]
    for place, item in enumerate(assignments):
        found = explain(plan, problem, f"key-group:{item['operator']}/{item['key_group']}")
        assert len(found.rows) == 6 * copies
        assert ("copy" in found.columns) == (copies > 1)
        for row in found.rows:
            if row["chosen"]:
                assert row["node"] in item["checkpoints"]
                continue
            nodes = [row["node"] if n == row["copy"] else n for n in item["checkpoints"]]
            changed = [*assignments]
            changed[place] = {**item, "checkpoints": nodes}
            broken = violations(changed, problem.topology, problem.cluster, series, rules_of(plan))
            assert row["ruled out by"] == (f"{broken[0].code}: {broken[0].message}" if broken else None)
