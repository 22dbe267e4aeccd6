"""What a plan's objective rests on although no input says it: what was assumed for the user.

Some of it is noticed where it is taken, and is a warning too; the rest follows here from what was not asked or stated.
A proof holds for these assumptions only, so that verdicts name how many they are, and ``--strict-inputs`` refuses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ftplan.costs.given_costs import CHECKPOINT_AGE
from ftplan.model.defaults import MEAN_UTILISATION
from ftplan.model.plan import Assumption, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation

#: Seconds of statistics below which it is an assumption that they stand for what comes.
SHORT_S = 3600.0
#: Objectives that do not depend on how long anything takes.
TIMELESS = ("priority",)


def assumptions_of(
    problem: Problem, options: Mapping[str, Any], warnings: Iterable[Warn], objective: str
) -> tuple[Assumption, ...]:
    """Return what the objective depends on and nothing says, each once.

    Parameters
    ----------
    options
        As a plan records them, by name.
    warnings
        Of the plan; those that are assumptions count.
    """
    noticed = [warning for warning in warnings if isinstance(warning, Assumption)]
    if objective in TIMELESS:
        noticed = [item for item in noticed if not item.of_time]
    found = [*noticed, *_capacity(options), *_memory(problem, options), *_statistics(problem)]
    if "fidelity" in objective:
        found += _rates(problem)
    if objective not in TIMELESS:
        found += [*_detection(objective, options), *_checkpoint_age(problem, options)]
    return tuple(dict.fromkeys(found))


def judge_assumptions(plan: Plan, problem: Problem) -> tuple[list[Violation], tuple[str, ...]]:
    """Hold what a plan says it assumed to what follows from its options and inputs, and to its own warnings.

    Also returns what was not recomputed: the values of those that are warnings too.
    """
    if plan.assumptions is None or plan.objective is None or not plan.options:
        return [], ()
    follow = assumptions_of(problem, plan.options, (), plan.objective.name)
    said = {(warning.code, warning.message) for warning in plan.warnings}
    noticed = [item for item in plan.assumptions if (item.code, item.message) in said]
    own = [item for item in plan.assumptions if item not in noticed]
    wrong = [item for item in own if item not in follow] + [item for item in follow if item not in own]
    if len(own) != len(set(own)) or len(noticed) != len(set(noticed)):
        wrong += own[:1]
    text = "the objective rests on other assumptions than the plan states: {}"
    broken = [Violation("ASSUMPTIONS_DIFFER", text.format(item.code), "assumptions") for item in wrong[:1]]
    return broken, tuple(f"assumptions[{plan.assumptions.index(item)}]" for item in noticed)


def _detection(objective: str, options: Mapping[str, Any]) -> Iterator[Assumption]:
    recovers = objective in ("priority-time", "fidelity-time") or options.get("then_recover")
    if recovers and options.get("costs") is None:
        text = "failures are noticed and tasks start again in no time; --costs says what both take"
        yield Assumption("DETECTION_ASSUMED", text, 0.0)


def _checkpoint_age(problem: Problem, options: Mapping[str, Any]) -> Iterator[Assumption]:
    if not options.get("replay") or options.get("checkpoint_age") is not None or options.get("costs") is not None:
        return
    assert problem.topology is not None
    if any(operator.checkpoint.interval_s is not None for operator in problem.topology.operators):
        text = f"the failure comes {CHECKPOINT_AGE:g} of an interval after the last checkpoint; --checkpoint-age says"
        yield Assumption("CHECKPOINT_AGE_ASSUMED", text, CHECKPOINT_AGE)


def _capacity(options: Mapping[str, Any]) -> Iterator[Assumption]:
    derived = options.get("capacity_per_core")
    if derived is None or options.get("capacity_per_core_requested", 0.0) is not None:
        return
    if options.get("load") == "cpu_ms":
        return
    text = (
        f"a core does {derived:.4g} units of load per second, by which nodes are {MEAN_UTILISATION:.0%} busy on "
        "average; --capacity-per-core says"
    )
    yield Assumption("CAPACITY_ASSUMED", text, float(derived))


def _memory(problem: Problem, options: Mapping[str, Any]) -> Iterator[Assumption]:
    if "copies" not in options and "same_zone" not in options and "protocol" not in options:
        return  # only plans of copies, replicas and moves put state where there was none
    assert problem.topology is not None
    unknown = [] if problem.cluster is None else [node for node in problem.cluster.nodes if node.memory_mb is None]
    if unknown and any(np.any(operator.state_bytes) for operator in problem.topology.operators):
        named = unknown[0].id if len(unknown) == 1 else f"{unknown[0].id} and {len(unknown) - 1:,} more"
        text = f"nodes without memory_mb have room for all state ({named})"
        yield Assumption("MEMORY_ASSUMED", text, None)


def _rates(problem: Problem) -> Iterator[Assumption]:
    assert problem.topology is not None
    stated = any(operator.rate_out is not None for operator in problem.topology.operators)
    if problem.stats is None and not stated and all(edge.substreams is None for edge in problem.topology.edges):
        text = "each task of a source sends 1 record/s; rate_out in the topology, or statistics, say"
        yield Assumption("RATES_ASSUMED", text, 1.0)


def _statistics(problem: Problem) -> Iterator[Assumption]:
    if problem.stats is None:
        return
    manifest = problem.stats.manifest
    length_s = (manifest.end - manifest.start).total_seconds()
    if length_s < SHORT_S:
        text = f"{length_s:g} s of statistics stand for what comes"
        yield Assumption("STATISTICS_SHORT", text, length_s)
