"""From inputs and options to the answer of a simulated ring: changes, whether every record counts, nodes over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.names import natural_key
from ftplan.model.plan import Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.ring import written_token
from ftplan.planners.peer_ring.takeover.recovery import balance, recovery
from ftplan.simulation.answer import Document, Simulation, cells, figure
from ftplan.simulation.registry import Report
from ftplan.simulation.ring.options import RingSimulationOptions
from ftplan.simulation.ring.run import RingOutcome, run_ring
from ftplan.simulation.ring.scene import RingScene, scene_of
from ftplan.simulation.ring.world import Change

#: What is wrong with records, as documents and messages say it.
LOST, EXCUSED = "lost", "lost, since all who held them failed"
#: Nodes that a warning names.
NAMED = 6


class RingSimulation(Simulation):
    """What came out of a simulation of a peer ring."""

    kind = "ring"

    @property
    def unmet(self) -> str | None:
        """What is lost though a copy should have been left, None where nothing is."""
        faults = [fault for fault in self.body["faults"] if fault["what"] == LOST]
        if not faults:
            return None
        first, records = faults[0], sum(fault["records"] for fault in faults)
        more = f" and {first['key_groups'] - 1:,} more key groups" if first["key_groups"] > 1 else ""
        return f"{records:,.6g} records are lost though a copy should have been left: {first['first']}{more}"

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each node and cell of time of the first run."""
        return self._frame("node", self.body["nodes"])


def body(scene: RingScene, outcomes: Sequence[RingOutcome]) -> tuple[Document, tuple[Warn, ...]]:
    """Return what the document holds beside what all documents do, and what deserves a second look."""
    setting, first = scene.setting, outcomes[0]
    bins = len(first.over_time.latency_s)
    faults = [fault for run, outcome in enumerate(outcomes) for fault in _faults(scene, outcome, run)]
    document = {
        "runs": len(outcomes),
        "until_s": setting.until_s,
        "replication": setting.replication,
        "tick_s": setting.tick_s,
        "mappers": setting.mappers,
        "pieces": len(setting.position),
        "timing": {name: getattr(setting.timing, name) for name in setting.timing.__slots__},
        "failures": [
            {"at_s": item.at_s, "nodes": [setting.nodes[node] for node in item.nodes]} for item in setting.failures
        ],
        "summary": {name: figure(values) for name, values in _figures(outcomes).items()},
        "records": {name: figure(values) for name, values in _records(outcomes).items()},
        "nothing_lost": not any(fault["what"] == LOST for fault in faults),
        "faults": faults,
        "changes": [_change(scene, change, run) for run, outcome in enumerate(outcomes) for change in outcome.changes],
        "time_s": (setting.every_s * np.arange(1.0, bins + 1.0)).tolist(),
        "latency_s": cells(first.over_time.latency_s),
        "nodes": list(_nodes(first)),
    }
    return document, (*_doubts(outcomes), *_overloaded(document["changes"], setting.thresholds is not None))


def _figures(outcomes: Sequence[RingOutcome]) -> dict[str, FloatArray]:
    """Return figures of each run, NaN where there is none: the latest of its take-overs."""
    times = {"detected_s": "decided_s", **{name: name for name in ("ready_s", "caught_up_s", "restored_s")}}
    failures = [[change for change in outcome.changes if change.event == "failure"] for outcome in outcomes]
    latest = {name: np.array([_latest(changes, field) for changes in failures]) for name, field in times.items()}
    moves = [sum(change.event != "failure" and not change.given_up for change in one.changes) for one in outcomes]
    return latest | {
        "moves": np.array(moves, dtype=np.float64),
        "peak_queue_records": np.array([one.over_time.queue_records.max(initial=0.0) for one in outcomes]),
        "peak_kept_records": np.array([one.over_time.kept_records.max(initial=0.0) for one in outcomes]),
        "copied_bytes": np.array([one.copied_bytes for one in outcomes]),
    }


def _latest(changes: Sequence[Change], field: str) -> float:
    """Return how long the longest of some changes took, NaN where one is not over, or there is none."""
    ends = [(getattr(change, field), change.begun_s) for change in changes]
    took = [np.nan if end_s is None else end_s - begun_s for end_s, begun_s in ends]
    return float(np.max(took)) if took else np.nan


def _records(outcomes: Sequence[RingOutcome]) -> dict[str, FloatArray]:
    audits = [outcome.audit for outcome in outcomes]
    names = ("sent", "lost", "excused", "twice")
    sums = {name: np.array([float(getattr(audit, name).sum()) for audit in audits]) for name in names}
    return {**sums, "replayed": np.array([outcome.replayed for outcome in outcomes])}


def _faults(scene: RingScene, outcome: RingOutcome, run: int) -> Iterator[Document]:
    for what, amount in ((LOST, outcome.audit.lost), (EXCUSED, outcome.audit.excused)):
        at = np.flatnonzero(amount > 0.0)
        if at.size:
            names = scene.key_groups(at)
            yield {
                "run": run, "what": what, "records": float(amount.sum()), "key_groups": len(names), "first": names[0],
            }  # fmt: skip


