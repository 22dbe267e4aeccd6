"""Why a key group moves or stays, what becomes of a node or a zone, and how an operator's key groups move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.rebalance.candidates import PlannedRebalance, candidate_rows, way_columns
from ftplan.planners.rebalance.explain_moves import explain_node, explain_operator, explain_zone, load_text
from ftplan.planners.rebalance.from_plan import group_numbers, numbered, question_of
from ftplan.planners.rebalance.judge import CODES
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.problem import Rebalance
from ftplan.planners.rebalance.rules import broken


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain ``key-group:OP/N``, ``node:ID``, ``zone:ID`` or ``operator:ID``.

    A key group: why it moves or stays, and every node with what each protocol costs there, and the rule that rules it
    out with by how much. A node: its load, what comes and goes, and what it would take to relieve it. A zone: its
    nodes. An operator: its moves.

    Raises FtplanError if the selector is of another kind or names what is not there.
    """
    prepared = question_of(plan, problem)
    answer, protocol = numbered(plan, prepared.problem), RebalanceOptions.of_plan(plan).protocol
    planned = PlannedRebalance.of(prepared.problem, prepared.cluster, answer, protocol)
    parts = {
        "key-group": lambda: _key_group(what, planned),
        "node": lambda: explain_node(what, planned, prepared.series.loads),
        "zone": lambda: explain_zone(what, planned),
        "operator": lambda: explain_operator(what, planned),
    }
    return explained(what, "a rebalance", parts)


def _key_group(what: Selector, planned: PlannedRebalance) -> Explanation:
    problem = planned.problem
    group = group_numbers(problem).get((what.name, int(what.index or 0)))
    if group is None:
        raise FtplanError(f"{what}: there is no such key group among those that can move")
    move, rows = planned.moved.get(group), candidate_rows(planned, group)
    home = problem.nodes[int(problem.home[group])]
    title = f"{what}: stays on {home}"
    if move is not None:
        stated = planned.stated[group]
        pause = planned.pause_s[group]
        title = f"{what}: moves from {home} to {problem.nodes[move.target]} by {move.protocol} in phase {stated.phase}"
        title += f", paused for {pause:.6g} s"
    copies = ", ".join(problem.nodes[node] for node in problem.copies[group]) or "no node"
    after = ", ".join(problem.nodes[node] for node in planned.copies[group]) or "no node"
    state = float(problem.state[group])
    notes = [
        f"load {load_text(problem.load[group])} per window, {load_text(problem.rate[group])} records/s, "
        f"state {state:,.0f} bytes; checkpoints on {copies}, afterwards on {after}",
        *_why(planned, group),
        *_cheaper(planned, group, rows),
    ]
    columns = (
        "node",
        "zone",
        "utilisation then",
        *way_columns(problem, group),
        "chosen",
        "ruled out by",
        "limit",
        "would be",
    )
    listed = tuple({name: row[name] for name in columns} for row in rows)
    return Explanation(str(what), title, columns, listed, tuple(notes), ())


def _why(planned: PlannedRebalance, group: int) -> Iterator[str]:
    """Say what would be wrong if a group stayed, or why it can."""
    problem, move = planned.problem, planned.moved.get(group)
    home = int(problem.home[group])
    if move is None:
        load, upper = float(planned.load[home]), float(problem.upper[home])
        most = load_text(upper)
        yield f"{problem.nodes[home]} has a load of {load_text(load)} with it, at most {most} may be: it can stay"
        return
    left = [tuple(m for m in phase if m.group != group) for phase in planned.answer.phases]
    own = tuple(copy for copy in planned.answer.new_copies if copy.group != group)
    without = Rebalance(tuple(phase for phase in left if phase), own)
    before = {(breach.rule, breach.where) for breach in broken(problem, planned.answer)}
    new = [breach for breach in broken(problem, without) if (breach.rule, breach.where) not in before]
    for breach in {breach.rule: breach for breach in reversed(new)}.values():
        yield f"if it stayed: {CODES.get(breach.rule, breach.rule)}: {breach.message}"
    saved = problem.value(planned.answer.moves) - problem.value(without.moves)
    if not new and saved < 0.0:
        yield f"it could stay, but the objective would be {-saved:.6g} more"
    elif not new:
        yield f"no rule asks for it: without it the objective would be {saved:.6g} less"
    yield f"by {move.protocol}: {planned.stated[group].reason}"


def _cheaper(planned: PlannedRebalance, group: int, rows: list[dict[str, Any]]) -> Iterator[str]:
    """Name the cheapest other node that nothing rules out, if it is cheaper."""
    problem, move = planned.problem, planned.moved.get(group)
    others = [row for row in rows if not row["chosen"] and row["ruled out by"] is None]
    if move is None or not others:
        yield from ["every other node is ruled out"] if move is not None else []
        return
    best, own = min(others, key=lambda row: row["cost"]), problem.cost(move)
    if best["cost"] < own - ROUNDING * max(1.0, abs(own)):
        yield f"{best['node']} breaks no rule and would cost {own - best['cost']:.6g} less"
    else:
        count = f"{len(others):,} other {'node breaks' if len(others) == 1 else 'nodes break'} no rule"
        yield f"{count}, and none is cheaper than {own:.6g} ({problem.criterion})"
