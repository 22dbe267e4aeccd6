"""Damaged recovery costs: an answer, or one line."""

from __future__ import annotations

import json
import warnings
from random import Random
from typing import Any

import numpy as np
import yaml

import ftplan
from ftplan.api import verify
from tests.effort import examples
from tests.fuzz.corpus import EXAMPLES, SMALL
from tests.fuzz.judge import Judged
from tests.fuzz.mutations import mutated

COSTS = yaml.safe_load((EXAMPLES / "storm-recovery" / "recovery.yaml").read_text())


def _interval(costs: Any, random: Random) -> Any:
    answer = ftplan.checkpoint_interval(
        costs=costs,
        checkpoint_cost_s=random.choice([1e-9, 0.5, 3600.0]),
        mtbf_s=random.choice([1e-3, 3600.0, 1e9]),
        rate=random.choice([0.0, 2000.0, 1e15]),
        max_recovery_s=random.choice([None, 1e-9, 300.0, 1e9]),
    )
    json.loads(answer.to_json())
    return answer


def test_whatever_the_costs_say() -> None:
    faults: list[str] = []
    problem = ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml")
    asked = {"fail": ["node:n1"], "algorithm": "best-density", "iterations": 1, "samples": 3, "time_limit_s": 3600.0}
    with warnings.catch_warnings(), np.errstate(divide="warn", over="warn", invalid="warn"):
        warnings.simplefilter("error")
        for number in range(examples(300)):
            random = Random(number)
            document, done = mutated(COSTS, random)
            judged = Judged(number, done)
            judged.step("checkpoint-interval", lambda d=document, r=random: _interval(d, r))
            if number % 10 == 0:
                objective = random.choice(["priority", "priority-time", "fidelity-time"])
                plan = judged.step(
                    "recovery-schedule",
                    lambda d=document, o=objective: ftplan.plan(
                        "recovery-schedule", problem, costs=d, objective=o, **asked
                    ),
                )
                verdict = None if plan is None else judged.step("verify", lambda p=plan: verify(p, problem))
                if verdict is not None and not verdict.valid:
                    judged.faults.append(verdict.violations[0].message)
            faults += [f"{number} {done}: {fault}" for fault in judged.faults]
    assert faults == []
