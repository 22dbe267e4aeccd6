"""Defaults: a flag wins over the environment, that over ftplan.toml, that over what is built in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from ftplan.cli.environment import REACHING_OUT, parameters
from ftplan.cli.main import cli
from tests.cli.in_process import Run

TOML = """
[inputs]
topology = "topology.yaml"
cluster = "cluster.yaml"
stats = "stats"

[allocate-checkpoints]
algorithm = "even"
seed = 5
anti-affinity = "zone"
"""


def test_plain_command_in_a_configured_project(ftplan: Run, project: Path) -> None:
    (project / "ftplan.toml").write_text(TOML)
    (project / "deep" / "er").mkdir(parents=True)
    for folder in (project, project / "deep" / "er"):
        done = ftplan("allocate-checkpoints", cwd=folder)
        assert done.returncode == 0, done.stderr
        plan = json.loads(done.stdout)
        assert (plan["algorithm"], plan["seed"], plan["options"]["anti_affinity"]) == ("even", 5, "zone")
    assert {item["path"] for item in plan["inputs"]} == {"../../topology.yaml", "../../cluster.yaml", "../../stats"}


def test_precedence(ftplan: Run, project: Path) -> None:
    (project / "ftplan.toml").write_text(TOML)
    by_env = json.loads(ftplan("allocate-checkpoints", FTPLAN_SEED="6").stdout)
    own_env = json.loads(ftplan("allocate-checkpoints", FTPLAN_SEED="6", FTPLAN_ALLOCATE_CHECKPOINTS_SEED="7").stdout)
    by_flag = json.loads(ftplan("allocate-checkpoints", "--seed", "8", FTPLAN_SEED="6").stdout)
    assert (by_env["seed"], own_env["seed"], by_flag["seed"]) == (6, 7, 8)


def test_mistakes_in_the_file(ftplan: Run, project: Path) -> None:
    for text, said in (
        ("[allocate-checkpoint]\n", "did you mean 'allocate-checkpoints'?"),
        ("[allocate-checkpoints]\nballance = 1\n", "did you mean 'balance'?"),
        ("[inputs]\ntopologie = 'x'\n", "did you mean 'topology'?"),
        ("[inputs\n", "ftplan.toml: line 1"),
        ("[allocate-checkpoints]\ncopies = 'many'\n", "copies"),
        ("[allocate-checkpoints]\ncopies = {a = 1}\n", "copies: expected text, a number, true or false"),
        ("[allocate-checkpoints]\ncopies = 2024-01-01\n", "copies: expected text, a number, true or false"),
        ("[allocate-checkpoints]\ncopies = [2]\n", "copies: expected one value, not a list"),
        ("[allocate-checkpoints]\ncopies = nan\n", "copies"),
        ("[allocate-checkpoints]\ncopies = inf\n", "copies"),
    ):
        (project / "ftplan.toml").write_text(text)
        done = ftplan("allocate-checkpoints")
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert ftplan("allocate-checkpoints", "--help").returncode == 0


def test_a_budget_gives_way_to_a_stronger_source(ftplan: Run, project: Path) -> None:
    """One budget counts: that of the flag, else of the environment, else of the file; never two from one source."""
    (project / "ftplan.toml").write_text(TOML + "[replicate-tasks]\nbudget = 3\n")
    environment = {"FTPLAN_REPLICATE_TASKS_BUDGET_CPU": "2"}
    for args, env, said in (
        ((), {}, {"budget": 3}),
        (("--target", "0.5"), {}, {"target": 0.5}),
        ((), environment, {"budget_cpu": 2.0}),
        (("--budget", "1"), environment, {"budget": "1"}),
        (("--budget-cpu", "1"), environment, {"budget_cpu": 1.0}),
    ):
        done = ftplan("replicate-tasks", "--algorithm", "greedy", *args, **env)
        assert done.returncode == 0, done.stderr
        options = json.loads(done.stdout)["options"]
        given = {name: options[name] for name in ("budget", "budget_cpu", "budget_mb", "target")}
        assert {name: str(value) for name, value in given.items() if value is not None} == {
            name: str(value) for name, value in said.items()
        }
    for args, env in (
        (("--budget", "1", "--target", "0.5"), environment),
        ((), environment | {"FTPLAN_REPLICATE_TASKS_TARGET": "0.5"}),
    ):
        done = ftplan("replicate-tasks", *args, **env)
        assert done.returncode == 2
        assert "give one of them" in done.stderr
    (project / "ftplan.toml").write_text(TOML + "[replicate-tasks]\nbudget = 3\ntarget = 0.5\n")
    assert "give one of them" in ftplan("replicate-tasks").stderr
    assert ftplan("replicate-tasks", "--budget", "1").returncode == 0


def test_a_failover_limit_of_the_file_gives_way(ftplan: Run, project: Path) -> None:
    (project / "ftplan.toml").write_text(TOML.replace('"even"', '"exact"') + "failover-limit = 2\nbalance = 'none'\n")
    done = ftplan("allocate-checkpoints", "--minimise", "failover", "--copies", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["options"]["failover_limit"] < 2
    assert ftplan("allocate-checkpoints", "--minimise", "failover", "--failover-limit", "2").returncode == 2


def test_unknown_variables_are_named(ftplan: Run) -> None:
    for name, said in (
        ("FTPLAN_ALLOCATE_CHECKPOINTS_COPYS", " (did you mean 'FTPLAN_ALLOCATE_CHECKPOINTS_COPIES'?)"),
        ("FTPLAN_SEEDS", " (did you mean 'FTPLAN_SEED'?)"),
        ("FTPLAN_XYZZY_42", ""),
    ):
        done = ftplan("check", "topology.yaml", **{name: "1"})
        line = f"ftplan: warning: unknown environment variable {name}{said} is ignored [UNKNOWN_VARIABLE]"
        assert (done.returncode, done.stderr.splitlines()) == (0, [line])
        for quiet in ({"args": ["-q"]}, {"env": {"FTPLAN_QUIET": "1"}}, {"env": {"FTPLAN_CHECK_QUIET": "true"}}):
            done = ftplan("check", "topology.yaml", *quiet.get("args", ()), **{name: "1", **quiet.get("env", {})})  # type: ignore[dict-item]
            assert (done.returncode, done.stderr) == (0, "")


def test_known_variables_are_not_named(ftplan: Run) -> None:
    known = {
        "FTPLAN_SEED": "1",
        "FTPLAN_DEBUG": "",
        "FTPLAN_MAX_MEMORY_GB": "4",
        "FTPLAN_REPLICATE_TASKS_BUDGET": "3",
        "FTPLAN_ALLOCATE_CHECKPOINTS_LOAD": "records",
    }
    done = ftplan("check", "topology.yaml", **known)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_option_is_called_by_its_flag(ftplan: Run) -> None:
    inputs = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")
    done = ftplan("allocate-checkpoints", *inputs, FTPLAN_ALLOCATE_CHECKPOINTS_LOAD="bytes")
    assert done.returncode == 2
    assert "'bytes'" in done.stderr


def test_the_commands_of_a_group_share_its_table(ftplan: Run, project: Path) -> None:
    """Each takes what it has of it, and the inputs; environment and flags win as they do elsewhere."""
    (project / "ftplan.toml").write_text('[inputs]\ntopology = "topology.yaml"\n[generate]\nseed = 3\noperators = 4\n')
    by_file = json.loads(ftplan("generate", "topology").stdout)
    by_flag = json.loads(ftplan("generate", "topology", "--seed", "3", "--operators", "4").stdout)
    assert by_file == by_flag
    assert len(by_file["operators"]) == 4
    own = {"FTPLAN_GENERATE_TOPOLOGY_OPERATORS": "6", "FTPLAN_SEED": "9"}
    by_env = json.loads(ftplan("generate", "topology", **own).stdout)
    assert (by_env["name"], len(by_env["operators"])) == ("tree-9", 6)
    assert len(json.loads(ftplan("generate", "topology", "--operators", "7", **own).stdout)["operators"]) == 7
    assert ftplan("generate", "topology", **own).stderr == ""
    placed = json.loads(ftplan("generate", "cluster").stdout)["placement"]["tasks"]
    assert placed.keys() == {"alerts", "clicks", "sessions"}
    (project / "ftplan.toml").write_text("[generate]\noperatorz = 3\n")
    done = ftplan("generate", "topology")
    assert done.returncode == 2
    assert "did you mean 'operators'?" in done.stderr


def test_flags_and_lists_give_way_too(ftplan: Run, project: Path) -> None:
    """A flag of the file is off, and a list of it empty, where the command line gives what excludes them."""
    inputs = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats", "--iterations", "10", "-q")
    assert ftplan("peer-ring", *inputs, "--remove", "n6", "-o", "ring.json").returncode == 0
    for kept, given in (("rebalance = true", ("--add", "n6")), ('add = ["n6"]', ("--rebalance",))):
        (project / "ftplan.toml").write_text(f'[peer-ring]\ncurrent = "ring.json"\n{kept}\n')
        options = json.loads(ftplan("peer-ring", *inputs, *given).stdout)["options"]
        assert (options["rebalance"], options["add"]) == ("--rebalance" in given, ["n6"] if "--add" in given else [])


def test_a_parents_file_sets_no_output(ftplan: Run, project: Path) -> None:
    """Whoever works below a folder does not know what it holds: only the working folder's own file writes."""
    (project / "ftplan.toml").write_text(TOML + 'output = "plan.json"\nforce = true\n')
    (project / "deep").mkdir()
    (project / "plan.json").write_text("kept")
    below = ftplan("allocate-checkpoints", cwd=project / "deep")
    assert (below.returncode, json.loads(below.stdout)["seed"]) == (0, 5)
    assert "ftplan.toml: [allocate-checkpoints] output, force: taken only in the folder of that file" in below.stderr
    assert "[CONFIGURATION_IGNORED]" not in ftplan("allocate-checkpoints", "-q", cwd=project / "deep").stderr
    assert (project / "plan.json").read_text() == "kept"
    own = ftplan("allocate-checkpoints")
    assert (own.returncode, own.stdout) == (0, "")
    assert "ftplan: from ftplan.toml: output = plan.json, force = True\n" in own.stderr
    assert json.loads((project / "plan.json").read_text())["seed"] == 5


