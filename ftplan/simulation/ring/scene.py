"""What is simulated: the ring of a plan or of nodes in place, its load, times, and what happens to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.loading import load
from ftplan.io.options.fields import flag
from ftplan.model.defaults import DELAY_S
from ftplan.model.kinds import PEER_RING
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.prepare import PreparedRing, prepare
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.ring.events import failures, leaves, surges, times_of
from ftplan.simulation.ring.layout import Pieces, SimulatedNodes, cut
from ftplan.simulation.ring.options import EVEN, INSTEAD, RingSimulationOptions
from ftplan.simulation.ring.setting import RingSetting, RingTiming
from ftplan.simulation.scene import GivenPlan

COMMAND = "simulate ring"
#: Of the ring that is simulated where no topology is given ([Kumbhare2015], figure 8 b).
NODES, RATE, GROUPS_A_NODE, STATE_BYTES = 12, 15_000.0, 64, 2.0**20
#: What is said of a failure file where a ring is planned, and is not so where one is simulated.
PLANNED_ONLY = "LATER_FAILURES"
#: Share of the bound of latency that clocks differ by, where nobody says.
SKEW = 0.9


@dataclass(frozen=True, eq=False)
class RingScene:
    """What all runs have in common.

    ``setting`` is that of the first run; ``pieces`` tells which key groups its positions are.
    """

    setting: RingSetting
    pieces: Pieces
    prepared: PreparedRing
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]

    def key_groups(self, pieces: IntArray) -> list[str]:
        """Return the key groups of some pieces, as OPERATOR/NUMBER, in the order of the ring."""
        problem = self.prepared.problem
        piece_of = np.searchsorted(self.pieces.first, problem.atom, side="right") - 1
        found = np.flatnonzero(np.isin(piece_of, pieces))
        found = found[np.lexsort((found, problem.atom[found]))]
        return [f"{problem.operators[k]}/{int(problem.key_group[k])}" for k in found.tolist()]


def scene_of(problem: Problem, plan: Any, options: RingSimulationOptions) -> RingScene:
    """Return what is simulated.

    Raises FtplanError if an input is missing or does not fit, or options ask for what cannot be.
    """
    given = GivenPlan.of(plan, "plan", PEER_RING.name, COMMAND)
    if given.plan is None:
        problem, assumed = _with_defaults(problem, options)
        prepared = prepare(problem, PeerRingOptions.of(COMMAND, _instead(options)))
        ring = _ring(prepared, options)
    else:
        _alone(options)
        assumed, prepared = (), question_of(given.plan, problem, **_instead(options))
        ring = ring_of(given.plan, prepared.problem)
    if ring.tier is not None:
        raise FtplanError(f"{COMMAND}: tiered copies are not simulated: plan without --tier")
    _check_copies(ring, prepared)
    nodes = SimulatedNodes.of(prepared, ring, options.spares)
    times = times_of(prepared, problem, options, len(nodes.names))
    factor = _rate_factor(prepared, options)
    pieces = cut(prepared.problem, ring, times.batches(options.mappers))
    setting = RingSetting(
        nodes=nodes.names,
        ring=ring,
        replication=prepared.problem.replication,
        position=pieces.position,
        rate=pieces.sums(prepared.problem.rate) * factor,
        work=_work(pieces, prepared),
        state_bytes=pieces.sums(prepared.problem.state),
        capacity=nodes.capacity,
        replay_rate=nodes.replay_rate,
        timing=_timing(prepared, options),
        failures=failures(prepared, problem, options, times),
        leaves=leaves(prepared, ring, options, times),
        spares=nodes.spares,
        thresholds=prepared.problem.thresholds if options.balance else None,
        window_s=options.window_s,
        mappers=options.mappers,
        tick_s=times.tick_s,
        until_s=times.until_s,
        every_s=times.every_s,
        seed=options.seed,
    )
    setting = replace(setting, surges=surges(setting, options, times))
    files = (given.file,) if given.file is not None else ()
    known = (warning for warning in prepared.problem.warnings if warning.code != PLANNED_ONLY)
    warnings = (*assumed, *problem.warnings, *known, *pieces.warnings, *_doubts(setting))
    inputs = (*problem.inputs, *prepared.inputs, *files)
    return RingScene(setting, pieces, prepared, inputs, tuple(dict.fromkeys(warnings)))


def _with_defaults(problem: Problem, options: RingSimulationOptions) -> tuple[Problem, tuple[Warn, ...]]:
    """Return a problem with the topology and the cluster that it lacks: one operator, nodes that are alike."""
    if options.nodes is not None and problem.cluster is not None:
        raise FtplanError("--nodes: the cluster file says which nodes there are: give one of the two")
    many = options.nodes or (NODES if problem.cluster is None else len(problem.cluster.nodes))
    assumed, given = list[Warn](), dict[str, Any]()
    if problem.topology is None:
        if problem.stats is not None:
            raise FtplanError("--stats: without a topology nothing tells whose they are: give --topology")
        groups = min(GROUPS_A_NODE * many, 2**15)
        given["topology"] = _topology(options.rate or RATE, groups)
        text = f"no topology is given: one operator of {groups:,} key groups is simulated, all alike"
        assumed.append(Warn("TOPOLOGY_ASSUMED", text))
    if problem.cluster is None:
        given["cluster"] = {
            "format": "ftplan/cluster", "format_version": "1.0",
            "nodes": [{"id": f"n{k}", "cpu": 4} for k in range(1, many + 1)],
        }  # fmt: skip
        assumed.append(Warn("CLUSTER_ASSUMED", f"no cluster is given: {many:,} nodes are simulated, all alike"))
    if not given:
        return problem, ()
    made = load(**given)
    return replace(problem, topology=problem.topology or made.topology, cluster=problem.cluster or made.cluster), tuple(
        assumed
    )


def _topology(rate: float, groups: int) -> Mapping[str, Any]:
    return {
        "format": "ftplan/topology", "format_version": "1.0",
        "operators": [
            {"id": "map", "parallelism": 1, "rate_out": rate},
            {"id": "reduce", "parallelism": 1, "key_groups": groups, "state_bytes": groups * STATE_BYTES},
        ],
        "edges": [{"from": "map", "to": "reduce"}],
    }  # fmt: skip


def _instead(options: RingSimulationOptions) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in INSTEAD}
    return {name: value for name, value in given.items() if value is not None and value != ()}


def _alone(options: RingSimulationOptions) -> None:
    """Refuse options that say what a plan says."""
    usual = RingSimulationOptions()
    for name in ("tokens", "nodes"):
        if getattr(options, name) != getattr(usual, name):
            raise FtplanError(f"{flag(name)}: PLAN says where its nodes are")


def _ring(prepared: PreparedRing, options: RingSimulationOptions) -> Ring:
    """Return a ring of all members, at even or at random places."""
    problem = prepared.problem
    member, places = problem.member, len(problem.position)
    if len(member) > places:
        raise FtplanError(f"{len(member):,} nodes need as many key groups: there are {places:,} places on the ring")
    if options.tokens == EVEN:
        return Ring(problem.position[np.arange(len(member)) * places // len(member)], member)
    random = np.random.default_rng(options.seed)
    at = np.sort(random.choice(places, len(member), replace=False))
    return Ring(problem.position[at], random.permutation(member))


def _check_copies(ring: Ring, prepared: PreparedRing) -> None:
    copies, many = prepared.problem.replication, len(ring.nodes)
    if copies >= many:
        some = "1 node" if many == 1 else f"{many:,} nodes"
        raise FtplanError(f"--replication {copies}: a ring of {some} has room for {many - 1:,} at most")


def _rate_factor(prepared: PreparedRing, options: RingSimulationOptions) -> float:
    total = float(prepared.problem.rate.sum())
    if not total > 0.0:
        raise FtplanError("no records come in: give rate_out to the sources of the topology, or statistics")
    return 1.0 if options.rate is None else options.rate / total


def _work(pieces: Pieces, prepared: PreparedRing) -> FloatArray:
    """Return the load of a record of each piece."""
    rate, work = pieces.sums(prepared.problem.rate), pieces.sums(prepared.problem.load)
    return np.divide(work, rate, out=np.zeros(len(rate)), where=rate > 0.0)


def _timing(prepared: PreparedRing, options: RingSimulationOptions) -> RingTiming:
    known, options_of_ring = prepared.problem.setting, prepared.options
    stated = prepared.cluster.network.delay_s
    delay_s = options.delay_s if options.delay_s is not None else DELAY_S if stated is None else stated
    bound_s = known.latency_bound_s
    fitted = not known.heartbeat_is_checkpoint and options_of_ring.heartbeat_s is None
    return RingTiming(
        interval_s=known.interval_s,
        checkpoint_s=known.checkpoint_s,
        delay_s=delay_s,
        latency_bound_s=bound_s,
        skew_s=SKEW * bound_s if options.skew_s is None else options.skew_s,
        keep_s=2.0 * bound_s,
        heartbeat_s=options_of_ring.heartbeat_s,
        missed=options_of_ring.missed_heartbeats,
        grace_s=options_of_ring.grace_s,
        detection_s=known.detection_s if fitted else None,
        fixed_s=known.fixed_s if options.takeover_s is None else options.takeover_s,
        bandwidth=known.bandwidth,
        provision_s=options.provision_s,
    )


def _doubts(setting: RingSetting) -> Iterator[Warn]:
    """Yield what makes failures lose records, or do nothing."""
    timing = setting.timing
    known = {*setting.ring.nodes.tolist(), *setting.spares}
    for node in sorted({node for failure in setting.failures for node in failure.nodes} - known):
        yield Warn("FAILS_ELSEWHERE", f"{setting.nodes[node]} is not on the ring: nothing happens when it fails")
    if timing.skew_s >= timing.latency_bound_s and timing.skew_s > 0.0:
        text = f"clocks differ by up to {timing.skew_s:g} s, which is not below the bound of {timing.latency_bound_s:g}"
        yield Warn("CLOCKS_DIFFER", f"{text} s: a failure may lose records")
    if timing.delay_s > timing.latency_bound_s:
        text = f"messages take up to {timing.delay_s:g} s, more than the bound of {timing.latency_bound_s:g} s"
        yield Warn("MESSAGES_LATE", f"{text}: a failure may lose records")
    if timing.checkpoint_s > timing.interval_s:
        text = f"a checkpoint takes {timing.checkpoint_s:.3g} s, longer than the {timing.interval_s:g} s between two"
        yield Warn("CHECKPOINTS_SLOW", f"{text}: they overlap")
