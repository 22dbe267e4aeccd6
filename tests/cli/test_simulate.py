"""``ftplan simulate recovery``: where its options come from, what it writes, and how it ends."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.cli.render import emit
from ftplan.reports import sparkline as lines
from ftplan.reports.answer import Answer, Table
from tests.cli.in_process import Run, environment
from tests.simulation.recovery.file_cases import CLUSTER, FAILURE, IN_ORDER, TOPOLOGY

TOML = """
[inputs]
topology = "inputs/topology.json"
cluster = "inputs/cluster.json"
failure = "inputs/failure.json"

[simulate]
batch = "1s"
until = 60
warm-up = "15s"
mode = ["incremental", "blocking"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "inputs").mkdir()
    for name, document in (("topology", TOPOLOGY), ("cluster", CLUSTER), ("failure", FAILURE), ("plan", IN_ORDER)):
        (tmp_path / "inputs" / f"{name}.json").write_text(json.dumps(document))
    (tmp_path / "ftplan.toml").write_text(TOML)
    return tmp_path


def answer(done: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_options_of_the_group_come_from_the_configuration(ftplan: Run, folder: Path) -> None:
    document = answer(ftplan("simulate", "recovery", cwd=folder / "inputs"))
    assert [item["mode"] for item in document["recoveries"]] == ["incremental", "blocking"]
    assert (document["options"]["batch_s"], document["until_s"]) == (1.0, 60.0)
    environment_wins = ftplan("simulate", "recovery", cwd=folder, FTPLAN_SIMULATE_RECOVERY_MODE="eager")
    assert [item["mode"] for item in answer(environment_wins)["recoveries"]] == ["eager"]
    flag_wins = ftplan("simulate", "recovery", "--until", "40s", "--mode", "eager", cwd=folder)
    assert answer(flag_wins)["until_s"] == 40.0


def test_a_plan_of_the_configuration_lies_beside_it(ftplan: Run, folder: Path) -> None:
    (folder / "ftplan.toml").write_text(TOML + 'against = "inputs/plan.json"\n')
    document = answer(
        ftplan("simulate", "recovery", "plan.json", cwd=folder / "inputs", FTPLAN_SIMULATE_RECOVERY_MODE="eager")
    )
    assert [item["plan"] for item in document["recoveries"]] == ["plan.json", "plan.json"]
    assert document["options"]["against"] == "plan.json"


def test_mistakes_in_the_configuration(ftplan: Run, folder: Path) -> None:
    for text, said in (
        ("[simulate]\nuntill = 60\n", "ftplan.toml: [simulate] unknown key 'untill' (did you mean 'until'?)"),
        ("[simulate]\nuntil = [60]\n", "ftplan.toml: [simulate] until: expected one value, not a list"),
        ("[simulat]\n", "ftplan.toml: unknown table 'simulat' (did you mean 'simulate'?)"),
    ):
        (folder / "ftplan.toml").write_text(text)
        done = ftplan("simulate", "recovery", cwd=folder)
        assert (done.returncode, done.stderr) == (2, f"ftplan: {said}\n")


def test_an_option_of_another_simulation_may_stand_in_the_table(ftplan: Run, folder: Path) -> None:
    (folder / "ftplan.toml").write_text(TOML + "mappers = 100\n")
    assert ftplan("simulate", "recovery", "-q", "-o", "out.json", cwd=folder).returncode == 0


def test_the_other_commands_of_the_group_are_not_imported(folder: Path) -> None:
    probe = (
        "import sys; from ftplan.cli.main import run; code = run(['simulate', 'recovery', '-q', '-o', 'out.json']); "
        "print(code, 'ftplan.simulation.ring.options' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 False\n"


def test_a_plan_from_standard_input(ftplan: Run, folder: Path) -> None:
    by_path = answer(ftplan("simulate", "recovery", "inputs/plan.json", cwd=folder))
    by_stdin = answer(ftplan("simulate", "recovery", "-", cwd=folder, stdin=json.dumps(IN_ORDER)))
    for first, second in zip(by_path["recoveries"], by_stdin["recoveries"], strict=True):
        assert {**first, "plan": "plan"} == second


def test_a_limit_that_is_not_kept_is_exit_1_with_the_answer(ftplan: Run, folder: Path) -> None:
    done = ftplan("simulate", "recovery", "--max-down", "1", "-q", cwd=folder)
    assert answer(done, 1)["kind"] == "recovery"
    assert done.stderr.endswith("above --max-down 1\n")


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_plot(ftplan: Run, folder: Path, ending: str) -> None:
    done = ftplan("simulate", "recovery", "--plot", f"out.{ending}", "-q", "-o", "out.json", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    drawn = (folder / f"out.{ending}").read_bytes()
    assert drawn.startswith(b"<?xml" if ending == "svg" else b"\x89PNG")
    refused = ftplan("simulate", "recovery", "--plot", f"out.{ending}", cwd=folder)
    assert refused.returncode == 2
    assert "--force" in refused.stderr


#: Runs the command line; says which processes there are when the first part is sent to each.
CHILD = """
import sys
from ftplan import processes
from ftplan.cli.main import main
send = processes._send
def sent(process, *args):
    print(process.process.pid, file=sys.stderr, flush=True)
    send(process, *args)
processes._send = sent
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing_behind(folder: Path, number: signal.Signals) -> None:
    args = ["simulate", "recovery", "--runs", "5000", "--jobs", "2", "-o", "out.json", "--no-progress"]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, *args],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    workers = [int(child.stderr.readline()) for _ in range(2)]
    child.send_signal(number)
    out, err = child.communicate()
    assert (child.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-1] == "ftplan: interrupted"
    assert not any(os.path.exists(f"/proc/{worker}") for worker in workers)
    assert not (folder / "out.json").exists()


def test_a_line_over_time() -> None:
    assert lines.sparkline([0.0, 1.0, 4.0, None, 7.9, 8.0], 6, 8.0) == "▁▂▅ ▇█"
    assert lines.sparkline([0.0, 1.0, 4.0, None, 7.9, 8.0], 6, 8.0, lines.PLAIN) == "_.= *#"
    assert lines.sparkline([0.0, 8.0, 4.0, 4.0], 2, 8.0) == "▅▅"
    assert lines.sparkline([0.0, 0.0], 9, 0.0) == "▁▁"


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50), st.integers(1, 60))
def test_a_line_over_time_is_as_high_as_its_values(values: list[float], width: int) -> None:
    drawn = lines.sparkline(sorted(values), width, 1.0)
    assert len(drawn) == min(width, len(values))
    assert list(drawn) == sorted(drawn, key=lines.BLOCKS.index)


def test_a_terminal_without_blocks_gets_plain_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        encoding = "ascii"

    monkeypatch.setattr("ftplan.reports.sparkline.sys.stdout", Plain())
    assert lines.levels() == lines.PLAIN


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_a_table_on_such_a_terminal(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii"))
    emit(Answer("", [Table(("figure", "2 runs"), [("mean", "1 ± 2 …"), ("other", None), ("Ø", "x")])]), form=form)
    said = written.getvalue().decode("ascii")
    assert "1 +- 2 ..." in said
    assert "?" in said
