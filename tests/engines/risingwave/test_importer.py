"""Imports of RisingWave's fragment graphs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.errors import FtplanError
from tests.engines.importing.cases import codes, imported, nexmark


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nexmark(tmp_path_factory.mktemp("risingwave"))


@pytest.fixture(scope="module")
def plans(path: Path) -> dict[str, str]:
    """The plans by query, as PyYAML reads them."""
    return {q["id"]: q["stream_dist_plan"] for q in yaml.safe_load(path.read_text()) if "stream_dist_plan" in q}


def counted(plan: str) -> tuple[list[int], list[tuple[int, int, str]]]:
    """Fragments, and (from, to, kind) of exchanges, by lines of the text."""
    fragments = [int(n) for n in re.findall(r"^Fragment (\d+)$", plan, re.MULTILINE)]
    edges, current = [], -1
    for line in plan.splitlines():
        if match := re.fullmatch(r"Fragment (\d+)", line):
            current = int(match[1])
        elif match := re.search(r"StreamExchange (\w+?)(?:Shard)?\b.* from (\d+)$", line):
            edges.append((int(match[2]), current, match[1]))
    return fragments, edges


def test_every_query_recounted(path: Path, plans: dict[str, str]) -> None:
    assert len(plans) == 33
    done = imported(path, "risingwave", parallelism=["8"])
    made: dict[str, Any] = {o.get("name", o["id"]): o for o in done.topology["operators"]}
    edges = {(made_name(done, e["from"]), made_name(done, e["to"])): e["partitioning"] for e in done.topology["edges"]}
    expected = set()
    for query, plan in plans.items():
        fragments, exchanges = counted(plan)
        expected |= {f"{query} Fragment {n}" for n in fragments}
        single = {b for _, b, kind in exchanges if kind == "Single"}
        for n in fragments:
            inputs = [kind for _, b, kind in exchanges if b == n]
            text = plan.partition(f"Fragment {n}\n")[2].partition("\n\n")[0]
            operator = made[f"{query} Fragment {n}"]
            assert operator["parallelism"] == (1 if n in single else 8)
            joins = re.search(r"Stream(Hash|Temporal)Join|DynamicFilter \{", text) and len(inputs) > 1
            assert (operator.get("inputs") == "correlated") == bool(joins)
            state = "tables: [" in text or "StreamMaterialize" in text
            assert operator.get("key_groups") == ((1 if n in single else 256) if state else None)
        for a, b, kind in exchanges:
            rule = edges.pop((f"{query} Fragment {a}", f"{query} Fragment {b}"))
            assert rule == ("one-to-one" if kind == "NoShuffle" else "full")
    assert set(made) == expected
    assert edges == {}


def made_name(done: Any, identifier: str) -> str:
    name: str = next(o.get("name", o["id"]) for o in done.topology["operators"] if o["id"] == identifier)
    return name


def test_one_query(path: Path, plans: dict[str, str], tmp_path: Path) -> None:
    done = imported(path, "risingwave", query=["nexmark_q5"])
    assert done.topology["name"] == "nexmark_q5"
    assert [o["id"] for o in done.topology["operators"]] == [f"Fragment-{n}" for n in (3, 2, 1, 4, 0)]
    assert codes(done)[:2] == ["VIRTUAL_NODES", "PARALLELISM_UNKNOWN"]
    assert done.cluster is None
    text = tmp_path / "explain.txt"
    text.write_text(
        "                QUERY PLAN\n-----------\n " + plans["nexmark_q5"].replace("\n", "\n ") + "\n(30 rows)\n"
    )
    again = imported(text, "risingwave")
    assert [{**o, "labels": None} for o in again.topology["operators"]] == [
        {**o, "labels": None} for o in done.topology["operators"]
    ]
    assert again.topology["edges"] == done.topology["edges"]
    assert again.topology["name"] == "explain"
    for name in ("other.txt", "more/other.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(plans["nexmark_q7"])
    both = imported([text, tmp_path / "other.txt"], "risingwave")
    assert {o["id"].partition("-")[0] for o in both.topology["operators"]} == {"explain", "other"}
    alike = imported([tmp_path / "other.txt", tmp_path / "more" / "other.txt"], "risingwave")
    assert len(alike.topology["operators"]) == 8


def test_what_is_copied_to_every_actor_is_said(path: Path) -> None:
    assert "BROADCAST" in codes(imported(path, "risingwave", query=["nexmark_q102"]))


def test_queries_that_are_not_there(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FtplanError, match=r"has no plan of 'nexmark_q11' \(did you mean 'nexmark_q101'\?\)"):
        ftplan.import_topology(path, "risingwave", query="nexmark_q11")
    for text, said in (
        ("Fragment 0\nFragment 1\n", "fragment 0 has no nodes"),
        ("Fragment 0\nStreamNoOp\n└── StreamExchange NoShuffle from 2\n", "reads fragment 2, which is missing"),
        ("Fragment 0\nStreamNoOp\n└── StreamExchange NoShu", "line 3 of the plan: expected an exchange"),
        ("Fragment 0\nStreamNoOp\nFragment 0\n", "a second fragment 0"),
        ("nothing\n", "holds no fragments"),
    ):
        cut = tmp_path / "cut.txt"
        cut.write_text(text)
        with pytest.raises(FtplanError, match=said):
            ftplan.import_topology(cut, "risingwave")