def _change(scene: RingScene, change: Change, run: int) -> Document:
    names = scene.setting.nodes
    since = change.begun_s
    after = {
        name: None if getattr(change, name) is None else getattr(change, name) - since
        for name in ("decided_s", "ready_s", "caught_up_s", "restored_s")
    }
    return {
        "run": run,
        "event": change.event,
        "node": names[change.node],
        "others": [names[node] for node in change.others],
        "begun_s": since,
        **after,
        "given_up": change.given_up,
        "key_groups": len(scene.key_groups(change.at)),
        "replayed": change.replayed,
        "lost_key_groups": len(scene.key_groups(change.lost)),
        "predicted": _predicted(scene, change),
    }


def _predicted(scene: RingScene, change: Change) -> Document | None:
    """Return what formulas say of a failure or a move of load; None where there are none."""
    if change.decided_s is None or change.event not in ("failure", "balance"):
        return None
    setting = replace(scene.prepared.problem.setting, fixed_s=scene.setting.timing.fixed_s)
    rate = float(scene.setting.replay_rate[change.node])
    formula = recovery if change.event == "failure" else balance
    times = formula(setting, change.rate, change.own_rate, rate)
    ready_s, caught_up_s = float(times.ready_s), float(times.caught_up_s)
    return {
        "replayed": float(times.replayed_records),
        "ready_s": ready_s,
        "caught_up_s": caught_up_s if np.isfinite(caught_up_s) else None,
    }


def _nodes(outcome: RingOutcome) -> Iterator[Document]:
    """Yield each node that was on the ring at some time, in the first run."""
    setting, series = outcome.setting, outcome.over_time
    begin, end = setting.ring, outcome.ring
    for node, name in enumerate(setting.nodes):
        was, is_ = (_tokens(ring.token[ring.node == node]) for ring in (begin, end))
        if not was and not is_:
            continue
        yield {
            "node": name,
            "tokens_before": was,
            "tokens": is_ if outcome.alive[node] else [],
            "failed": not outcome.alive[node],
            "over_time": {
                "queue_records": series.queue_records[:, node].tolist(),
                "kept_records": series.kept_records[:, node].tolist(),
                "rate": series.rate[:, node].tolist(),
                "busy": series.busy[:, node].tolist(),
            },
        }


def _tokens(tokens: FloatArray) -> list[float]:
    return [written_token(token) for token in tokens.tolist()]


def _overloaded(changes: Sequence[Document], balance: bool) -> Iterator[Warn]:
    """Yield who gets more than it can process once it has taken over."""
    nodes = {
        change["node"]
        for change in changes
        if change["event"] == "failure" and change["predicted"] and change["predicted"]["caught_up_s"] is None
    }
    if nodes:
        names = sorted(nodes, key=natural_key)
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        text = f"more comes in than can be processed after the take-over by {', '.join(names[:NAMED])}{more}"
        yield Warn("OVERLOADED", f"{text}{'' if balance else ': --balance lets load move'}")


def _doubts(outcomes: Sequence[RingOutcome]) -> Iterator[Warn]:
    """Yield what is not well though nothing is lost."""
    unsound = sum(bool(outcome.audit.unsound.any()) for outcome in outcomes)
    of_runs = "" if len(outcomes) == 1 else f" in {unsound:,} of {len(outcomes):,} runs"
    if unsound:
        text = f"at the end backups lack records that they would need to take over{of_runs}"
        yield Warn("COPIES_INCOMPLETE", f"{text}: clocks or messages are beyond the bound of latency")
    excused = sum(bool(outcome.audit.excused.any()) for outcome in outcomes)
    if excused:
        of_runs = "" if len(outcomes) == 1 else f" in {excused:,} of {len(outcomes):,} runs"
        yield Warn("ALL_COPIES_FAILED", f"all who held some key groups failed before there were copies again{of_runs}")
    full = [outcome.out_of_room_s for outcome in outcomes if outcome.out_of_room_s is not None]
    if full:
        text = f"from {min(full):g} s on a node was overloaded, no other could take more, and there was no spare"
        yield Warn("OUT_OF_ROOM", f"{text}: give --spares")
    left = max(outcome.unfinished for outcome in outcomes)
    if left > 0.0:
        yield Warn("NOT_FINISHED", f"{left:,.6g} records still waited when the simulation was broken off")


def simulate(problem: Problem, plan: Any, request: RingSimulationOptions, progress: Report | None) -> RingSimulation:
    """Simulate a peer ring: failures, take-overs, load that moves, nodes that join and leave, batch by batch.

    *plan*: of a ring; None: nodes at even or random places, and what is missing of topology and cluster is alike.

    Raises FtplanError if an input is missing or does not fit.
    """
    scene = scene_of(problem, plan, request)
    outcomes = []
    for run in range(request.runs):
        outcomes.append(run_ring(replace(scene.setting, run=run)))
        if progress is not None:
            progress(f"run {run + 1:,} of {request.runs:,}", (run + 1) / request.runs)
    document, warnings = body(scene, outcomes)
    return RingSimulation(request, document, scene.inputs, (*scene.warnings, *warnings))
