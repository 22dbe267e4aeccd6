"""The integer program with the nodes of all new tasks, in two waves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.scale_out.choices import Choices, Level, Sizes
from ftplan.planners.scale_out.model import Chosen, ScalingModel
from ftplan.planners.scale_out.options import ScalingSearch
from ftplan.planners.scale_out.room import Placed, Room


class NodeModel(ScalingModel):
    """The choices of a problem, and how many tasks of each size go to each node in each wave.

    Tasks of one size and wave are alike until they are dealt out to operators.
    """

    def __init__(
        self, choices: Choices, levels: list[list[Level]], room: Room, cuts: Sequence[Chosen] = (), most: float = np.inf
    ) -> None:
        super().__init__(choices, levels, room, cuts, most)
        self.on_nodes: tuple[dict[tuple[int, int], Any], dict[tuple[int, int], Any]] = ({}, {})
        for node in range(len(self.problem.nodes)):
            self._add_node(node)
        for wave, tasks_of in enumerate((self.first, self.second)):
            for size, tasks in tasks_of.items():
                on = [variable for (_, own), variable in self.on_nodes[wave].items() if own == size]
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

    def nodes_of(self, chosen: Chosen, search: ScalingSearch, budget: Budget) -> tuple[Placed | None, bool]:
        """Return nodes for what was chosen without a look at them, or None; and whether that is proven."""
        self._hint(chosen)
        self.model.clear_objective()
        solver, proven = self._run(search, budget, hinted=True)
        if solver is None:
            return None, proven
        return self._placed(solver, chosen.smaller, chosen.others), True

    def _placed(self, solver: Any, smaller: Sizes, others: Sizes) -> Placed | None:
        counts = [{key: solver.value(v) for key, v in variables.items()} for variables in self.on_nodes]
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
