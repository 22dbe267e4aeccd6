"""Rebalances as plans: what they record, which figures they state, what they are worth elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.api import verify
from ftplan.cli.main import run
from ftplan.io.plan_file import load_plan
from tests.places import ROOT
from tests.planners.rebalance.cases import CLUSTER, JOB, PER_CORE, TOPOLOGY, document, job, planned

COSTS: dict[str, Any] = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "remote",
    "parameters": {
        "detection_s": {"value": 5},
        "restart_s": {"value": 1},
        "replay_share": {"value": 0.5},
        "capacity_records_s": {"value": 500},
    },
    "fitted_on": {"recoveries": 5, "rates": [1, 1000], "intervals_s": [10, 60]},
}


def windows() -> tuple[list[tuple[str, int]], Any]:
    """Return the key groups and their loads in each window, (W, K)."""
    rows = JOB["stats"]["key_groups"]
    table = rows.pivot_table(index="window_start", columns=["operator", "key_group"], values="records")
    return [(operator, int(group)) for operator, group in table.columns], table.to_numpy()


def places(plan: dict[str, Any], names: list[tuple[str, int]]) -> list[str]:
    """Return the node of each key group after the moves of a plan."""
    tasks = CLUSTER["placement"]["tasks"]
    homes = {(o, g): tasks[o][g // 2] for o, g in names}
    moved = {(m["operator"], m["key_group"]): m["to"] for m in plan["plan"]["moves"]}
    return [moved.get(name, homes[name]) for name in names]


def utilisation(where: list[str], loads: Any) -> Any:
    """Return the utilisation of each node in each window, (W, N)."""
    nodes = [node for node in CLUSTER["nodes"] if node["id"] != "n8"]
    used = [node.get("used_cpu", 0.0) / node["cpu"] for node in nodes]
    held = [loads[:, [w == node["id"] for w in where]].sum(axis=1) / (PER_CORE * 60 * node["cpu"]) for node in nodes]
    return np.array(held).T + np.array(used)


def test_figures_before_and_after() -> None:
    plan = document(planned(job(), demand="mean"))
    names, loads = windows()
    for which, where in (("before", places({"plan": {"moves": []}}, names)), ("after", places(plan, names))):
        figures, each = plan["summary"][which], utilisation(where, loads)
        mean = each.mean(axis=0)
        assert figures["highest_utilisation"] == pytest.approx(mean.max())
        assert figures["busiest_node"] == f"n{1 + int(mean.argmax())}"
        assert figures["overloaded_nodes"] == (mean > 0.85).sum()
        assert figures["overload_share"] == pytest.approx((each > 0.85).any(axis=1).mean())
        above = np.maximum(each - 0.85, 0.0).sum(axis=1).mean() * 4 * PER_CORE
        assert figures["excess"] == pytest.approx(above)
        assert figures["imbalance"] == pytest.approx(np.max(np.abs(mean / mean.mean() - 1.0)))
    before, after = plan["summary"]["before"], plan["summary"]["after"]
    assert (before["moves"], before["bytes"], before["assisted_share"]) == (0, 0.0, None)
    assert after["latency_s"] == pytest.approx(plan["objective"]["value"])


def test_when_pauses_have_paid_back() -> None:
    plan = document(planned(job()))
    names, loads = windows()
    rate = dict(zip(names, loads.mean(axis=0) / 60.0, strict=True))
    paused = sum(rate[m["operator"], m["key_group"]] * m["latency_s"] for m in plan["plan"]["moves"])
    saved = plan["summary"]["before"]["excess"] - plan["summary"]["after"]["excess"]
    stated = plan["summary"]["payback"]
    assert stated["paused"] == pytest.approx(paused)
    assert stated["saved_per_s"] == pytest.approx(saved)
    assert stated["payback_s"] == pytest.approx(paused / saved)
    rested = document(planned(job(), overload=3.0, remove=["n6"]))
    assert rested["summary"]["payback"]["payback_s"] is None  # nothing was overloaded


def test_what_the_same_groups_cost_otherwise() -> None:
    """By direct moves alone, and on average over all other nodes that take tasks."""
    plan = document(planned(job(), protocol="auto", objective="latency"))
    direct = document(planned(job(), protocol="direct"))
    alone = {(m["operator"], m["key_group"]): m["latency_s"] for m in direct["plan"]["moves"]}
    assert direct["summary"]["peers"]["all_direct"]["latency_s"] == pytest.approx(sum(alone.values()))
    assert direct["summary"]["random"]["latency_s"] == pytest.approx(sum(alone.values()))  # wherever they go
    assert direct["summary"]["random"]["assisted_share"] == 0.0
    shares = []
    for move in plan["plan"]["moves"]:
        held = CLUSTER["placement"]["checkpoints"][move["operator"]][move["key_group"]]
        shares.append(len(held) / 6 if move["protocol"] in ("cpa", "cpal") or held else 0.0)
    assert plan["summary"]["random"]["assisted_share"] == pytest.approx(sum(shares) / len(shares))
    assert plan["summary"]["random"]["latency_s"] > plan["objective"]["value"]
    assert plan["summary"]["peers"]["all_direct"]["latency_s"] > plan["objective"]["value"]


def test_added_nodes_get_their_share_as_far_as_can_be() -> None:
    plan = planned(job(), add=["n7"])
    assert plan.options["tolerance_requested"] == "auto"
    assert plan.options["tolerance"] == 0.1
    assert "filled" in plan.rules
    one = planned(job(), add=["n7"], max_moves=1, protocol="lazy", overload=3.0)  # a group of join at most
    tolerance = one.options["tolerance"]
    names, loads = windows()
    mean = dict(zip(names, loads.mean(axis=0), strict=True))
    fair = (sum(mean.values()) + 0.5 * PER_CORE * 60) / 7
    heaviest = max(load for (operator, _), load in mean.items() if operator == "join")
    assert (1.0 - tolerance) * fair <= heaviest < (1.0 - tolerance + 0.1) * fair
    assert verify(one, job()).violations == ()
    assert planned(job(), overload=1.5).options["tolerance"] == "none"


def test_how_many_nodes_to_add_or_remove() -> None:
    plan = planned(job(), suggest=True, band="0.2-0.3")
    suggested = plan.summary["suggestion"]
    assert suggested["action"] == "add"
    again = verify(plan, job(), prove=True, time_limit_s=3600.0)
    assert again.violations == ()
    assert "summary.suggestion" not in again.not_recomputed


def test_nothing_to_change_is_an_answer() -> None:
    plan = planned(job(), overload=3.0)
    assert plan.status == "optimal"
    assert document(plan)["plan"]["moves"] == []
    assert plan.reason == "no change: no node is above 3 of its capacity"


def test_state_in_a_remote_store_moves_for_nothing() -> None:
    plan = planned(job(), costs=COSTS)
    assert "REMOTE_STATE" in {warning.code for warning in plan.warnings}
    moves = document(plan)["plan"]["moves"]
    assert moves
    assert {(move["protocol"], move["bytes"]) for move in moves} == {("cpa", 0.0)}
    assert verify(plan, job()).violations == ()


def test_checkpoints_from_a_plan(tmp_path: Path) -> None:
    """Given as a file, a document or a plan they are the same, and are recorded."""
    nodes = {("agg", 0): "n7", ("agg", 1): "n6"}
    listed = [{"operator": o, "key_group": g, "checkpoints": [n]} for (o, g), n in nodes.items()]
    envelope = {"format": "ftplan/plan", "format_version": "1.0", "kind": "allocate-checkpoints"}
    given = load_plan({**envelope, "plan": {"assignments": listed}}).value
    (tmp_path / "given.json").write_text(given.to_json())
    plans = [
        planned(job(), checkpoints=source, protocol="cpa", overload=1.0)
        for source in (given, json.loads(given.to_json()), tmp_path / "given.json")
    ]
    for plan in plans:
        assert plan.plan == plans[0].plan
        moves = document(plan)["plan"]["moves"]
        assert all(nodes[m["operator"], m["key_group"]] == m["to"] for m in moves if m["operator"] == "agg")
        assert any(m["operator"] == "agg" for m in moves)
        assert verify(load_plan(document(plan)).value, job()).violations == ()
    changed = json.loads((tmp_path / "given.json").read_text())
    changed["plan"]["assignments"][0]["checkpoints"] = ["n6"]
    (tmp_path / "given.json").write_text(json.dumps(changed))
    assert "STALE_INPUT" in {violation.code for violation in verify(plans[-1], job()).violations}


def test_evaluation_with_nodes_that_fail_and_on_other_statistics() -> None:
    plan = planned(job(), protocol="direct")
    moves, checkpoints = document(plan)["plan"]["moves"], document(plan)["plan"]["checkpoints"]
    names, _ = windows()
    where = dict(zip(names, places(document(plan), names), strict=True))
    held = {(c["operator"], c["key_group"]): c["nodes"] for c in checkpoints}
    for down in (["n1"], ["n7"], ["n5", "n6", "n7"]):
        found = ftplan.evaluate(plan, job(), fail=[f"node:{node}" for node in down])
        assert found["blocked-moves"] == sum(m["to"] in down or m["from"] in down for m in moves)
        assert found["groups-down"] == sum(node in down for node in where.values())
        lost = [n for n, node in where.items() if node in down and set(held[n]) <= set(down)]
        assert found["lost-groups"] == len(lost)
    assert ftplan.evaluate(plan, job(), fail=["zone:c"])["blocked-moves"] == sum(m["to"] == "n7" for m in moves)
    calm, heavy = ftplan.evaluate(plan, job()), ftplan.evaluate(plan, job(factor=2.0))
    after = plan.summary["after"]
    assert calm["highest-utilisation"] == pytest.approx(after["highest_utilisation"])
    assert calm["payback-s"] == pytest.approx(plan.summary["payback"]["payback_s"])
    assert heavy["highest-utilisation"] == pytest.approx(2.0 * after["highest_utilisation"], rel=0.1)
    assert heavy["overloaded-nodes"] > calm["overloaded-nodes"]
    strict = ftplan.evaluate(plan, job(), overload=0.5, fail_under=["overloaded-nodes=0"])
    assert strict["overloaded-nodes"] > 0
    assert len(strict.unmet) == 1
    assert ftplan.evaluate(plan, job(), load="cpu_ms")["moves"] == len(moves)


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({"protocol": "direct", "max_pause_s": 0.01}, "max-pause"),
        ({"remove": ["n6"], "max_moves": 1}, "max-moves"),
        ({"remove": ["n6"], "protocol": "direct", "max_bytes": 1e6}, "max-bytes"),
        ({"protocol": "lazy"}, "protocol"),
    ],
)
def test_the_smallest_fix_works_as_it_is_written(
    options: dict[str, Any], limit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line, after what was asked."""
    for name, part in (("topology", TOPOLOGY), ("cluster", CLUSTER)):
        (tmp_path / f"{name}.json").write_text(json.dumps(part))
    plan = planned(job(), **options)
    assert plan.status == "infeasible"
    assert plan.infeasible is not None
    assert plan.infeasible.limit == limit
    flags = plan.infeasible.smallest_fix.split(" and ")
    assert all(flag.startswith("--") for flag in flags)
    units = {"max_pause_s": ("s", "max-pause"), "max_bytes": ("", "max-bytes"), "max_moves": ("", "max-moves")}
    asked = {name: value for name, value in options.items() if f"--{units.get(name, ('', name))[1]}" not in str(flags)}
    for flag in flags:
        name, value = flag[2:].split(" ")
        asked[{"max-pause": "max_pause_s"}.get(name, name.replace("-", "_"))] = (
            value if name == "protocol" else float(value.removesuffix("s")) if name != "max-moves" else int(value)
        )
    assert planned(job(), **asked).plan is not None
    capsys.readouterr()


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A plan that changes something says so on request; it is verified, exported, and compared with itself."""
    small = ROOT / "tests" / "data" / "small"
    files = [
        *("-t", str(small / "topology.yaml"), "-c", str(small / "cluster.yaml"), "-s", str(small / "stats")),
        "-q",
    ]
    plan = str(tmp_path / "plan.json")
    assert run(["rebalance", *files, "-o", plan, "--detailed-exitcode"]) == 3
    assert run(["rebalance", *files, "--overload", "3", "--detailed-exitcode"]) == 0
    assert run(["verify", plan, "--strict", *files]) == 0
    assert run(["evaluate", plan, *files, "--fail", "node:n2", "--fail-under", "blocked-moves=0"]) == 1
    assert run(["diff", plan, plan, "--detailed-exitcode"]) == 0
    assert run(["explain", plan, "node:n6", *files]) == 0
    capsys.readouterr()
    assert run(["export-plan", plan, "--to", "csv", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(load_plan(plan).value.to_frame())
    sweep = tmp_path / "sweep.json"
    base = {role: str(small / f"{role}.yaml") for role in ("topology", "cluster")} | {"stats": str(small / "stats")}
    grid = [{"options": {"overload": [0.85, 0.95]}}, {"remove": ["node:n4", "node:n3"]}]
    question = {"format": "ftplan/what-if", "format_version": "1.0", "inputs": base, "grid": grid}
    question |= {"run": {"command": "rebalance", "options": {"iterations": 5}}, "measures": ["objective", "moves"]}
    sweep.write_text(json.dumps(question))
    assert run(["what-if", str(sweep), "-q"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 5
    assert all(row["status"] == "optimal" for row in rows)
