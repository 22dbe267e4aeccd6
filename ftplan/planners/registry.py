"""Every planner there is, as plain rows. Importing this loads no solver."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pkgutil import resolve_name
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model import kinds
from ftplan.model.kinds import FORMER


@dataclass(frozen=True, slots=True)
class Row:
    """A planner: the kind of plan that it makes, where its function is, and what it promises."""

    name: str
    kind: str
    function: str  # "module:function"
    exact: bool
    guarantee: str
    source: str
    default: bool = False

    @property
    def command(self) -> str:
        """The command that makes its kind of plan."""
        return kinds.row(self.kind).command

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, and the command, by name."""
        return {**asdict(self), "command": self.command}


ROWS: tuple[Row, ...] = (
    Row(
        name="baseline",
        kind="allocate-checkpoints",
        function="ftplan.planners.allocate_checkpoints.algorithms.baseline:baseline",
        exact=False,
        guarantee="none: random, never on the primary's node, copies on different nodes",
        source="Madsen & Zhou, CIKM 2015, section 7 (Baseline)",
    ),
    Row(
        name="even",
        kind="allocate-checkpoints",
        function="ftplan.planners.allocate_checkpoints.algorithms.even:even",
        exact=False,
        guarantee="at most ceil(copies / nodes) copies on a node; random within that",
        source="Madsen & Zhou, CIKM 2015, section 7 (Even Distribution)",
    ),
    Row(
        name="correlated",
        kind="allocate-checkpoints",
        function="ftplan.planners.allocate_checkpoints.algorithms.correlated:correlated",
        exact=False,
        guarantee="optimal without a balance rule; heuristic with one",
        source="Madsen & Zhou, CIKM 2015, Algorithm 3, mended",
        default=True,
    ),
    Row(
        name="exact",
        kind="allocate-checkpoints",
        function="ftplan.planners.allocate_checkpoints.algorithms.exact:exact",
        exact=True,
        guarantee="optimal, or the proven gap at the time limit",
        source="generalised assignment: Lagrangian dual, reduced costs, branch and cut (SCIP); flow for counts",
    ),
    Row(
        name="operator-centric",
        kind="recovery-schedule",
        function="ftplan.planners.recovery_schedule.algorithms.operator_centric:operator_centric",
        exact=False,
        guarantee="none: the cheapest task whose upstream lives, without a look at queries",
        source="Su & Zhou, technical report, section 7 (OC)",
    ),
    Row(
        name="best-density",
        kind="recovery-schedule",
        function="ftplan.planners.recovery_schedule.algorithms.best_density:best_density",
        exact=False,
        guarantee="(1 - e^(-1/d)) of each step's optimum where no failed task is in more than d failed queries",
        source="Su & Zhou, technical report, Algorithm 3, mended",
    ),
    Row(
        name="dynamic-programming",
        kind="recovery-schedule",
        function="ftplan.planners.recovery_schedule.algorithms.dynamic_programming:dynamic_programming",
        exact=True,
        guarantee="each step optimal, over time only where tasks are few; refuses more queries than it can take",
        source="Su & Zhou, technical report, Algorithm 4 (appendix B), mended",
    ),
    Row(
        name="local-search",
        kind="recovery-schedule",
        function="ftplan.planners.recovery_schedule.algorithms.local_search:local_search",
        exact=False,
        guarantee="none; reaches the best published values of set-union knapsacks",
        source="tabu search with strategic oscillation, after Glover & Kochenberger",
    ),
    Row(
        name="exact",
        kind="recovery-schedule",
        function="ftplan.planners.recovery_schedule.algorithms.exact:exact",
        exact=True,
        guarantee="each step, or over time the whole repair, optimal, or the proven gap at the time limit",
        source="closure bounds by minimum cuts, reduction, branch and bound; over time an interval model (CP-SAT)",
    ),
    Row(
        name="auto",
        kind="recovery-schedule",
        function="ftplan.planners.recovery_schedule.algorithms.auto:auto",
        exact=True,
        guarantee="each step, or over time the whole repair, as well as time allows, with the best bound of any",
        source="best-density, exact, local-search, exact",
        default=True,
    ),
    Row(
        name="greedy",
        kind="replicate-tasks",
        function="ftplan.planners.replicate_tasks.algorithms.greedy:greedy",
        exact=False,
        guarantee="none: the tasks whose single failure costs most, no look at MC-trees; improved with a cluster",
        source="Su & Zhou, ICDE 2016, Algorithm 2",
    ),
    Row(
        name="dynamic-programming",
        kind="replicate-tasks",
        function="ftplan.planners.replicate_tasks.algorithms.dynamic_programming:dynamic_programming",
        exact=True,
        guarantee="optimal; refuses more MC-trees than it can take",
        source="Su & Zhou, ICDE 2016, Algorithm 1, mended",
    ),
    Row(
        name="structure-aware",
        kind="replicate-tasks",
        function="ftplan.planners.replicate_tasks.algorithms.structure_aware:structure_aware",
        exact=False,
        guarantee="none but that more budget is no worse on nodes; completes MC-trees whose replicas find nodes",
        source="Su & Zhou, ICDE 2016, Algorithms 3, 4 and 5, mended",
        default=True,
    ),
    Row(
        name="exact",
        kind="replicate-tasks",
        function="ftplan.planners.replicate_tasks.algorithms.exact:exact",
        exact=True,
        guarantee="optimal, or the proven gap at the time limit",
        source="tables of the best value at each cost, integer program over tasks and nodes, branch and bound",
    ),
    Row(
        name="greedy",
        kind="drain-schedule",
        function="ftplan.planners.drain_schedule.algorithms.greedy:greedy",
        exact=False,
        guarantee="never more rounds than one by one or zone by zone; a proven bound from cliques, zones and numbers",
        source="DSATUR (Brelaz 1979), iterated greedy colouring, tabu search on partial colourings",
    ),
    Row(
        name="exact",
        kind="drain-schedule",
        function="ftplan.planners.drain_schedule.algorithms.exact:exact",
        exact=True,
        guarantee="the fewest rounds, or the proven gap at the time limit",
        source="branch and bound, integer program (CP-SAT), column generation (Mehrotra & Trick 1996)",
        default=True,
    ),
    Row(
        name="adaptive",
        kind="rebalance",
        function="ftplan.planners.rebalance.algorithms.adaptive:adaptive",
        exact=False,
        guarantee="no needless move; phases in which no node is overloaded; a proven bound",
        source="Madsen & Zhou, CIKM 2015, section 7.1: the most with the least loaded node; local search, dual bound",
        default=True,
    ),
    Row(
        name="exact",
        kind="rebalance",
        function="ftplan.planners.rebalance.algorithms.exact:exact",
        exact=True,
        guarantee="least cost of all moves, or the proven gap at the time limit",
        source="integer programs over key groups and nodes; what no phase can take is cut off",
    ),
    Row(
        name="exact",
        kind="scale-out",
        function="ftplan.planners.scale_out.algorithms.exact:exact",
        exact=True,
        guarantee="most sustained load, then fewest cores, or the proven gap at the time limit",
        source="every parallelism with the best ranges; integer program over levels, tasks and nodes (CP-SAT)",
        default=True,
    ),
    Row(
        name="ds2",
        kind="scale-out",
        function="ftplan.planners.scale_out.algorithms.baselines:ds2",
        exact=False,
        guarantee="none: demand over the true rate of a task, even key ranges, no look at skew",
        source="Kalavri et al., OSDI 2018 (DS2)",
    ),
    Row(
        name="doubling",
        kind="scale-out",
        function="ftplan.planners.scale_out.algorithms.baselines:doubling",
        exact=False,
        guarantee="none: twice the tasks of a bottleneck, even key ranges",
        source="Mudassar et al. 2019, Algorithms 1 to 3",
    ),
    Row(
        name="exact",
        kind="peer-ring",
        function="ftplan.planners.peer_ring.algorithms.exact:exact",
        exact=True,
        guarantee="fewest zone violations, then least largest load, then fewest bytes, each optimal or with its gap",
        source="zone order by blocks or integer program (CP-SAT); circular partition; dynamic programming over cuts",
        default=True,
    ),
    Row(
        name="paper",
        kind="peer-ring",
        function="ftplan.planners.peer_ring.algorithms.paper:paper",
        exact=False,
        guarantee="none: random tokens, then neighbours take half an arc of the overloaded; a proven bound",
        source="Kumbhare et al. 2015, sections V-A and VI",
    ),
    Row(
        name="virtual-nodes",
        kind="peer-ring",
        function="ftplan.planners.peer_ring.algorithms.virtual_nodes:virtual_nodes",
        exact=False,
        guarantee="none: many hashed tokens a node, no look at load or zones; a node that joins moves only its arcs",
        source="DeCandia et al., SOSP 2007 (Dynamo)",
    ),
)


