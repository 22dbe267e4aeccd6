"""Whose metrics a reporter's names are about."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ftplan.engines.flink.names import Scope, chain_members, scopes, vertex_of
from tests.places import ROOT

LOG = ROOT / "tests" / "data" / "flink" / "slf4jreporter_tm0.log"


def test_names_in_a_real_log() -> None:
    lines = LOG.read_text().splitlines()
    found = [match for line in lines if (match := re.fullmatch(r"(.*)\.(\d+)\.(num\w+): \S+", line))]
    tasks = {match[1] for match in found if match[3] == "numBuffersOut"}
    known = scopes({match[1] for match in found}, {"localhost.taskmanager.localhost:41235-40489b"}, tasks)
    assert len(known) == len({match[1] for match in found})
    assert {(s.host, s.manager, s.job) for s in known.values()} == {
        ("localhost", "localhost:41235-40489b", "ftplan-sample")
    }
    named = {known[task].name for task in tasks}
    assert named == {
        "Source: clicks[1] -> Calc[2] -> WatermarkAssigner[3] -> (Calc[4], Calc[9])",
        "Source: buys[11] -> Calc[12] -> WatermarkAssigner[13] -> Calc[14]",
        "WindowAggregate[6] -> Calc[7] -> o1[8]: Writer",
        "IntervalJoin[16] -> Calc[17]",
        "GroupAggregate[19] -> o2[20]: Writer",
    }
    operators = {scope.name for name, scope in known.items() if name not in tasks}
    assert all(vertex_of(operator, named) is not None for operator in operators)
    assert vertex_of("Calc[9]", named) == "Source: clicks[1] -> Calc[2] -> WatermarkAssigner[3] -> (Calc[4], Calc[9])"


def test_the_task_manager_may_be_told_by_its_id_alone() -> None:
    name = "h.example.org.taskmanager.10.0.0.1:6122-0a1b2c.my job.Map -> Sink: out"
    known = scopes({name, name.replace("Map -> Sink", "Sink")}, set(), {name})
    assert known[name] == Scope("h.example.org", "10.0.0.1:6122-0a1b2c", "my job", "Map -> Sink: out")


_WORD = st.text(st.sampled_from("ab. :"), min_size=1, max_size=8).map(lambda text: f"x{text.strip('. :')}y")


@given(st.lists(_WORD, min_size=2, max_size=5, unique=True), _WORD, _WORD)
def test_a_chain_tells_the_job(members: list[str], job: str, manager: str) -> None:
    """Whatever dots, spaces and colons the names hold: a chain's second operator ends what the job begins."""
    prefix = f"host.taskmanager.{manager}"
    task = f"{prefix}.{job}.{' -> '.join(members)}"
    names = {task, *(f"{prefix}.{job}.{member}" for member in members)}
    scope = scopes(names, {prefix}, {task})[task]
    assert (scope.manager, f"{scope.job}.{scope.name}") == (manager, f"{job}.{' -> '.join(members)}")
    assert scope.name.endswith(" -> ".join(members[1:]))


def test_members_of_a_chain() -> None:
    assert {"A", "B", "C"} <= {*chain_members("A -> (B, C)")}
    assert vertex_of("Map", ["Map", "Source -> Map"]) is None
