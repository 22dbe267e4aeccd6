"""Every option of every kind of plan and call: what is wrong is named, what the command line gives is right."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import ftplan
from ftplan.api import diff, explain, verify
from ftplan.cli.environment import names_in_configuration
from ftplan.cli.kind_options import parameter_of
from ftplan.cli.main import cli, run
from ftplan.io.configuration import find_configuration
from ftplan.io.options.fields import flag
from ftplan.io.options.parameters import CALLS
from ftplan.model import kinds
from ftplan.planners.kind import kind_of
from tests.places import ROOT

SMALL = ROOT / "tests" / "data" / "small"
FIGURE_2 = ROOT / "examples" / "figure-2"

KINDS = kinds.names()
#: The value of each option of each kind that is not given.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    kind: {field.name: field.default for field in fields(kind_of(kind).options)} for kind in KINDS
}

#: No option takes any of these.
NEVER = (object(), b"x", {1, 2}.__iter__, complex(1, 1))
_NUMBERS = {
    "alarming", "checkpoint_interval_s", "checkpoint_records", "free_cpu", "growth", "horizon_s", "latency_budget_s",
    "look_back_s", "promote", "quota", "rescale_time_s", "scale_in", "setup_s", "task_capacity", "task_memory",
    "balance", "bandwidth", "budget_cpu", "budget_mb", "capacity", "capacity_per_core", "checkpoint_age_s",
    "coordinator_cpu", "cross_zone_cost", "failover_limit", "horizon", "keep_priority", "max_bytes", "max_pause_s",
    "max_stats_age_s", "overload", "phase_bytes", "phase_overhead_s", "queue_s", "record_bytes", "restart_s",
    "serialisation", "threshold", "tolerance", "within_s", "accept", "grace_s", "heartbeat_s", "interval_s",
    "latency_bound_s", "queue_high_s", "queue_low_s", "replay_rate", "target_load",
}  # fmt: skip
_COUNTS = {
    "hold",
    "max_parallelism",
    "max_rescales_per_day",
    "seed",
    "iterations",
    "copies",
    "max",
    "max_moves",
    "max_changes",
    "max_per_zone",
    "missed_heartbeats",
    "replication",
    "samples",
    "tokens",
}
_FLAGS = {
    "arrivals", "bound", "complete_failure", "curve", "ignore_stale", "move", "no_limits", "parallel_recovery",
    "partial", "pause_lower_priority", "prefetch", "replay", "spread", "by_probability", "prove", "rebalance",
    "strict", "strict_inputs", "suggest", "then_recover", "worst_case",
}  # fmt: skip
_PLANS = {"current", "replicas", "checkpoints"}
_INPUTS = {"topology", "cluster", "stats", "failure", "costs", "rules"}
#: Values, and the options that take them; wrong for every other option.
WRONG: tuple[tuple[Any, set[str]], ...] = (
    (5, {*_NUMBERS, *_COUNTS, "time_limit_s", "budget"}),
    (-1, set()),
    (math.nan, set()),
    (math.inf, set()),
    (-math.inf, set()),
    (True, _FLAGS),
    (
        "no such word",
        {
            *_PLANS,
            *_INPUTS,
            "add",
            "key_log",
            "remove",
            "fail",
            "nodes",
            "budget",
            "fail_under",
            "selector",
            "operator",
            "tier",
        },
    ),
    (1e30, set()),
    (1.5, {*_NUMBERS, "time_limit_s"}),
    (
        2**39,
        {
            "budget",
            "budget_cpu",
            "capacity",
            "coordinator_cpu",
            "cross_zone_cost",
            "phase_bytes",
            "record_bytes",
            "max_stats_age_s",
            "budget_mb",
            "capacity_per_core",
            "max_bytes",
            "free_cpu",
            "quota",
            "checkpoint_records",
            "task_capacity",
            "task_memory",
            "replay_rate",
        },
    ),
    ([5], set()),
    (["x" * 500, None], set()),
    ({"x": 1}, {*_PLANS, *_INPUTS}),
)


@pytest.fixture(scope="module")
def small() -> ftplan.Problem:
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml", stats=SMALL / "stats")


@pytest.fixture(scope="module")
def figure_2() -> ftplan.Problem:
    return ftplan.load(**{name: FIGURE_2 / f"{name}.yaml" for name in ("topology", "cluster", "failure")})


def wrong_values(name: str) -> list[Any]:
    return [*NEVER, *(value for value, takes in WRONG if name not in takes)]


def held(error: pytest.ExceptionInfo[ftplan.FtplanError], name: str) -> None:
    text = str(error.value)
    assert flag(name) in text
    assert " is not " in text
    assert len(text) <= 400
    assert "\n" not in text


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, defaults in DEFAULTS.items() for n in defaults])
def test_wrong_options_of_plans(kind: str, name: str, small: ftplan.Problem) -> None:
    for value in wrong_values(name):
        if kind == "allocate-checkpoints" and name == "fail":
            continue
        with pytest.raises(ftplan.FtplanError) as error:
            ftplan.plan(kind, small, **{name: value})
        held(error, name)


@pytest.mark.parametrize(("call", "name"), [(c, n) for c, checks in CALLS.items() for n in checks])
def test_wrong_parameters_of_calls(call: str, name: str, small: ftplan.Problem, replication: ftplan.Plan) -> None:
    calls: dict[str, Any] = {
        "load": ftplan.load,
        "evaluate": lambda **given: ftplan.evaluate(replication, small, **given),
        "verify": lambda **given: verify(replication, small, **given),
        "explain": lambda **given: explain(replication, small, **{"selector": "task:clicks/0", **given}),
    }
    for value in wrong_values(name):
        with pytest.raises(ftplan.FtplanError) as error:
            calls[call](**{name: value})
        held(error, name)


def test_some_messages_in_full(small: ftplan.Problem) -> None:
    for options, said in (
        ({"copies": "a"}, "--copies: 'a' is not a whole number from 1 to 2,147,483,647"),
        ({"seed": "x"}, "--seed: 'x' is not a whole number from 0 to 2,147,483,647"),
        ({"time_limit_s": -1}, "--time-limit: -1 is not a number above 0 and at most 1e+09, or such as 5m"),
        ({"load": "record"}, "--load: 'record' is not one of records, bytes, cpu_ms (did you mean 'records'?)"),
    ):
        with pytest.raises(ftplan.FtplanError) as error:
            ftplan.plan("allocate-checkpoints", small, **options)
        assert str(error.value) == said
    for options, said in (
        ({"fail": 5}, "--fail: 5 is not a selector such as 'node:n1', or a list of them"),
        ({"prefetch": "no"}, "--prefetch: 'no' is not True or False"),
    ):
        with pytest.raises(ftplan.FtplanError) as error:
            ftplan.plan("recovery-schedule", small, **options)
        assert str(error.value) == said


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_is_one_field(kind: str) -> None:
    """Each field has a check that its default passes, and a flag with its help text."""
    options = kind_of(kind).options
    assert asdict(options.of("x", DEFAULTS[kind])) == DEFAULTS[kind]
    flags = {item.name: item.help for item in _command(kind).params if isinstance(item, click.Option)}
    for name, item in options.options().items():
        assert flags[parameter_of(name, item)] == item.help


def _command(kind: str) -> click.Command:
    command = cli.get_command(click.Context(cli), kind)
    assert command is not None
    return command


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_line_gives_what_is_right(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {}

    def caught(command: str, problem: Any, algorithm: str | None = None, **options: Any) -> None:
        given.update(options)
        raise ftplan.FtplanError("caught")

    monkeypatch.setattr(ftplan, "plan", caught, raising=False)
    monkeypatch.chdir(SMALL)
    files = [
        "-t",
        "topology.yaml",
        "-c",
        "cluster.yaml",
        *(["-s", "stats"] if "stats" in kind_of(kind).needs else []),
    ]
    assert run([kind, *files]) == 2
    assert "caught" in capsys.readouterr().err
    assert set(given) == set(DEFAULTS[kind])
    assert asdict(kind_of(kind).options.of("x", given)) == DEFAULTS[kind]


def test_numpy_values_are_taken() -> None:
    given = {"samples": np.int64(3), "max_cpu": np.float32(0.5), "prefetch": np.bool_(False)}
    taken = asdict(kind_of("recovery-schedule").options.of("x", given))
    assert {name: taken[name] for name in given} == {"samples": 3, "max_cpu": 0.5, "prefetch": False}
    assert [type(taken[name]) for name in given] == [int, float, bool]


@pytest.mark.parametrize("kind", KINDS)
def test_plans_record_every_option_and_verify_reads_it_back(
    kind: str, small: ftplan.Problem, figure_2: ftplan.Problem
) -> None:
    asked_for: dict[str, dict[str, Any]] = {
        "allocate-checkpoints": {
            "copies": 2,
            "objective": "correlation",
            "balance": 0.5,
            "capacity_per_core": 3.0,
            "anti_affinity": "node",
        },
        "recovery-schedule": {"max_cpu": 0.7, "horizon": 900.0, "samples": 7, "prefetch": False},
        "replicate-tasks": {"budget": 3, "weight": "priority", "fail": ["operator:p01"]},
        "drain-schedule": {"max": 2, "keep_copies": "none", "nodes": ["operator:p01"], "restart_s": 60.0},
        "rebalance": {"tolerance": 0.9, "band": "0.4-0.6", "remove": ["n6"], "overload": 2.0, "capacity_per_core": 3.0},
        "scale-out": {
            "split": "hash",
            "promote": 75.0,
            "technique": "checkpoint",
            "free_cpu": 8.0,
            "hold": 2,
            "growth": 1.5,
        },
        "peer-ring": {"replication": 2, "remove": ["n6"], "capacity_per_core": 3.0, "target_load": 1.5, "grace_s": 1.0},
    }
    given = {**asked_for[kind], "seed": 3, "time_limit_s": 9.0}
    problem = small if "stats" in kind_of(kind).needs or kind == "peer-ring" else figure_2
    plan = ftplan.plan(kind, problem, **given)
    options = kind_of(kind).options
    facts = {
        *options.recorded_facts,
        "cases",
        *(
            f"{n}_requested"
            for n in ("alarming", "balance", "objective", "capacity_per_core", "tolerance", "anti_affinity")
        ),
    }
    assert set(plan.options) - facts == set(DEFAULTS[kind]) - {"seed", "strict_inputs"}
    assert options.of_plan(plan) == options.of("x", given)
    again = {name: value for name, value in options.asked_by(plan).items() if name != "seed"}
    assert options.of("x", {**again, "seed": plan.seed}) == options.of("x", given)


@pytest.mark.parametrize("kind", KINDS)
def test_the_configuration_file_takes_every_option(kind: str, tmp_path: Path) -> None:
    options = kind_of(kind).options
    names = [parameter_of(name, item).replace("_", "-") for name, item in options.options().items()]
    (tmp_path / "ftplan.toml").write_text(f"[{kind}]\n" + "".join(f'{name} = "x"\n' for name in names))
    found = find_configuration({kind: names_in_configuration(_command(kind))}, folder=tmp_path)
    assert found is not None
    assert len(found.commands[kind]) == len(names)


@pytest.mark.parametrize("wrong", [5, None, object(), "", b"plan.json", ["x"]])
def test_what_is_no_plan_or_problem(wrong: Any, figure_2: ftplan.Problem, replication: ftplan.Plan) -> None:
    for call in (
        lambda: verify(wrong, figure_2),
        lambda: ftplan.evaluate(wrong, figure_2),
        lambda: explain(wrong, figure_2, "operator:p01"),
        lambda: diff(wrong, replication),
        lambda: diff(replication, wrong),
    ):
        with pytest.raises(ftplan.FtplanError, match=r"^plan: .* is not a plan"):
            call()
    with pytest.raises(ftplan.FtplanError, match=r"^problem: .* is not what ftplan.load returns"):
        ftplan.plan("replicate-tasks", wrong, budget=1)
    if wrong is not None:  # without a problem the inputs are those that the plan names
        with pytest.raises(ftplan.FtplanError, match=r"^problem: .* is not what ftplan.load returns"):
            verify(replication, wrong)
    if wrong is not None:
        with pytest.raises(ftplan.FtplanError):
            ftplan.plan("replicate-tasks", figure_2, algorithm=wrong, budget=1)
    with pytest.raises(ftplan.FtplanError):
        ftplan.plan(wrong, figure_2)


@pytest.fixture(scope="module")
def replication(figure_2: ftplan.Problem) -> ftplan.Plan:
    return ftplan.plan("replicate-tasks", figure_2, budget=3)


def test_plans_may_be_paths_and_documents(figure_2: ftplan.Problem, tmp_path: Path) -> None:
    figure_2 = ftplan.load(topology=FIGURE_2 / "topology.yaml")
    replication = ftplan.plan("replicate-tasks", figure_2, budget=3)
    (tmp_path / "plan.json").write_text(replication.to_json())
    for given in (tmp_path / "plan.json", str(tmp_path / "plan.json"), json.loads(replication.to_json())):
        assert verify(given, figure_2).valid
        assert ftplan.evaluate(given, figure_2) == ftplan.evaluate(replication, figure_2)
        assert explain(given, figure_2, "task:p03/0") == explain(replication, figure_2, "task:p03/0")
        assert not diff(given, replication, figure_2).changed
    with pytest.raises(ftplan.FtplanError, match=r"plan\.jsn: no such file.*did you mean"):
        ftplan.evaluate(tmp_path / "plan.jsn", figure_2)


def test_what_a_plan_records_is_checked_too(figure_2: ftplan.Problem, replication: ftplan.Plan) -> None:
    document = {**json.loads(replication.to_json())}
    document["options"] = {**document["options"], "max_cpu": "x" * 500}
    with pytest.raises(ftplan.FtplanError, match=r"the plan's options.max_cpu: 'x+… is not a number") as error:
        verify(document, figure_2)
    assert len(str(error.value)) < 200
