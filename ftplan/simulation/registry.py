"""The simulations there are, as plain rows, and the function that carries one out by its name.

Importing this loads nothing else: ``ftplan.simulate``, the schema of documents and the command line find the parts of
a simulation here, each in the file of its folder that is named for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ftplan.model.problem import Problem

#: Says how far a simulation is: a sentence and a share of 1.
Report = Callable[[str, float | None], None]
#: The format of the documents of all simulations.
FORMAT = "ftplan/simulation"


@dataclass(frozen=True, slots=True)
class SimulationRow:
    """A simulation as data."""

    name: str  # what the command line calls it; the kind of its documents
    summary: str  # what the list of commands says of it
    plot: str = ""  # what the help says of ``--plot``; empty without a picture
    takes_failure: bool = False  # whether a failure file is one of its inputs

    @property
    def folder(self) -> str:
        """The package of the simulation."""
        return f"ftplan.simulation.{self.name}"

    def part(self, place: str) -> Any:
        """Import and return a part of the simulation, such as ``options:OPTIONS``.

        These are ``options:OPTIONS`` (a dataclass), ``options:HELP`` (the help of the command), ``simulate:simulate``
        (from inputs and options to an answer), ``document:MODEL`` (of its documents), and from a document
        ``view:tables`` and ``view:simulation_figure``.
        """
        return resolve_name(f"{self.folder}.{place}")


ROWS: tuple[SimulationRow, ...] = (
    SimulationRow(
        "recovery",
        "A failure and the recovery from it, batch by batch.",
        plot="Draw what is back, latency, lag and buffers over time, as .svg or .png.",
        takes_failure=True,
    ),
    SimulationRow(
        "migration",
        "Key groups that move: a plan's moves message by message, or adaptation over time.",
    ),
    SimulationRow(
        "scaling",
        "Operators that are split while they run: queues, latency and tasks over time.",
        plot="Draw latency, queue, throughput and tasks over time, as .svg or .png.",
    ),
    SimulationRow(
        "ring",
        "A peer ring at work: failures, take-overs, load that moves, nodes that join and leave.",
        plot="Draw queues, kept records, rates and latency over time, .svg or .png.",
        takes_failure=True,
    ),
)
BY_NAME = {row.name: row for row in ROWS}


def document_models() -> dict[str, Any]:
    """Import and return the model of the documents of each simulation, by name."""
    return {row.name: row.part("document:MODEL") for row in ROWS}


def simulate(what: str, problem: Problem, plan: Any = None, *, progress: Report | None = None, **options: Any) -> Any:
    """Play a plan through, message by message or batch by batch.

    Parameters
    ----------
    what
        ``recovery``, ``migration``, ``scaling`` or ``ring``.
    problem
        The inputs, as ``ftplan.load`` returns them: those that the plan was made from; without a plan, what
        ``ftplan simulate`` takes without one.
    plan
        The plan, its path or its document; None does what ``ftplan simulate`` does without one.
    progress
        Called with a sentence and a share of 1 as runs are done.
    options
        Those of ``ftplan simulate`` and *what*, with underscores, for instance ``runs=100, batch_s=1.0``.

    Returns
    -------
    RecoverySimulation, MigrationSimulation, ScalingSimulation or RingSimulation
        What came out: ``to_dict()`` and ``to_json()``; recoveries, scalings and rings have ``to_frame()`` too.

    Raises
    ------
    FtplanError
        If there is no simulation of this name, an option is unknown or wrong, an input is missing or does not fit, or
        nothing is done in time.
    """
    from ftplan.io.options.fields import PLAN, checked
    from ftplan.io.options.parameters import a_problem

    if not isinstance(what, str) or what not in BY_NAME:
        from ftplan.errors import FtplanError, suggestion
        from ftplan.io.options.fields import quoted

        near = suggestion(what, BY_NAME) if isinstance(what, str) else ""
        raise FtplanError(f"simulate: {quoted(what)} is not one of {', '.join(BY_NAME)}{near}")
    row, command = BY_NAME[what], f"simulate {what}"
    problem = a_problem(problem)
    request = row.part("options:OPTIONS").of(command, options)
    given = checked(command, {"plan": PLAN}, {"plan": plan})["plan"]
    return row.part("simulate:simulate")(problem, given, request, progress)
