"""The Python face of simulations: a problem, and a plan where there is one; out comes what would happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

from ftplan.errors import FtplanError, suggestion
from ftplan.io.fingerprint import sha256_of_bytes
from ftplan.io.options.fields import PLAN, PlanSource, checked, quoted
from ftplan.io.options.parameters import a_problem
from ftplan.io.plan_file import load_plan
from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.planners import registry
from ftplan.planners.deployed import recorded
from ftplan.planners.plan_inputs import a_plan

if TYPE_CHECKING:
    from ftplan.api.simulating.answer import RecoverySimulation
    from ftplan.api.simulating.runs import Report, SimulatedRuns
    from ftplan.api.simulating.scene import Scene
    from ftplan.api.simulating.settings import Contender
    from ftplan.model.problem import Problem

#: What can be simulated, each with the function that does.
SIMULATIONS = {
    "recovery": "ftplan.api.simulating.simulate:simulate_recovery",
    "tentative-output": "ftplan.api.tentative.simulate:simulate_tentative_output",
    "migration": "ftplan.api.migrating.simulate:simulate_migration",
    "scaling": "ftplan.api.scaling.simulate:simulate_scaling",
    "ring": "ftplan.api.ring_simulation.simulate:simulate_peer_ring",
}


def simulate(what: str, *given: Any, **options: Any) -> Any:
    """Play a plan through, message by message or batch by batch.

    Parameters
    ----------
    what
        ``recovery``, ``migration``, ``scaling``, ``ring`` or ``tentative-output``.
    given
        The inputs, as ``ftplan.load`` returns them, and the plan, its path or its document; without a plan, what
        ``ftplan simulate`` does without one. For ``tentative-output`` the paths of logs.
    options
        Those of ``ftplan simulate`` and *what*, with underscores, for instance ``runs=100, batch_s=1.0``; and
        ``progress``, called with a sentence and a share of 1 as runs are done.

    Returns
    -------
    RecoverySimulation, MigrationSimulation, ScalingSimulation, RingSimulation or TentativeOutput
        What came out: ``to_dict()`` and ``to_json()``; recoveries, scalings and rings have ``to_frame()`` too.

    Raises
    ------
    FtplanError
        If there is no simulation of this name, or as it says.
    """
    if not isinstance(what, str) or what not in SIMULATIONS:
        near = suggestion(what, SIMULATIONS) if isinstance(what, str) else ""
        raise FtplanError(f"simulate: {quoted(what)} is not one of {', '.join(SIMULATIONS)}{near}")
    return resolve_name(SIMULATIONS[what])(*given, **options)


def simulate_recovery(
    problem: Problem,
    plan: Plan | PlanSource | None = None,
    *,
    progress: Report | None = None,
    **options: Any,
) -> RecoverySimulation:
    """Simulate a failure and the recovery from it, batch by batch.

    Parameters
    ----------
    problem
        Topology, cluster with a placement, failure; statistics where there are some.
    plan
        A recovery schedule, its path or its document; None: one is made at each failure and arrival of each run.
    progress
        Called with a sentence and a share of 1 as runs are done.
    options
        The fields of :class:`ftplan.api.simulating.options.RecoverySimulationOptions`, for instance
        ``fail=["zone:rack-a"], mode=["incremental", "blocking"], runs=100``.

    Returns
    -------
    RecoverySimulation
        What each mode and plan was like, and how they differ; all met the same random numbers.

    Raises
    ------
    FtplanError
        If an option is unknown or wrong, an input is missing or does not fit, nothing fails, or the job would not keep
        up with its input.
    """
    from ftplan.api.simulating.answer import RecoverySimulation, compared, recovery_document
    from ftplan.api.simulating.horizon import until_back
    from ftplan.api.simulating.options import RecoverySimulationOptions
    from ftplan.api.simulating.runs import all_runs, cell_ends, deadline
    from ftplan.api.simulating.scene import scene_of

    problem = a_problem(problem)
    asked = RecoverySimulationOptions.of("simulate recovery", options)
    given = checked("simulate recovery", {"plan": PLAN}, {"plan": plan})["plan"]
    plans = [GivenPlan.of(given, "plan"), GivenPlan.of(asked.against, "against")]
    scene = scene_of(problem, plans[0].plan, asked)
    contenders, ends = _contenders(scene, plans), deadline(asked)
    scene = until_back(scene, contenders, ends)
    by_contender = all_runs(scene, contenders, progress, ends)
    documents = [recovery_document(one, runs, scene) for one, runs in zip(contenders, by_contender, strict=True)]
    done = len(by_contender[0].summaries)
    said = [*_of_runs(contenders, by_contender, asked.runs), *_not_back(documents, done, scene.until_s)]
    return RecoverySimulation(
        options=scene.options,
        files=scene.files | {"against": recorded(asked.against, plans[1].path)},
        runs=done,
        checkpoint_interval_s=scene.checkpoint_s,
        until_s=scene.until_s,
        time_s=cell_ends(scene),
        recoveries=tuple(documents),
        comparison=compared(documents, by_contender),
        inputs=(*scene.inputs, *(item.file for item in plans if item.file is not None)),
        warnings=tuple(dict.fromkeys((*scene.warnings, *said))),
    )


class GivenPlan(NamedTuple):
    """A plan that was given, what messages call it, and its fingerprint; None for none."""

    plan: Plan | None
    name: str
    file: InputFile | None

    @classmethod
    def of(
        cls, given: Any, role: str, kind: str = RECOVERY_SCHEDULE.name, command: str = "simulate recovery"
    ) -> GivenPlan:
        """Read a plan of a kind that was given as one, as a path or as a document.

        Raises
        ------
        FtplanError
            If it cannot be read, is of another kind, or holds no answer.
        """
        if given is None:
            return cls(None, role, None)
        if isinstance(given, Plan):
            plan, file = given, InputFile(role, None, sha256_of_bytes(given.to_json().encode()))
        else:
            loaded = load_plan(given)
            plan, file = loaded.value, replace(loaded.input, role=role)
        name = file.path or role
        if plan.kind != kind:
            raise FtplanError(f"{name}: is a plan of kind {plan.kind}: {command} takes a {kind}")
        if plan.plan is None:
            raise FtplanError(f"{name}: holds no answer, its status is {plan.status} ({plan.reason})")
        return cls(a_plan(plan), name, file)

    @property
    def path(self) -> str | None:
        """Where it was read."""
        return None if self.file is None else self.file.path


def _contenders(scene: Scene, plans: Sequence[GivenPlan]) -> list[Contender]:
    """Return each mode with each plan, the first plan first."""
    from ftplan.api.simulating.schedules import GivenSchedule
    from ftplan.api.simulating.settings import Contender

    first, other = (None if item.plan is None else GivenSchedule.of(item.plan, item.name, scene) for item in plans)
    schedules = [first] if other is None else [first, other]
    algorithm = scene.options.algorithm or registry.row(RECOVERY_SCHEDULE.name, None).name
    return [Contender(mode, schedule, algorithm) for mode in scene.options.modes for schedule in schedules]


def _of_runs(contenders: Sequence[Contender], by_contender: Sequence[SimulatedRuns], runs: int) -> Iterator[Warn]:
    """Say what is wrong with plans that were given, what was said when plans were made, and which runs are missing."""
    for one in contenders:
        yield from one.schedule.warnings if one.schedule is not None else ()
    for own in by_contender:
        yield from own.warnings
    done = len(by_contender[0].summaries)
    if done < runs:
        yield Warn("RUNS_CUT", f"the time limit left out {runs - done:,} of {runs:,} runs")


def _not_back(recoveries: Sequence[Mapping[str, Any]], runs: int, until_s: float) -> Iterator[Warn]:
    """Say which recoveries had not ended when their simulation did."""
    for recovery in recoveries:
        count = sum(query["runs_not_back"] > 0 for query in recovery["queries"])
        if count:
            most = max(query["runs_not_back"] for query in recovery["queries"])
            queries = "1 query is" if count == 1 else f"{count:,} queries are"
            where = "" if runs == 1 else f" in up to {most:,} of {runs:,} runs"
            text = f"{recovery['mode']}: {queries} not back at {until_s:g} s{where}: --until simulates longer"
            yield Warn("NOT_BACK", text)
