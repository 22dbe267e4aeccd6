"""Small scale-outs, and the best of all by trying everything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.planners.scale_out.problem import ScalableOperator, ScalingLimits, ScalingProblem

EXACT = 1.0 + 1e-9
Ranges = tuple[tuple[int, int], ...]


def operator(id: str, use: Any, parallelism: int, **fields: Any) -> ScalableOperator:
    """An operator with the use of each key group, or with no keyed state and a use."""
    groups = np.atleast_1d(np.asarray(use, dtype=float)) if np.ndim(use) else np.zeros(0)
    given: dict[str, Any] = {
        "job": 0, "cpu": 1.0, "most": len(groups) or 128, "state_bytes": np.zeros(len(groups)),
        "task_memory": np.inf, "score": 80.0, "state": "promoted",
    }  # fmt: skip
    given |= fields
    total = float(groups.sum()) if len(groups) else float(use)
    return ScalableOperator(
        id=id, parallelism=parallelism, key_groups=len(groups), use=total, group_use=groups, **given
    )  # fmt: skip


def problem(*operators: ScalableOperator, weight: Sequence[float] = (1.0,), **fields: Any) -> ScalingProblem:
    """A problem with limits by their names among the fields."""
    names = ("target", "free_cpu", "quota")
    limits = ScalingLimits(**{name: fields.pop(name) for name in names if name in fields})
    return ScalingProblem(operators, np.array(weight), limits=limits, **fields)


def random_problem(seed: int, **fixed: Any) -> ScalingProblem:
    """Up to four operators of up to two jobs, with limits that are tight."""
    rng = np.random.default_rng(seed)
    jobs = int(rng.integers(1, 3))
    operators = []
    for number in range(int(rng.integers(1, 5))):
        groups = int(rng.choice([0, 2, 3, 4]))
        parallelism = int(rng.integers(1, min(4, groups or 4) + 1))
        use = rng.integers(0, 6, groups) * 0.25 if groups else rng.integers(1, 14) * 0.25
        state = rng.integers(0, 4, groups).astype(float)
        operators.append(
            operator(
                f"o{number}",
                use,
                parallelism,
                job=min(number, int(rng.integers(0, jobs))),
                cpu=float(rng.choice([0.5, 1.0, 1.0, 1.5])),
                most=int(rng.integers(1, 5)) if not groups else min(groups, int(rng.integers(1, 5))),
                state_bytes=state,
                task_memory=float(rng.choice([np.inf, np.inf, 3.0, 5.0])),
                state=str(rng.choice(["normal", "prepared", "promoted", "scale-in", "scale-in"])),
                throughput_percentage=float(rng.integers(0, 3)) / 2,
            )
        )
    job = np.array([item.job for item in operators])
    weight = np.bincount(job, minlength=job.max() + 1) + rng.integers(0, 3, job.max() + 1)
    total = sum(item.parallelism * item.cpu for item in operators)
    fields: dict[str, Any] = {
        "split": str(rng.choice(["load", "hash"])),
        "free_cpu": None if rng.random() < 0.4 else float(rng.integers(0, 13)) / 2,
        "quota": None if rng.random() < 0.6 else total + float(rng.integers(0, 13)) / 2,
    }
    if rng.random() < 0.6:
        nodes = int(rng.integers(1, 4))
        fields["nodes"] = tuple(f"n{n}" for n in range(nodes))
        fields["free"] = rng.integers(-1, 7, nodes) / 2
        fields["now"] = tuple(tuple(rng.integers(0, nodes, item.parallelism).tolist()) for item in operators)
    return problem(*operators, weight=weight / weight.sum(), **(fields | fixed))


def even(groups: int, tasks: int) -> Ranges:
    """The ranges of engines, group by group."""
    of = [[g for g in range(groups) if g * tasks // groups == t] for t in range(tasks)]
    return tuple((mine[0], mine[-1]) for mine in of)


def splits(item: ScalableOperator, tasks: int, split: str) -> Iterator[Ranges]:
    """All ranges that there may be."""
    if not item.keyed:
        yield ()
    elif split == "hash":
        yield even(item.key_groups, tasks)
    else:
        for cuts in itertools.combinations(range(1, item.key_groups), tasks - 1):
            ends = (0, *cuts, item.key_groups)
            yield tuple((a, b - 1) for a, b in itertools.pairwise(ends))


def figures(item: ScalableOperator, tasks: int, ranges: Ranges) -> tuple[float, float]:
    """Use of the busiest task, and state of the fullest."""
    if not item.keyed:
        return item.use / tasks, 0.0
    use = [float(item.group_use[a : b + 1].sum()) for a, b in ranges]
    state = [float(item.state_bytes[a : b + 1].sum()) for a, b in ranges]
    return max(use), max(state)


class Size(NamedTuple):
    """A parallelism, and the share of the demand with it."""

    tasks: int
    share: float


class Best(NamedTuple):
    """The most value, then operators that get room for state, then fewest cores, then fewest changes."""

    value: float
    roomier: int
    saved_cpu: float
    unchanged: int


class BruteForce:
    """Everything that a problem allows."""

    def __init__(self, question: ScalingProblem) -> None:
        self.question, self.target = question, question.limits.target
        self.options, self.now, self.kind = [], [], []
        for item in question.operators:
            use, state = figures(item, item.parallelism, even(item.key_groups, item.parallelism) if item.keyed else ())
            self.now.append(self.share(use))
            lacking, short = use > self.target * EXACT, state > item.task_memory * EXACT
            self.kind.append(
                "stays" if item.use == 0.0  # nothing is known of it
                else "lacking" if lacking
                else "roomier" if short and item.state != "normal"
                else "smaller" if item.state == "scale-in"
                else "stays"
            )  # fmt: skip
            self.options.append([None, *self._sizes(item, state)] if self.kind[-1] != "stays" else [None])

    def share(self, use: float) -> float:
        return 1.0 if use <= self.target * EXACT else self.target / use

    def _sizes(self, item: ScalableOperator, state_now: float) -> list[Size]:
        kind, most = self.kind[-1], min(item.most, item.key_groups) if item.keyed else item.most
        for memory in (item.task_memory, state_now):
            sizes = []
            for tasks in range(1, most + 1):
                uses = [
                    use
                    for ranges in splits(item, tasks, self.question.split)
                    for use, state in [figures(item, tasks, ranges)]
                    if state <= memory * EXACT
                ]
                sizes += [Size(tasks, self.share(min(uses)))] if uses else []
            if sizes:
                break
            if kind == "roomier":
                return []
        full = [size for size in sizes if size.share >= 1.0]
        if kind != "lacking":
            return [size for size in full if kind == "roomier" or size.tasks < item.parallelism]
        now = self.now[-1]
        return [size for size in sizes if size.tasks >= item.parallelism or size.share >= now / EXACT]

    def best(self) -> Best | None:
        """The best of all choices; None where the tasks that run now are above the quota."""
        question = self.question
        total = sum(item.parallelism * item.cpu for item in question.operators)
        if question.limits.quota is not None and total > question.limits.quota * EXACT:
            return None
        best = None
        for choice in itertools.product(*self.options):
            known = self._judged(choice, total)
            if known is not None and (best is None or known > best) and self._fits(choice):
                best = known
        return best

    def _judged(self, choice: tuple[Size | None, ...], total: float) -> Best | None:
        question, limits = self.question, self.question.limits
        first, others = self._waves(choice)
        cores = [sum(size.tasks * question.operators[i].cpu for i, size in wave) for wave in (first, others)]
        old = sum(question.operators[i].parallelism * question.operators[i].cpu for i, _ in first)
        for new, running in ((cores[0], total), (cores[1], total - old + cores[0])):
            if new and limits.free_cpu is not None and new > limits.free_cpu + total - running + 1e-9:
                return None
            if new and limits.quota is not None and running + new > limits.quota + 1e-9:
                return None
        now = [item.parallelism for item in question.operators]
        after = [tasks if size is None else size.tasks for size, tasks in zip(choice, now, strict=True)]
        if self._slots(after) > max(question.slots, self._slots(now)):
            return None
        shares = [self.now[i] if size is None else size.share for i, size in enumerate(choice)]
        level = [min([1.0, *(shares[i] for i in of)]) for of in question.jobs]
        extra, changed, roomier = 0.0, 0, 0
        for i, size in enumerate(choice):
            item = question.operators[i]
            if size is not None:
                more = size.tasks >= item.parallelism
                if more and self.kind[i] == "lacking" and self.now[i] >= level[item.job] / EXACT:
                    return None  # it grows, and its job does not need it
                extra += (size.tasks - item.parallelism) * item.cpu
                changed += 1
                roomier += self.kind[i] == "roomier"
        value = float(np.dot(question.weight, level))
        return Best(round(value, 9), roomier, round(-extra, 9), -changed)

    def _slots(self, tasks: list[int]) -> int:
        """Slots: each takes one task of each operator of a group of a job."""
        groups = {(item.job, item.slot_group): 0 for item in self.question.operators}
        for item, own in zip(self.question.operators, tasks, strict=True):
            groups[item.job, item.slot_group] = max(groups[item.job, item.slot_group], own)
        return sum(groups.values())

    def _waves(self, choice: tuple[Size | None, ...]) -> tuple[list[tuple[int, Size]], list[tuple[int, Size]]]:
        chosen = [(i, size) for i, size in enumerate(choice) if size is not None]
        return (
            [(i, size) for i, size in chosen if self.kind[i] == "smaller"],
            [(i, size) for i, size in chosen if self.kind[i] != "smaller"],
        )

    def _fits(self, choice: tuple[Size | None, ...]) -> bool:
        question = self.question
        if not question.nodes:
            return True
        first, others = self._waves(choice)
        sizes = [[(question.operators[i].cpu, size.tasks) for i, size in wave] for wave in (first, others)]
        returned = np.zeros(len(question.nodes))
        for i, _ in first:
            for node in question.now[i]:
                returned[node] += question.operators[i].cpu
        slots = question.node_slots if len(question.node_slots) else np.full(len(question.nodes), np.inf)
        return any(
            next(packings(sizes[1], free + returned, slots), None) is not None
            for free in packings(sizes[0], question.free.astype(float), slots)
        )


def packings(sizes: list[tuple[float, int]], free: np.ndarray, slots: np.ndarray) -> Iterator[np.ndarray]:
    """What is left on nodes for each way to put the tasks of operators there, given as cores of a task and number."""
    if not sizes:
        yield free
        return
    (cpu, tasks), *rest = sizes
    seen = set()
    for counts in itertools.product(range(tasks + 1), repeat=len(free)):
        left = free - cpu * np.array(counts)
        used = np.array(counts) > 0
        if sum(counts) == tasks and (left[used] >= -1e-9).all() and (np.array(counts) <= slots).all():
            for after in packings(rest, left, slots):
                if tuple(after) not in seen:
                    seen.add(tuple(after))
                    yield after