def test_every_option_that_writes_is_taken_from_the_own_file_alone() -> None:
    group, writing = click.Context(cli), set()
    for name in cli.list_commands(group):
        for item in parameters(cli.get_command(group, name) or cli):
            text = getattr(item, "help", None) or ""
            if re.match(r"Write (?!loads)|Draw(?! (how|loads))|Overwrite|Replace an|The (statistics )?folder", text):
                writing.add(str(item.name))
    assert writing - {"uncertain", "poisson"} <= REACHING_OUT


def test_an_input_is_never_overwritten(ftplan: Run, project: Path) -> None:
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}
    inputs = ("-t", "topology.yaml", "-c", "cluster.yaml", "-s", "stats")
    (project / "link.yaml").symlink_to("cluster.yaml")
    for name in ("topology.yaml", "./cluster.yaml", "link.yaml"):
        done = ftplan("allocate-checkpoints", *inputs, "--force", "-o", name)
        assert done.returncode == 2
        assert "is an input of this command, which is never overwritten" in done.stderr
    assert ftplan("allocate-checkpoints", *inputs, "-o", "plan.json").returncode == 0
    by_name = ftplan("verify", "plan.json", "--force", "-o", "topology.yaml")  # the plan names it
    assert (by_name.returncode, by_name.stderr.count("is an input of this command")) == (2, 1)
    assert ftplan("allocate-checkpoints", *inputs, "--force", "-o", "plan.json").returncode == 0
    assert {name: (project / name).read_bytes() for name in before} == before
