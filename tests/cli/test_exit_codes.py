"""Each way out has its exit code, one line on standard error, and leaves nothing half-written."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from ftplan.errors import without_credentials
from tests.cli.in_process import DATA, Run, environment

PLAN = ("allocate-checkpoints", "-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")


def one_line(stderr: str) -> str:
    lines = stderr.strip().splitlines()
    assert len(lines) == 1, stderr
    assert lines[0].startswith("ftplan: ")
    return lines[0]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("alocate-checkpoints",), "did you mean 'allocate-checkpoints'?"),
        (("check", "nowhere.yaml"), "nowhere.yaml"),
        (("check", "topolgy.yaml"), "did you mean 'topology.yaml'?"),
        (("allocate-checkpoints", "--topology", "topology.yaml"), "--cluster is missing"),
        ((*PLAN, "--balance", "even"), "--balance: 'even'"),
        ((*PLAN, "--copies", "0"), "--copies"),
        ((*PLAN, "--time-limit", "soon"), "'soon' is no duration"),
        ((*PLAN, "--algorithm", "exakt"), "exakt"),
        ((*PLAN, "--load", "cpu_ms"), "cpu_ms"),
        ((*PLAN, "--max-stats-age", "1h"), "--max-stats-age"),
        ((*PLAN, "-o", "cluster.yaml"), "cluster.yaml: is an input of this command, which is never overwritten"),
        ((*PLAN, "-o", "no/such/plan.json"), "does not exist"),
        (("compute-stats", "x.csv", "-o", "stats", "--operator", "a"), "stats: exists already"),
        (("compute-stats", "-o", "new"), "LOG is missing"),
        (("stats-summary", "topology.yaml"), "topology.yaml: is a file"),
        (("schema", "topologie"), "topologie"),
    ],
)
def test_the_users_mistake_is_one_line_and_exit_2(ftplan: Run, args: tuple[str, ...], said: str) -> None:
    done = ftplan(*args)
    assert done.returncode == 2
    assert said in one_line(done.stderr)
    if args[0] != "check":  # whose answer is what it found, errors included
        assert done.stdout == ""


def test_existing_output_is_refused_before_any_work_and_kept(ftplan: Run, project: Path) -> None:
    (project / "plan.json").write_text("mine")
    assert ftplan(*PLAN, "-o", "plan.json").returncode == 2
    assert (project / "plan.json").read_text() == "mine"
    assert ftplan(*PLAN, "-o", "plan.json", "--force", "-q").returncode == 0
    assert json.loads((project / "plan.json").read_text())["kind"] == "allocate-checkpoints"


def test_file_output_leaves_standard_output_empty(ftplan: Run, project: Path) -> None:
    done = ftplan(*PLAN, "-o", "plan.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert "checkpoint allocation" in done.stderr
    quiet = ftplan(*PLAN, "-o", "plan2.json", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert (project / "plan.json").read_bytes() == (project / "plan2.json").read_bytes()


def test_infeasible_is_exit_1_with_json_and_a_fix_that_works(ftplan: Run) -> None:
    done = ftplan(*PLAN, "--copies", "3", "--anti-affinity", "zone")
    assert done.returncode == 1
    plan = json.loads(done.stdout)
    assert plan["status"] == "infeasible"
    assert plan["plan"] is None
    assert plan["infeasible"]["smallest_fix"] in done.stderr


def test_detailed_exitcode_says_whether_anything_changes(ftplan: Run, project: Path) -> None:
    assert ftplan(*PLAN, "-o", "a.json", "--detailed-exitcode", "-q").returncode == 3
    assert ftplan("diff", "a.json", "a.json", "--detailed-exitcode").returncode == 0
    assert ftplan(*PLAN, "--algorithm", "even", "-o", "b.json", "-q").returncode == 0
    assert ftplan("diff", "a.json", "b.json", "--detailed-exitcode").returncode == 3
    assert ftplan("diff", "a.json", "b.json").returncode == 0


def test_detailed_exitcode_of_replicas_and_schedules(ftplan: Run) -> None:
    """3 where replicas start or stop, or a task is recovered; else 0, and 1 where there is no plan."""
    inputs = ("-t", "topology.yaml", "-c", "cluster.yaml", "-q")
    replicate = ("replicate-tasks", *inputs, "--algorithm", "greedy", "--budget")
    assert ftplan(*replicate, "8", "-o", "r.json", "--detailed-exitcode").returncode == 3
    assert ftplan(*replicate, "8", "--detailed-exitcode", "--current", "r.json").returncode == 0
    assert ftplan(*replicate, "0", "--detailed-exitcode", "--current", "r.json").returncode == 3
    assert ftplan(*replicate, "0", "--detailed-exitcode").returncode == 0
    assert ftplan(*replicate, "8").returncode == 0
    recover = ("recovery-schedule", *inputs, "--algorithm", "best-density", "--fail")
    assert ftplan(*recover, "node:n1", "--detailed-exitcode").returncode == 3
    assert ftplan(*recover, "node:n1").returncode == 0
    assert ftplan(*recover, "node:n1", "--no-arrivals", "--capacity", "0", "--detailed-exitcode").returncode == 1


def test_full_disk_is_74(project: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ftplan", "schema", "plan"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    assert done.returncode == 74
    assert "No space left" in one_line(done.stderr)


def test_closed_pipe_is_141() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "ftplan", "schema", "plan"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def unread(pipe: int) -> int:
    """Return how many bytes lie in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_is_130(sent: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ftplan", "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdin is not None
    process.stdin.write("format: ")
    process.stdin.flush()
    while unread(process.stdin.fileno()) and process.poll() is None:
        time.sleep(0.02)  # until it has begun to read
    process.send_signal(sent)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "interrupted" in one_line(err)


def test_a_fault_of_ftplan_is_70_with_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ftplan.cli.main import run
    from ftplan.io import schemas

    def broken(kind: str) -> dict[str, object]:
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(schemas, "schema", broken)
    assert run(["schema", "plan"]) == 70
    assert "--debug" in one_line(capsys.readouterr().err)
    assert run(["schema", "plan", "--debug"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_c_that_fails_without_a_word_lacks_memory_where_that_is_limited(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ftplan.cli import main
    from ftplan.io import schemas

    def broken(kind: str) -> dict[str, object]:
        raise SystemError("error return without exception set")

    monkeypatch.setattr(schemas, "schema", broken)
    assert main.run(["schema", "plan"]) == 70
    monkeypatch.setattr(main, "address_space_bytes", lambda: 10**9)
    capsys.readouterr()
    assert main.run(["schema", "plan"]) == 2
    assert "memory ran out (error return without exception set)" in one_line(capsys.readouterr().err)


def test_shell_completion_is_there() -> None:
    done = subprocess.run(
        ["ftplan"],
        env=environment(_FTPLAN_COMPLETE="bash_source"),
        capture_output=True,
        text=True,
        check=False,
        executable=str(Path(sys.executable).parent / "ftplan"),
    )
    assert done.returncode == 0
    assert "_FTPLAN_COMPLETE" in done.stdout


def test_values_without_bounds_in_the_configuration_are_refused(ftplan: Run, project: Path) -> None:
    number = "9" * 400
    for line in (f"time-limit = {number}", f"max-cpu = {number}", f"horizon = {number}"):
        (project / "ftplan.toml").write_text(f"[recovery-schedule]\n{line}\n")
        done = ftplan("recovery-schedule", "-t", "topology.yaml", "--capacity", "1", "--fail", "node:n1")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    (project / "ftplan.toml").unlink()
    done = ftplan("recovery-schedule", "-t", "topology.yaml", "-s", "n" * 3000, "--fail", "node:n1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_what_a_solver_prints_is_not_part_of_the_answer() -> None:
    """Some print with C's printf, whatever Python's standard output is."""
    script = (
        "import os\n"
        "from ftplan.cli import main\n"
        "main.run = lambda args: (os.write(1, b'noise\\n'), print('answer'), 0)[-1]\n"
        "main.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "answer\n"
    assert done.stderr == "noise\n"


INPUTS = {"topology": "topology.yaml", "cluster": "cluster.yaml", "stats": "stats"}
SMALL = [f"--{role}={DATA / name}" for role, name in INPUTS.items()]


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``ftplan`` LINE in a shell."""
    command = f"{shlex.quote(sys.executable)} -m ftplan {line}"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, env=environment(), check=False
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_file_is_written_whatever_is_closed(tmp_path: Path, closed: str) -> None:
    """No file takes the number of a stream that is closed, and messages that nobody hears fail nothing."""
    done = in_shell(f"allocate-checkpoints {shlex.join(SMALL)} -o plan.json {closed}", tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads((tmp_path / "plan.json").read_text())["plan"] is not None


@pytest.mark.parametrize(("line", "code", "said"), [
    ("schema plan >&-", 74, "ftplan: could not read or write: [Errno 9] Bad file descriptor\n"),
    ("schema plan >&- 2>&-", 74, ""),
    ("explain - node:n1 <&-", 2, "ftplan: standard input: cannot be read: Bad file descriptor\n"),
])  # fmt: skip
def test_a_closed_stream_that_is_needed(tmp_path: Path, line: str, code: int, said: str) -> None:
    done = in_shell(line, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_credentials_are_never_repeated(ftplan: Run) -> None:
    for secret in ("sc://localhost:1;token=hunter2", "spark://user:hunter2@host:7077", "local[*];password = hunter2"):
        done = ftplan("compute-stats", "topology.yaml", "-o", "s", "--master", secret, "--debug")
        assert done.returncode == 2
        assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize(("text", "shown"), [
    ('{"api_key": "hunter2", "a": 1} Bearer hunter2hunter2', '{"api_key": ***, "a": 1} Bearer ***'),
    ("http://me:hunter2@host/?access-key=hunter2&b=1", "http://***@host/?access-key=***&b=1"),
    ("budget=3, token: expected text", "budget=3, token: expected text"),
])  # fmt: skip
def test_what_gives_access_is_taken_out(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@pytest.mark.parametrize("line", ["check", "collect http://localhost:9 -o", "init -o", "import-topology --from flink"])
def test_a_name_that_is_too_long_is_the_users_mistake(ftplan: Run, line: str) -> None:
    done = ftplan(*line.split(), "n" * 300)
    assert done.returncode == 2
    assert "File name too long" in done.stderr


def test_a_pipe_that_a_plan_names_is_not_waited_for(ftplan: Run, project: Path) -> None:
    inputs = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")
    assert ftplan("allocate-checkpoints", *inputs, "-o", "plan.json").returncode == 0
    for name in ("topology.yaml", "cluster.yaml", "stats/manifest.json"):
        (project / name).rename(project / "kept")
        os.mkfifo(project / name)
        for command in (("verify", "plan.json"), ("evaluate", "plan.json")):
            done = ftplan(*command)
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            assert "no regular file" in done.stderr
        assert ftplan("report", "plan.json", "-o", "page.html", "--force").returncode in (0, 2)
        assert ftplan("verify", "--skip-others", name).returncode == 0
        (project / name).unlink()
        (project / "kept").rename(project / name)


def test_names_reach_no_terminal_as_commands(ftplan: Run, project: Path) -> None:
    text = re.sub("^name:.*\n", "", (project / "topology.yaml").read_text(), flags=re.MULTILINE)
    (project / "topology.yaml").write_text('name: "a\\x1b]0;title\\x07"\n' + text)
    for form in ("table", "markdown"):
        done = ftplan("check", "topology.yaml", "--format", form)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout + done.stderr
    done = ftplan("check", "no\x1b[31m\u202ething")
    assert "\x1b" not in done.stdout + done.stderr
    assert r"no\x1b[31m\u202ething" in done.stderr
