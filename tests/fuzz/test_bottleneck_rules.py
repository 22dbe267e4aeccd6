"""Damaged rules of bottlenecks: scores within reach, a plan that verifies, or one line."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import yaml

import ftplan
from ftplan.api import verify
from ftplan.planners.scale_out.bottlenecks.fuzzy_inference import reachable, scores
from ftplan.planners.scale_out.bottlenecks.rules_file import SHIPPED, load_bottleneck_rules
from tests.effort import examples
from tests.fuzz.corpus import SMALL
from tests.fuzz.judge import Judged
from tests.fuzz.mutations import mutated

RULES = yaml.safe_load(SHIPPED.read_text("utf-8"))
POINTS = np.random.default_rng(0).uniform(0.0, 100.0, (200, 3))


def _scored(document: Any) -> None:
    """Score tasks by rules; raises AssertionError where a score is unknown or out of reach."""
    rules = load_bottleneck_rules(document).value
    low, high = reachable(rules)
    found = scores(rules, POINTS)
    assert 0.0 <= low <= high <= 100.0
    assert np.all((low - 1e-6 <= found) & (found <= high + 1e-6))


def _planned(document: Any) -> None:
    topology = yaml.safe_load((SMALL / "topology.yaml").read_text())
    topology["operators"][1]["record_time_s"] = 4.0
    problem = ftplan.load(topology=topology, stats=SMALL / "stats")
    plan = ftplan.plan("scale-out", problem, rules=document, iterations=1, forecast="none", time_limit_s=3600.0)
    verdict = verify(plan, problem)
    assert verdict.valid, verdict.violations[0].message


def test_whatever_the_rules_say() -> None:
    faults: list[str] = []
    with warnings.catch_warnings(), np.errstate(divide="warn", over="warn", invalid="warn"):
        warnings.simplefilter("error")
        for number in range(examples(90)):
            document, done = mutated(RULES, Random(number))
            judged = Judged(number, done)
            judged.step("scores", lambda d=document: _scored(d))
            if number % 10 == 0:
                judged.step("scale-out", lambda d=document: _planned(d))
            faults += [f"{number} {done}: {fault}" for fault in judged.faults]
    assert faults == []
