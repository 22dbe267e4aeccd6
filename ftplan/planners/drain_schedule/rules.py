"""What goes down with a set of nodes, which limits of a drain schedule that breaks, and how long a round takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.tolerances import ROUNDING, SOLVED
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.violation import Breach
from ftplan.planners.drain_schedule.problem import LEAST_OUTPUT, DrainProblem, Move

FIDELITY, PRIORITY = "min-fidelity", "keep-priority"
PER_ZONE, MOST, ONE_ZONE = "max-per-zone", "max", "one-zone"
SOME_OUTPUT = "some-output"
COPIES, REPLICA = "copies-apart", "replica-apart"
ROOM = "room"
#: The rules that a drain schedule can name, in the order in which :func:`broken` looks at them.
RULES = (COPIES, REPLICA, MOST, ONE_ZONE, PER_ZONE, PRIORITY, FIDELITY, SOME_OUTPUT, ROOM)
#: The code of each broken rule.
CODES = {
    COPIES: "COPIES_TOGETHER",
    REPLICA: "REPLICA_WITH_PRIMARY",
    MOST: "OVER_ROUND_LIMIT",
    ONE_ZONE: "SEVERAL_ZONES",
    PER_ZONE: "OVER_ZONE_LIMIT",
    PRIORITY: "QUERY_DOWN",
    FIDELITY: "ROUND_BELOW_FIDELITY",
    SOME_OUTPUT: "NO_OUTPUT",
    ROOM: "OVER_CAPACITY",
}


def rules(problem: DrainProblem) -> tuple[str, ...]:
    """Return the names of the rules in force."""
    limits = problem.limits
    given = {
        COPIES: len(problem.copies.operator) > 0,
        REPLICA: bool(problem.replicated.any()),
        MOST: limits.max_nodes is not None,
        ONE_ZONE: limits.one_zone,
        PER_ZONE: limits.max_per_zone is not None,
        PRIORITY: limits.keep_priority is not None,
        FIDELITY: limits.min_fidelity is not None,
        SOME_OUTPUT: limits.some_output,
        ROOM: limits.move,
    }
    return tuple(rule for rule in RULES if given[rule])


def without_live_replica(problem: DrainProblem, nodes: BoolArray) -> BoolArray:
    """Return the tasks on some nodes, (N,), whose active replica, if any, stands on one of these too, shape (T,)."""
    on = (problem.task_node != NOWHERE) & np.append(nodes, False)[problem.task_node]
    replica = problem.replica_node
    stands = (replica == ANYWHERE) | ((replica >= 0) & ~np.append(nodes, False)[replica])
    return np.asarray(on & ~stands, dtype=np.bool_)


def down(problem: DrainProblem, nodes: BoolArray) -> BoolArray:
    """Return which tasks are down while some nodes, (N,), restart, shape (T,); none where they are moved."""
    if problem.limits.move:
        return np.zeros(problem.tasks, dtype=np.bool_)
    return without_live_replica(problem, nodes)


def fidelity(problem: DrainProblem, nodes: BoolArray) -> float:
    """Return the output fidelity while some nodes, (N,), restart."""
    failed = down(problem, nodes)
    return problem.model.fidelity(~failed) if failed.any() else 1.0


def touched(problem: DrainProblem, tasks: BoolArray) -> BoolArray:
    """Return *tasks* and all tasks downstream of them, shape (T,). Cost O(tasks + substreams)."""
    graph, hit = problem.graph, tasks.copy()
    for i in graph.order:
        here = hit[graph.slice_of(i)]
        for edge in graph.in_edges[i]:
            senders = hit[graph.slice_of(edge.source)]
            pairs = graph.pairs(edge)
            if pairs is None:
                here |= senders.any()
            else:
                here[pairs[1][senders[pairs[0]]]] = True
    return hit


def queries_down(problem: DrainProblem, nodes: BoolArray) -> IntArray:
    """Return the output tasks whose queries are down while some nodes, (N,), restart, ascending.

    A query is down when its output task or any task upstream of it is.
    """
    failed = down(problem, nodes)
    if not failed.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(touched(problem, failed) & problem.graph.output)


def duration_s(problem: DrainProblem, nodes: BoolArray) -> float:
    """Return the seconds until the last of some nodes, (N,), that restart together is back."""
    return float(problem.restart_s[nodes].max(initial=0.0))


def conflicts(problem: DrainProblem) -> BoolArray:
    """Return which nodes may not go together for a copy or a replica that both have, (N, N), symmetric.

    On the diagonal stand the nodes that may not go even alone. Cost O(N^2 + pairs of copies).
    """
    apart = np.zeros((len(problem.nodes),) * 2, dtype=np.bool_)
    for _, first, second in (problem.copies.pairs, problem.replica_pairs):
        apart[first, second] = apart[second, first] = True
    return apart


def keeps_fidelity(problem: DrainProblem, value: float) -> bool:
    """Return whether an output fidelity keeps the limit, up to a rounding error."""
    return problem.limits.min_fidelity is None or value >= problem.limits.min_fidelity - ROUNDING


def broken(problem: DrainProblem, nodes: Iterable[int], moves: Sequence[Move] | None = None) -> list[Breach]:
    """Return each rule that nodes which restart together break, with the worst case of it; [] where all are kept.

    The room of tasks that are moved is looked at where *moves* are given. Cost O(tasks + substreams + copies).
    """
    down_nodes = problem.mask(nodes)
    breaches = [*_apart(problem, down_nodes), *_counts(problem, down_nodes), *_output(problem, down_nodes)]
    if problem.limits.move and moves is not None:
        breaches += _room(problem, down_nodes, moves)
    return breaches


def _apart(problem: DrainProblem, nodes: BoolArray) -> Iterator[Breach]:
    group, first, second = problem.copies.pairs
    some = np.flatnonzero(nodes[first] & nodes[second])
    if len(some):
        worst = int(group[some[0]])
        held = int(nodes[problem.copies.node[problem.copies.start[worst] : problem.copies.start[worst + 1]]].sum())
        a, b = (problem.nodes[int(end[some[0]])] for end in (first, second))
        where = f"key-group:{problem.copies.operator[worst]}/{int(problem.copies.number[worst])}"
        how = f"{a} holds two copies" if a == b else f"{a} and {b} hold copies"
        yield Breach(COPIES, 1, held, held, where, f"{how} of {where}")
    task, first, second = problem.replica_pairs
    some = np.flatnonzero(nodes[first] & nodes[second])
    if len(some):
        operator, index = problem.graph.name(int(task[some[0]]))
        a, b = (problem.nodes[int(end[some[0]])] for end in (first, second))
        how = f"{a} holds both task {operator}/{index}" if a == b else f"{a} holds task {operator}/{index}, {b} holds"
        text = f"{how} and its replica" if a == b else f"{how} its replica"
        yield Breach(REPLICA, 1, 2, None, f"task:{operator}/{index}", text)


def _counts(problem: DrainProblem, nodes: BoolArray) -> Iterator[Breach]:
    limits, count = problem.limits, int(nodes.sum())
    if limits.max_nodes is not None and count > limits.max_nodes:
        text = f"{count} nodes go together, at most {limits.max_nodes} may"
        yield Breach(MOST, limits.max_nodes, count, count, None, text)
    if limits.one_zone and len(zones := np.unique(problem.zone[nodes])) > 1:
        text = f"nodes of {len(zones)} zones go together, of 1 at most they may"
        yield Breach(ONE_ZONE, 1, len(zones), len(zones), None, text)
    if limits.max_per_zone is None or count == 0:
        return
    by_zone = np.bincount(problem.zone[nodes])
    zone = int(np.argmax(by_zone))
    if (most := int(by_zone[zone])) > limits.max_per_zone:
        name = problem.zone_names[int(np.flatnonzero(problem.zone == zone)[0])]
        where = name if name.startswith("node:") else f"zone:{name}"
        text = f"{most} nodes of {where} go together, at most {limits.max_per_zone} may"
        yield Breach(PER_ZONE, limits.max_per_zone, most, most, where, text)


def _output(problem: DrainProblem, nodes: BoolArray) -> Iterator[Breach]:
    limits = problem.limits
    if limits.keep_priority is not None:
        queries = queries_down(problem, nodes)
        if len(queries) and (high := float(problem.priority[queries].max())) >= limits.keep_priority:
            operator, index = problem.graph.name(int(queries[np.argmax(problem.priority[queries])]))
            above = np.unique(problem.priority[problem.graph.output])
            needed = next((float(p) for p in above if p > high), None)
            text = f"query {operator}/{index} of priority {high:g} would be down"
            yield Breach(PRIORITY, limits.keep_priority, high, needed, f"query:{operator}/{index}", text)
    if limits.min_fidelity is not None:
        value = fidelity(problem, nodes)
        if not keeps_fidelity(problem, value):
            text = f"output fidelity would fall to {value:.6g}, below {limits.min_fidelity:g}"
            yield Breach(FIDELITY, limits.min_fidelity, value, value, None, text)
    if limits.some_output and nodes.sum() > 1 and not leaves_output(problem, nodes):
        kept = next((k for k in np.flatnonzero(nodes).tolist() if leaves_output(problem, problem.mask([k]))), None)
        if kept is not None:
            text = f"no output would be left, while the restart of {problem.nodes[kept]} alone leaves some"
            yield Breach(SOME_OUTPUT, LEAST_OUTPUT, 0.0, 0.0, f"node:{problem.nodes[kept]}", text)


def leaves_output(problem: DrainProblem, nodes: BoolArray) -> bool:
    """Return whether there is some output while some nodes, (N,), restart."""
    return fidelity(problem, nodes) >= LEAST_OUTPUT


def to_move(problem: DrainProblem, nodes: BoolArray) -> IntArray:
    """Return the tasks that must be moved away from some nodes, (N,), that restart, ascending; all others take over."""
    return np.flatnonzero(without_live_replica(problem, nodes))


def _room(problem: DrainProblem, nodes: BoolArray, moves: Sequence[Move]) -> Iterator[Breach]:
    """Look whether exactly the tasks that must be moved are, to nodes that stay up, accept them and have room."""
    room = problem.room
    assert room is not None
    must = set(to_move(problem, nodes).tolist())
    moved = [move.task for move in moves]
    wrong = sorted(must.symmetric_difference(moved)) or sorted(t for t in set(moved) if moved.count(t) > 1)
    if wrong:
        operator, index = problem.graph.name(wrong[0])
        how = "has to be moved" if wrong[0] in must and wrong[0] not in moved else "is moved without need or twice"
        text = f"task {operator}/{index} {how}"
        yield Breach(ROOM, len(must), len(moved), None, f"task:{operator}/{index}", text)
    cpu, mb = room.cpu.copy(), room.memory_mb.copy()
    for move in moves:
        if nodes[move.node] or not room.accepting[move.node]:
            operator, index = problem.graph.name(move.task)
            why = "which restarts too" if nodes[move.node] else "which takes no tasks"
            text = f"task {operator}/{index} is moved to {problem.nodes[move.node]}, {why}"
            yield Breach(ROOM, None, None, None, f"node:{problem.nodes[move.node]}", text)
        cpu[move.node] -= room.task_cpu[move.task]
        mb[move.node] -= room.task_mb[move.task]
    taken = problem.mask(move.node for move in moves)
    for left, had, what in ((cpu, room.cpu, "cores"), (mb, room.memory_mb, "MiB")):
        over = np.flatnonzero(taken & (left < -_slack(had)))
        if len(over):
            worst = int(over[np.argmin(left[over])])
            takes, has = float(had[worst] - left[worst]), float(had[worst])
            text = f"{problem.nodes[worst]} has room for {max(has, 0.0):g} {what}, and takes {takes:g}"
            yield Breach(ROOM, has, takes, takes, f"node:{problem.nodes[worst]}", text)


def _slack(room: FloatArray) -> FloatArray:
    """Return by how much rounding may let tasks exceed the room of each node, (N,)."""
    return np.asarray(SOLVED * np.maximum(1.0, np.where(np.isinf(room), 1.0, np.abs(room))), dtype=np.float64)
