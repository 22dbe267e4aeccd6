"""Does a drain schedule keep its rules, and is what it states so?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Plan, canonical
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.violation import Violation
from ftplan.planners.drain_schedule.body import round_statement, summary
from ftplan.planners.drain_schedule.from_plan import numbered_moves, numbered_rounds, question_of, rounds_of
from ftplan.planners.drain_schedule.metrics import Rounds, effect
from ftplan.planners.drain_schedule.prepare import PreparedDrain
from ftplan.planners.drain_schedule.problem import DrainProblem, Move
from ftplan.planners.drain_schedule.rules import CODES, RULES, broken, rules
from ftplan.planners.judging import (
    Judged,
    Judges,
    Recomputed,
    differences,
    held_to,
    judge_stated,
    judge_summary,
    judge_unanswered,
    shown,
)

OBJECTIVE = "rounds"
#: What a round states beside its nodes, and the code where that is not so.
_STATED = {
    "zones": "WRONG_ZONES",
    "duration_s": "WRONG_DURATION",
    "queries_down": "WRONG_QUERIES",
    "fidelity": "WRONG_FIDELITY",
}


def judge_drain(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a drain schedule violates, the rules that it was held to, and what was not recomputed.

    A plan that names no rules is held to those that its options ask for; *strict* to all of them, and to keeping the
    copies of key groups and replicas apart.

    Codes: ``UNKNOWN_NODE``, ``UNKNOWN_TASK``, ``ASSIGNED_TWICE``, ``MISSING_NODE``, ``NODE_NOT_CHOSEN`` and
    ``WRONG_MOVE`` always; for the rules ``COPIES_TOGETHER``, ``REPLICA_WITH_PRIMARY``, ``OVER_ROUND_LIMIT``,
    ``SEVERAL_ZONES``, ``OVER_ZONE_LIMIT``, ``QUERY_DOWN``, ``ROUND_BELOW_FIDELITY``, ``NO_OUTPUT`` and
    ``OVER_CAPACITY`` (of tasks that move);
    ``WRONG_ROUND``, ``WRONG_DURATION``, ``WRONG_QUERIES``, ``WRONG_FIDELITY`` and ``WRONG_ZONES`` for what a round
    states; and those of :mod:`ftplan.planners.judging`.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    prepared = question_of(plan, problem)
    drain = prepared.problem
    ruled = question_of(plan, problem, strict=True).problem if strict else drain
    held = held_to(plan, RULES, rules(ruled), strict)
    broken = list(_unknown(plan, prepared))
    if broken:  # where the plan names what does not exist, nothing else means anything
        return Judged(broken, held, asked=rules(drain)).within(rules(ruled))
    rounds = numbered_rounds(plan, prepared.cluster)
    moves = numbered_moves(plan, drain, prepared.cluster)
    broken += _assignment(plan, prepared, rounds)
    broken += _moves(plan, drain)
    broken += _broken_rules(ruled, rounds, moves, held)
    broken += _statements(plan, drain, rounds)
    broken += judge_stated(plan, (OBJECTIVE,), lambda _: Recomputed(float(len(rounds)), "min", ROUNDING))
    left: tuple[str, ...] = ()
    if plan.summary:
        true = {**summary(drain, rounds, sum(map(len, moves))), **_ok_to_stop(plan)}
        wrong, left = judge_summary(plan, true)
        broken += [*wrong, *_stoppable(plan, prepared)]
    return Judged(broken, held, left, asked=rules(drain)).within(rules(ruled))


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    return judge_unanswered(plan, {**summary(question_of(plan, problem).problem, None), "random": None})


def _unknown(plan: Plan, prepared: PreparedDrain) -> Iterator[Violation]:
    """Name the nodes and tasks that are not there."""
    cluster, graph = prepared.cluster, prepared.problem.graph
    for k, item in enumerate(rounds_of(plan)):
        ends = [move[end] for move in item.get("moves") or () for end in ("from", "to") if move.get(end) is not None]
        for node in dict.fromkeys((*item["nodes"], *ends)):
            if node not in cluster.position:
                yield Violation("UNKNOWN_NODE", f"round {k}: the cluster has no node {node!r}", f"node:{node}")
        for move in item.get("moves") or ():
            position = graph.topology.position.get(move["operator"])
            if position is None or move["index"] >= graph.topology.operators[position].parallelism:
                where = f"task:{move['operator']}/{move['index']}"
                yield Violation("UNKNOWN_TASK", f"round {k}: moves {where}, which the topology does not have", where)
    for item in (plan.plan or {}).get("unplaced") or ():
        if item["node"] not in cluster.position:
            text = f"unplaced: the cluster has no node {item['node']!r}"
            yield Violation("UNKNOWN_NODE", text, f"node:{item['node']}")


def _assignment(plan: Plan, prepared: PreparedDrain, rounds: Rounds) -> Iterator[Violation]:
    """Every chosen node is in one round, or named as one that cannot restart, and no other node is."""
    drain, seen = prepared.problem, set[int]()
    for k, nodes in enumerate(rounds):
        for node in nodes:
            where = f"node:{drain.nodes[node]}"
            if node in seen:
                yield Violation("ASSIGNED_TWICE", f"round {k}: restarts {where}, which restarted before", where)
            elif not drain.chosen[node]:
                yield Violation("NODE_NOT_CHOSEN", f"round {k}: restarts {where}, which nobody asked for", where)
            seen.add(node)
    for item in (plan.plan or {}).get("unplaced") or ():
        node, where = prepared.cluster.position[item["node"]], f"node:{item['node']}"
        if node in seen:
            text = f"unplaced: {where} is in a round, or listed twice"
            yield Violation("ASSIGNED_TWICE", text, where)
        elif not drain.chosen[node]:
            yield Violation("NODE_NOT_CHOSEN", f"unplaced: nobody asked to restart {where}", where)
        elif not drain.limits.move and not broken(drain, [node]):
            yield Violation("MISSING_NODE", f"unplaced: {where} breaks no rule when it restarts alone", where)
        seen.add(node)
    for node in drain.to_restart:
        if node not in seen:
            where = f"node:{drain.nodes[node]}"
            yield Violation("MISSING_NODE", f"{where} is to restart and in no round", where)


def _moves(plan: Plan, drain: DrainProblem) -> Iterator[Violation]:
    """Tasks move away from the nodes on which they run, where the plan moves tasks at all."""
    for k, item in enumerate(rounds_of(plan)):
        for move in item.get("moves") or ():
            where = f"task:{move['operator']}/{move['index']}"
            home = int(drain.task_node[drain.graph.number(move["operator"], move["index"])])
            runs = "nobody knows where" if home == NOWHERE else f"on {drain.nodes[home]}"
            if not drain.limits.move:
                yield Violation("WRONG_MOVE", f"round {k}: moves {where}, but this plan leaves tasks standing", where)
            elif move.get("from") is not None and (home == NOWHERE or drain.nodes[home] != move["from"]):
                yield Violation("WRONG_MOVE", f"round {k}: moves {where} from {move['from']}, it runs {runs}", where)


def _broken_rules(
    drain: DrainProblem, rounds: Rounds, moves: Sequence[Sequence[Move]], held: Sequence[str]
) -> Iterator[Violation]:
    for k, nodes in enumerate(rounds):
        for breach in broken(drain, nodes, moves[k]):
            if breach.rule in held:
                yield Violation(CODES[breach.rule], f"round {k}: {breach.message}", breach.where)


def _statements(plan: Plan, drain: DrainProblem, rounds: Rounds) -> Iterator[Violation]:
    """Hold what rounds state beside their nodes to what these do."""
    for k, (item, nodes) in enumerate(zip(rounds_of(plan), rounds, strict=True)):
        where = f"rounds[{k}]"
        if item.get("round") not in (None, k):
            yield Violation("WRONG_ROUND", f"round {k} says that it is round {item['round']}", where)
        true = round_statement(drain, nodes, effect(drain, nodes))
        for name, code in _STATED.items():
            if item.get(name) is None:
                continue
            differing = list(differences(canonical(item[name]), canonical(true[name]), name))
            if differing:
                place, said, is_so = differing[0]
                text = f"round {k} states {place} {shown(said)}, it is {shown(is_so)}"
                yield Violation(code, text, where)


def _ok_to_stop(plan: Plan) -> dict[str, Any]:
    """Return what follows of the nodes that may stop now: how many they are, and the limit on them."""
    said = plan.summary.get("ok_to_stop")
    if not isinstance(said, Mapping) or not isinstance(said.get("nodes"), list):
        return {}
    return {"ok_to_stop": {"count": len(said["nodes"]), "most": plan.options.get("max")}}


def _stoppable(plan: Plan, prepared: PreparedDrain) -> Iterator[Violation]:
    """The nodes that may stop now are there, are to restart, and break no rule together."""
    said, where, drain = plan.summary.get("ok_to_stop"), "summary.ok_to_stop.nodes", prepared.problem
    if not isinstance(said, Mapping) or not isinstance(said.get("nodes"), list):
        return
    nodes = [prepared.cluster.position.get(str(node), -1) for node in said["nodes"]]
    if len(set(nodes)) < len(nodes) or any(node < 0 or not drain.chosen[node] for node in nodes):
        yield Violation("SUMMARY_DIFFERS", f"{where} names a node twice, or one that is not to restart", where)
        return
    for breach in broken(drain, nodes):
        yield Violation("SUMMARY_DIFFERS", f"{where} break {breach.rule}: {breach.message}", where)
    bound = said.get("bound")
    if isinstance(bound, (int, float)) and bound < len(nodes):
        text = f"summary.ok_to_stop.bound is {bound:g}, but {len(nodes)} nodes may stop"
        yield Violation("SUMMARY_DIFFERS", text, "summary.ok_to_stop.bound")


JUDGES = Judges(judge_drain, judge_question, RULES, (OBJECTIVE,))