def rows(command: str | None = None) -> tuple[Row, ...]:
    """Return the planners of one command, or all."""
    return tuple(row for row in ROWS if command in (None, row.command, row.kind))


def row(command: str, name: str | None) -> Row:
    """Return the planner called *name* of a command (or kind of plan); None means the default.

    Raises
    ------
    FtplanError
        If the command has no such planner.
    """
    candidates = rows(command)
    if not candidates:
        if command in FORMER:
            raise FtplanError(f"kind of plan {command!r}: is now {FORMER[command]!r}")
        known = sorted({r.command for r in ROWS})
        raise FtplanError(f"unknown kind of plan {command!r}{suggestion(command, known)}: one of {', '.join(known)}")
    for candidate in candidates:
        if candidate.name == name or (name is None and candidate.default):
            return candidate
    names = [r.name for r in candidates]
    raise FtplanError(f"--algorithm: unknown {name!r}{suggestion(str(name), names)}: one of {', '.join(names)}")


def load(planner: Row) -> Callable[..., Any]:
    """Import and return a planner's function."""
    loaded: Callable[..., Any] = resolve_name(planner.function)
    return loaded


def beside(planner: Row, name: str) -> Callable[..., Any] | None:
    """Import and return a function that stands in a planner's module, such as ``curve``; None where it has none."""
    module = importlib.import_module(planner.function.partition(":")[0])
    found: Callable[..., Any] | None = getattr(module, name, None)
    return found
