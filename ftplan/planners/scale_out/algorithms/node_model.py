"""The integer program with the nodes of all new tasks, in two waves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.scale_out.algorithms.choices import JobLevel, ScalingChoices, Sizes
from ftplan.planners.scale_out.algorithms.free_cores import FreeCores, Placed
from ftplan.planners.scale_out.algorithms.model import ChosenSizes, ScalingModel

#: Ways to fill a node up to which nodes of equal cores are counted by these ways.
WAYS = 200


@dataclass
class _Alike:
    """Nodes that have equal cores free, and nothing else that might become free.

    What their tasks take in the second wave is all that counts: tasks of the first are still there.

    Attributes
    ----------
    ways
        How many tasks of each size fill one node, in the order of the sizes.
    filled
        Variables: how many nodes are filled in each way.
    tasks
        Variables by wave and size: tasks of both waves take the places of a size.
    """

    nodes: list[int]
    ways: list[tuple[int, ...]]
    filled: list[Any]
    tasks: tuple[dict[int, Any], dict[int, Any]] = field(default_factory=lambda: ({}, {}))


class ScalingNodeModel(ScalingModel):
    """The choices of a problem, and how many tasks of each size go to each node in each wave.

    Tasks of one size and wave are alike until they are dealt out to operators. Nodes that are alike are counted by the
    ways in which they are filled, which bounds better what fits and leaves out what only exchanges nodes.
    """

    def __init__(
        self,
        choices: ScalingChoices,
        levels: list[list[JobLevel]],
        room: FreeCores,
        cuts: Sequence[ChosenSizes] = (),
        most: float = np.inf,
    ) -> None:
        super().__init__(choices, levels, room, cuts, most)
        self.sizes = sorted({*self.first, *self.second}, reverse=True)
        self.on_nodes: tuple[dict[tuple[int, int], Any], dict[tuple[int, int], Any]] = ({}, {})
        self.alike: list[_Alike] = []
        by_cores: dict[int, list[int]] = {}
        for node, (cores, old) in enumerate(zip(self.cores.free, self.cores.old, strict=True)):
            if old:
                self._add_node(node)
            elif self.sizes and cores >= self.sizes[-1]:
                by_cores.setdefault(cores, []).append(node)
        for cores, nodes in sorted(by_cores.items()):
            self._add_alike(cores, nodes)
        for wave, tasks_of in enumerate((self.first, self.second)):
            for size, tasks in tasks_of.items():
                on = [variable for (_, own), variable in self.on_nodes[wave].items() if own == size]
                on += [alike.tasks[wave][size] for alike in self.alike]
                self.model.add(sum(on) == tasks)

    def _add_node(self, node: int) -> None:
        cores, old = self.cores.free[node], self.cores.old[node]
        returned: Any = sum(count * self.size[i] * self.smaller[i] for i, count in old.items())
        first = self._tasks_on(0, node, cores)
        second = self._tasks_on(1, node, cores + sum(count * self.size[i] for i, count in old.items()))
        if first:
            self.model.add(sum(size * tasks for size, tasks in first) <= cores)
        if not second:
            return
        taken = sum(size * tasks for size, tasks in (*first, *second))
        if cores >= 0:
            self.model.add(taken <= cores + returned)
            return
        used = self.model.new_bool_var("")  # a node with less than nothing to give is no matter where it gets no task
        self.model.add(taken <= cores + returned).only_enforce_if(used)
        for _, tasks in second:
            self.model.add(tasks == 0).only_enforce_if(~used)

    def _tasks_on(self, wave: int, node: int, cores: int) -> list[tuple[int, Any]]:
        """Make variables for the tasks of each size on a node that has so many cores; return sizes and variables."""
        tasks = []
        for size in (self.first, self.second)[wave]:
            if size <= cores:
                variable = self.model.new_int_var(0, cores // size, "")
                self.on_nodes[wave][node, size] = variable
                tasks.append((size, variable))
        return tasks

    def _add_alike(self, cores: int, nodes: list[int]) -> None:
        ways = []
        for way in _ways(cores, self.sizes):
            ways.append(way)
            if len(ways) > WAYS:
                for node in nodes:
                    self._add_node(node)
                return
        alike = _Alike(nodes, ways, [self.model.new_int_var(0, len(nodes), "") for _ in ways])
        self.model.add(sum(alike.filled) <= len(nodes))
        for place, size in enumerate(self.sizes):
            most = len(nodes) * (cores // size)
            for wave, tasks_of in enumerate((self.first, self.second)):
                if size in tasks_of:
                    alike.tasks[wave][size] = self.model.new_int_var(0, most, "")
            taken = sum(tasks[size] for tasks in alike.tasks if size in tasks)
            self.model.add(taken <= sum(way[place] * count for way, count in zip(ways, alike.filled, strict=True)))
        self.alike.append(alike)

    def nodes_of(self, chosen: ChosenSizes, search: SearchOptions, budget: Budget) -> tuple[Placed | None, bool]:
        """Return nodes for what was chosen without a look at them, or None; and whether that is proven."""
        self._hint(chosen)
        self.model.clear_objective()
        solver, proven = self._run(search, budget, hinted=True)
        if solver is None:
            return None, proven
        return self._placed(solver, chosen.smaller, chosen.others), True

    def _placed(self, solver: Any, smaller: Sizes, others: Sizes) -> Placed | None:
        counts = tuple({key: solver.value(v) for key, v in variables.items()} for variables in self.on_nodes)
        for alike in self.alike:
            left = [{size: solver.value(v) for size, v in tasks.items()} for tasks in alike.tasks]
            counted = [(way, solver.value(count)) for way, count in zip(alike.ways, alike.filled, strict=True)]
            filled = [way for way, count in counted for _ in range(count)]
            for node, way in zip(alike.nodes, filled, strict=False):
                for size, places in zip(self.sizes, way, strict=True):
                    for wave in (0, 1):
                        taken = min(places, left[wave].get(size, 0))
                        counts[wave][node, size] = taken
                        places -= taken
                        left[wave][size] = left[wave].get(size, 0) - taken
        return self._dealt(smaller, counts[0]) | self._dealt(others, counts[1])

    def _dealt(self, sizes: Sizes, counts: dict[tuple[int, int], int]) -> Placed:
        """Return the nodes of the tasks of each operator, from how many of each size a node has."""
        placed: Placed = {}
        for size in sorted({self.size[i] for i in sizes}):
            of_size = [(node, tasks) for (node, own), tasks in counts.items() if own == size]
            slots = sorted((turn, node) for node, tasks in of_size for turn in range(tasks))
            for i in sorted(i for i in sizes if self.size[i] == size):
                mine = slots[: sizes[i]] if size > 0 else [(0, 0)] * sizes[i]
                placed[i] = tuple(node for _, node in mine)
                slots = slots[sizes[i] :]
        return placed


def _ways(cores: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield how many tasks of each size, descending, fill a node so that no other finds room."""
    if len(sizes) == 1:
        yield (cores // sizes[0],)
        return
    for count in range(cores // sizes[0], -1, -1):
        left = cores - count * sizes[0]
        for rest in _ways(left, sizes[1:]):
            used = sum(number * size for number, size in zip(rest, sizes[1:], strict=True))
            if left - used < sizes[0]:  # else one more of this size would find room
                yield (count, *rest)
