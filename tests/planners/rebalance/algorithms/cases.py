"""Rebalance problems for tests, the rules word by word, and the cheapest rebalance by trying all."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.units import MB
from ftplan.planners.rebalance.effects import places_after, surviving_copies
from ftplan.planners.rebalance.migration_costs import (
    AFTER_LOSS,
    PROTOCOLS,
    MigrationSetting,
    ProtocolCosts,
    migration_costs,
)
from ftplan.planners.rebalance.problem import Migration, RebalanceLimits, RebalanceProblem


def rebalance_problem(
    load: Sequence[float],
    home: Sequence[int],
    copies: Sequence[Sequence[int]],
    capacity: Sequence[float],
    state: Sequence[float] | None = None,
    setting: MigrationSetting | None = None,
    **fields: Any,
) -> RebalanceProblem:
    """Return a problem: nodes n00, n01, ... may be filled up to 80 %; a record is a load unit a second."""
    nodes, groups = len(capacity), len(load)
    loads = np.array(load, dtype=np.float64)
    sizes = np.array([1e6] * groups if state is None else state, dtype=np.float64)
    given = setting or MigrationSetting(
        rate=loads, record_time_s=1e-4, state_bytes=sizes, record_bytes=100.0, age_s=10.0, interval_s=20.0,
        bandwidth_mb_s=10.0, delay_s=0.01, restart_s=0.1, queue_s=0.05, detection_s=1.0,
    )  # fmt: skip
    limit = 0.8 * np.array(capacity, dtype=np.float64)
    one = np.ones(nodes, dtype=np.bool_)
    whole = {
        "nodes": tuple(f"n{n:02d}" for n in range(nodes)),
        "zone": np.arange(nodes, dtype=np.int64),
        "domain": np.arange(nodes, dtype=np.int64),
        "hosts": one,
        "keeps": one,
        "removed": ~one,
        "added": ~one,
        "capacity": np.array(capacity, dtype=np.float64),
        "foreign": np.zeros(nodes),
        "ceiling": limit,
        "upper": limit,
        "lower": np.full(nodes, -np.inf),
        "memory": np.full(nodes, np.inf),
        "operators": ("k",) * groups,
        "key_group": np.arange(groups, dtype=np.int64),
        "home": np.array(home, dtype=np.int64),
        "copies": tuple(tuple(sorted(held)) for held in copies),
        "load": loads,
        "rate": loads,
        "state": sizes,
        "costs": migration_costs(given),
    }
    return RebalanceProblem(**(whole | fields))


def random_problem(
    seed: int, groups: int = 5, nodes: int = 4, tightness: float | None = None, **fields: Any
) -> RebalanceProblem:
    """Return a random problem of every sort: full nodes, nodes that come and go, memory, tolerance, zones, limits.

    *tightness* is the total load over what all hosts may have (None: from 0.4 to 0.95). Some problems have no
    solution. *fields* replace what was drawn.
    """
    rng = np.random.default_rng([15, seed])
    names = np.arange(nodes)
    load = rng.choice([0.0, 5.0, 10.0, 10.0, 20.0, 30.0, 45.0], groups) + rng.integers(0, 3, groups)
    home = rng.integers(0, max(1, nodes - 1), groups)
    zone = rng.integers(0, 2, nodes) if rng.random() < 0.3 else names
    domain = zone if rng.random() < 0.3 else names
    copies = [_copies(rng, names, domain, int(home[k]), int(rng.choice([0, 1, 1, 1, 2]))) for k in range(groups)]
    removed = np.zeros(nodes, dtype=np.bool_)
    added = np.zeros(nodes, dtype=np.bool_)
    if rng.random() < 0.3:
        removed[int(rng.integers(0, nodes))] = True
    if rng.random() < 0.3 and not removed[nodes - 1]:
        added[nodes - 1] = True
    hosts = ~removed & (rng.random(nodes) < 0.95)
    hosts[0 if not removed[0] else 1] = True
    keeps = ~removed & (rng.random(nodes) < 0.95)
    foreign = np.where(rng.random(nodes) < 0.2, 8.0, 0.0)
    share = rng.choice([1.0, 1.0, 2.0], nodes)
    movable = load[(hosts | removed)[home]].sum()
    fair = share * (movable + foreign[hosts].sum()) / max(1.0, float(share[hosts].sum()))
    capacity = np.maximum(fair, 1.0) / (rng.uniform(0.4, 0.95) if tightness is None else tightness)
    upper, lower = capacity.copy(), np.full(nodes, -np.inf)
    if rng.random() < 0.25:
        tolerance = float(rng.choice([0.2, 0.4, 0.7]))
        upper = np.minimum(upper, np.where(hosts, (1.0 + tolerance) * fair, np.inf))
        lower = np.where(hosts, (1.0 - tolerance) * fair, -np.inf)
    elif added.any():
        lower = np.where(added & hosts, float(rng.choice([0.9, 0.5, 0.2])) * fair, -np.inf)
    state = rng.choice([0.0, 1e6, 1e6, 4e6, 2e7], groups)
    memory = np.full(nodes, np.inf)
    if rng.random() < 0.25:
        each = state.sum() * (1.0 + np.mean([len(held) for held in copies])) / nodes
        memory = np.where(rng.random(nodes) < 0.5, each * rng.uniform(0.8, 2.0, nodes), np.inf)
    remote = bool(rng.random() < 0.15)
    setting = MigrationSetting(
        rate=load, record_time_s=rng.choice([1e-3, 1e-2]), state_bytes=state, record_bytes=1e4, age_s=20.0,
        interval_s=30.0, full=float(rng.random() < 0.2), bandwidth_mb_s=5.0, delay_s=0.01,
        restart_s=rng.choice([0.0, 0.2]), queue_s=0.05, detection_s=1.0, remote=remote,
    )  # fmt: skip
    protocols: tuple[str, ...] = PROTOCOLS[:4]
    if rng.random() < 0.2:
        protocols = (("cpa",), ("cpal",), ("direct",), ("cpa", "direct"))[int(rng.integers(0, 4))]
    within = float(rng.choice([2.0, 30.0])) if removed.any() and rng.random() < 0.3 else None
    limits = RebalanceLimits(
        max_moves=int(rng.integers(0, 4)) if rng.random() < 0.2 else None,
        max_bytes=float(rng.choice([1e5, 5e6, 3e7])) if rng.random() < 0.2 else None,
        max_pause_s=float(rng.choice([0.3, 2.0, 8.0])) if rng.random() < 0.1 else None,
        within_s=within,
    )
    drawn = {
        "zone": zone, "domain": domain, "hosts": hosts, "keeps": keeps, "removed": removed, "added": added,
        "foreign": foreign, "ceiling": capacity, "upper": upper, "lower": lower, "memory": memory,
        "protocols": protocols, "criterion": str(rng.choice(["latency", "latency", "completion", "bytes"])),
        "remote": remote, "limits": limits,
        "traffic": rng.choice([0.0, 0.5, 2.0], (groups, nodes)) if rng.random() < 0.2 else None,
    }  # fmt: skip
    return rebalance_problem(
        load.tolist(), home.tolist(), copies, capacity.tolist(), state.tolist(), setting, **(drawn | fields)
    )


def _copies(rng: np.random.Generator, names: Any, domain: Any, home: int, count: int) -> list[int]:
    held: list[int] = []
    for node in rng.permutation(names).tolist():
        if len(held) < count and domain[node] not in {int(domain[n]) for n in (home, *held)}:
            held.append(node)
    return held


def scaled_problem(seed: int, groups: int = 32768, nodes: int = 400, overloaded: float = 0.1) -> RebalanceProblem:
    """Return a large problem: nodes are about 70 % full, some a fifth above their limit of 90 %; a copy a group."""
    rng = np.random.default_rng([16, seed])
    home = rng.permutation(np.arange(groups) % nodes)
    load = rng.gamma(4.0, 25.0, groups)
    hot = rng.permutation(nodes) < overloaded * nodes
    sums = np.bincount(home, load, minlength=nodes)
    load *= np.where(hot, 1.08, rng.uniform(0.6, 0.75, nodes))[home] * (sums.mean() / sums)[home]
    capacity = np.full(nodes, sums.mean())
    copies = ((home + rng.integers(1, nodes, groups)) % nodes)[:, None].tolist()
    setting = MigrationSetting(
        rate=load, record_time_s=1e-3, state_bytes=rng.gamma(2.0, 2e7, groups), record_bytes=200.0,
        age_s=rng.uniform(0.0, 60.0, groups), interval_s=60.0, bandwidth_mb_s=100.0, delay_s=0.005, restart_s=0.5,
        queue_s=0.05,
    )  # fmt: skip
    limit = 0.9 * capacity
    return rebalance_problem(
        load.tolist(), home.tolist(), copies, capacity.tolist(), np.asarray(setting.state_bytes).tolist(), setting,
        ceiling=limit, upper=limit, protocols=("cpa", "direct"),
    )  # fmt: skip


def fixed(problem: RebalanceProblem, fix: str) -> RebalanceProblem:
    """Return the problem with a smallest fix applied as a user would read it."""
    given = dict(re.findall(r"(--[a-z-]+) (\S+)", fix))
    near = None
    if np.isfinite(problem.lower[problem.hosts]).all() and not problem.added[problem.hosts].all():
        node = int(np.argmax(fair_load(problem)))
        near = float(1.0 - problem.lower[node] / fair_load(problem)[node])
    if "leave out" in fix:
        stays = np.isin(problem.nodes, re.findall(r"--remove (\S+)", fix))
        removed = problem.removed & ~stays
        limits = problem.limits if removed.any() else replace(problem.limits, within_s=None)
        hosts, keeps = problem.hosts | stays, problem.keeps | stays
        lower = problem.lower
        kept = replace(problem, removed=removed, hosts=hosts, keeps=keeps, limits=limits)
        share = np.divide(fair_load(kept), fair_load(problem), out=np.ones(len(lower)), where=problem.hosts)
        problem = replace(kept, lower=np.where(np.isfinite(lower), lower * share, lower))
    if "--overload" in given:
        ceiling = float(given["--overload"]) * problem.capacity
        problem = replace(problem, ceiling=ceiling, upper=ceiling)
    if "--tolerance" in given:
        near = None if given["--tolerance"] == "none" else float(given["--tolerance"])
        problem = replace(problem, upper=problem.ceiling, lower=np.full(len(problem.nodes), -np.inf))
    if near is not None:
        fair, hosts = fair_load(problem), problem.hosts
        upper = np.where(hosts, np.minimum(problem.ceiling, (1.0 + near) * fair), problem.ceiling)
        problem = replace(problem, upper=upper, lower=np.where(hosts, (1.0 - near) * fair, -np.inf))
    if "--protocol" in given:
        problem = replace(problem, protocols=PROTOCOLS[:4])
    for option, name in (("--max-bytes", "max_bytes"), ("--max-pause", "max_pause_s"), ("--within", "within_s")):
        if given.get(option, "and") != "and":  # "leave out ... --within and ..." names no value
            problem = replace(problem, limits=replace(problem.limits, **{name: float(given[option].rstrip("s"))}))
    if "--max-moves" in given:
        problem = replace(problem, limits=replace(problem.limits, max_moves=int(given["--max-moves"])))
    if more := re.search(r"raise memory_mb of every node by (\d+)", fix):
        problem = replace(problem, memory=problem.memory + int(more[1]) * MB)
    return problem


def fair_load(problem: RebalanceProblem) -> Any:
    """Return the fair share of each host in all load that may be there, by its capacity, (N,)."""
    movable = problem.load[(problem.hosts | problem.removed)[problem.home]].sum()
    capacity = np.where(problem.hosts, problem.capacity, 0.0)
    return capacity * (movable + problem.foreign[problem.hosts].sum()) / capacity.sum()


def shuffled(problem: RebalanceProblem, seed: int) -> tuple[RebalanceProblem, Any]:
    """Return the problem with its key groups in another order, and that order: for costs that must not depend on it."""
    order = np.random.default_rng(seed).permutation(len(problem.home))
    costs = problem.costs
    tables = [table[:, order] for table in costs[:4]]
    return replace(
        problem,
        operators=tuple(problem.operators[k] for k in order),
        key_group=problem.key_group[order],
        home=problem.home[order],
        copies=tuple(problem.copies[k] for k in order),
        load=problem.load[order],
        rate=problem.rate[order],
        state=problem.state[order],
        costs=ProtocolCosts(tables[0], tables[1], tables[2], tables[3], costs.catch_up[order]),
        traffic=None if problem.traffic is None else problem.traffic[order],
    ), order


def memory_used(problem: RebalanceProblem, moves: Iterable[Migration]) -> Any:
    """Return the bytes of state and copies on each node afterwards, (N,), before copies are made anew."""
    of = {move.group: move for move in moves}
    used = np.zeros(len(problem.nodes))
    for group in range(len(problem.home)):
        move = of.get(group)
        used[problem.home[group] if move is None else move.target] += problem.state[group]
        for node in surviving_copies(problem, group, move):
            used[node] += problem.state[group]
    return used


def breaks(problem: RebalanceProblem, moves: Sequence[Migration]) -> str | None:
    """Return a rule that a set of moves breaks, phases left aside, word by word; None where all are kept."""
    limits, load = problem.limits, problem.loads(places_after(problem, moves))
    place = places_after(problem, moves)
    for node in range(len(problem.nodes)):
        if problem.removed[node]:
            continue
        if load[node] > problem.upper[node] + ROUNDING * max(1.0, abs(problem.upper[node])):
            return "upper"
        if load[node] < problem.lower[node] - ROUNDING * max(1.0, abs(problem.lower[node])):
            return "lower"
    if problem.removed[place].any():
        return "drained"
    start = np.zeros(len(problem.nodes))
    for group, held in enumerate(problem.copies):
        for node in (int(problem.home[group]), *held):
            start[node] += problem.state[group]
    most = np.maximum(problem.memory, start)
    if (memory_used(problem, moves) > most * (1.0 + ROUNDING)).any():
        return "memory"
    for move in moves:
        row = PROTOCOLS.index(move.protocol)
        if not problem.hosts[move.target] or move.target == problem.home[move.group]:
            return "target"
        if move.protocol not in problem.possible(move.group, move.target):
            return "protocol"
        late = limits.within_s is not None and problem.costs.completion_s[row, move.group] > limits.within_s
        if late and problem.removed[problem.home[move.group]] and move.protocol not in AFTER_LOSS:
            return "within"
        if limits.max_pause_s is not None and problem.costs.latency_s[row, move.group] > limits.max_pause_s:
            return "max-pause"
    if limits.max_moves is not None and len(moves) > limits.max_moves:
        return "max-moves"
    if limits.max_bytes is not None and transferred(problem, moves) > limits.max_bytes * (1.0 + ROUNDING):
        return "max-bytes"
    return None


def transferred(problem: RebalanceProblem, moves: Iterable[Migration]) -> float:
    """Return the bytes that moves transfer."""
    return math.fsum(problem.costs.bytes[PROTOCOLS.index(move.protocol), move.group] for move in moves)


def brute_force(problem: RebalanceProblem) -> tuple[float, tuple[Migration, ...]] | None:
    """Return the least value, and moves that have it, over all placements and protocols; None: there is no way.

    Phases are left aside. Of equal cost the fewest moves.
    """
    best: tuple[float, int, tuple[Migration, ...]] | None = None
    choices: list[list[Migration | None]] = []
    for group, home in enumerate(problem.home.tolist()):
        targets = [n for n in range(len(problem.nodes)) if problem.hosts[n] and n != home]
        moves = [Migration(group, n, p) for n in targets for p in problem.possible(group, n)]
        stays: list[Migration | None] = [] if problem.removed[home] else [None]
        choices.append(stays + _undominated(problem, moves))
    for chosen in itertools.product(*choices):
        moves = [move for move in chosen if move is not None]
        if best is not None:
            value = problem.value(moves)
            if value > best[0] + 1e-12 or (value > best[0] - 1e-12 and len(moves) >= best[1]):
                continue
        if breaks(problem, moves) is None:
            best = (problem.value(moves), len(moves), tuple(moves))
    return None if best is None else (best[0], best[2])


def _undominated(problem: RebalanceProblem, moves: list[Migration]) -> list[Migration | None]:
    """Leave out a protocol to a node where another, as allowed, costs and transfers no more (and leaves as much)."""
    most = problem.limits.max_pause_s
    kept: list[Migration | None] = []
    seen: dict[int, list[tuple[float, float]]] = {}
    rows = {move: PROTOCOLS.index(move.protocol) for move in moves}
    for move in sorted(moves, key=lambda m: (m.target, problem.cost(m), rows[m])):
        if most is not None and problem.costs.latency_s[rows[move], move.group] > most:
            continue
        notice = problem.limits.within_s if problem.removed[problem.home[move.group]] else None
        late = notice is not None and problem.costs.completion_s[rows[move], move.group] > notice
        if late and move.protocol not in AFTER_LOSS:
            continue
        figures = (problem.cost(move), float(problem.costs.bytes[rows[move], move.group]))
        before = seen.setdefault(move.target, [])
        if not any(cost <= figures[0] and size <= figures[1] for cost, size in before):
            before.append(figures)
            kept.append(move)
    return kept
