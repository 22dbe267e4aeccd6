"""Choose replicas and their nodes by one integer program over products of what is kept intact, solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.circuit import Circuit, circuit
from ftplan.planners.priced_bound import Entries
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import CandidateNodes, Sites, current_of
from ftplan.planners.replicate_tasks.algorithms.models.monomials import Term, rows, used_together
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.solver import solve_program

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt

#: Variables above which products are no longer expanded, and no program is solved at all.
MOST_PRODUCTS, MOST_VARIABLES = 60_000, 400_000
#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 10
#: A share of what a relaxation replicates below which a task is not in its support.
SUPPORT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class JointSolution:
    """What the program says; ``site`` is that of each replica, (T,), NOWHERE for none, and None without a plan."""

    site: IntArray | None
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class JointRelaxation:
    """What the program says where tasks may be replicated in part: a bound, and the tasks that are, (T,)."""

    bound: float
    support: BoolArray


class JointProgram:
    """Maximise the expected fidelity over the tasks that are replicated and the sites where their replicas stand.

    Binary replicate[t] and at[t, s], one site for each replica; live[t, c] where only some sites live in a case; each
    product of intact streams is at most what its last task keeps and at most the weighted mean of the products
    upstream. Without joins this is the compact program of single streams; joins expand into pairs of streams as long
    as there are not too many. Budget, changes and the room of the sites are rows. Of tasks fed alike that differ only
    in weight the heavier is taken first.
    """

    @staticmethod
    def of(
        problem: ReplicationProblem, candidates: CandidateNodes, sites: Sites, seed: int, budget: Budget
    ) -> JointProgram | None:
        """Return the program, None where it is too large; raises :class:`OutOfTime`."""
        if int(sites.open[candidates.row].sum()) > MOST_VARIABLES:
            return None
        program = JointProgram(problem, candidates, sites, seed, budget)
        return program if len(program.upper) <= MOST_VARIABLES else None

    def __init__(
        self, problem: ReplicationProblem, candidates: CandidateNodes, sites: Sites, seed: int, budget: Budget
    ) -> None:
        usable = candidates.placeable
        self.problem, self.candidates, self.sites, self.budget = problem, candidates, sites, budget
        self.usable, self.seed = usable, seed
        self.upper: list[float] = usable.astype(np.float64).tolist()
        self.rows: list[tuple[list[Term], float]] = []  # terms, and the most that they sum to
        self.equal: list[list[Term]] = []  # terms that sum to 0
        self.at: list[dict[int, int]] = [{} for _ in range(problem.tasks)]  # variable of each site of a task
        for task in np.flatnonzero(usable).tolist():
            open_to = np.flatnonzero(sites.open[candidates.row[task]]).tolist()
            if len(sites.members) == 1:
                self.at[task] = {0: task}
                continue
            self.at[task] = {s: self._variable() for s in open_to}
            self.equal.append([(task, -1.0), *((variable, 1.0) for variable in self.at[task].values())])
        self.whole = len(self.upper)  # the first variable that need not be a whole number
        live = self._live()
        circuits = [self._circuit(c) for c in range(len(problem.cases))]
        products, outputs = rows(circuits, len(self.upper), MOST_PRODUCTS, budget, live)
        self.upper += [1.0] * (products.variables - len(self.upper))
        for left, right in zip(products.left, products.right, strict=True):
            terms = [(left, 1.0), *((k, -weight) for k, weight in right if k >= 0)]
            self.rows.append((terms, sum(weight for k, weight in right if k < 0)))
        self.goal = [(k, c.weight / problem.total_weight) for k, c in zip(outputs, problem.cases, strict=True)]
        self.rows.append(([(t, float(problem.weight[t])) for t in np.flatnonzero(usable).tolist()], problem.limit))
        self._keep_room()
        if problem.max_changes is not None:
            self._limit_changes(problem.max_changes)
        else:
            self._order(circuits)

    def _variable(self) -> int:
        self.upper.append(1.0)
        return len(self.upper) - 1

    def _circuit(self, case: int) -> Circuit:
        """Return the circuit of a case in which every task that may live by a replica is a choice."""
        problem, failed = self.problem, self.problem.cases[case].failed
        choice = np.where(self.usable & self.candidates.survivable(case), 1, -1)
        return circuit(problem.graph, problem.model, ~failed, choice, self.budget)

    def _live(self) -> list[IntArray]:
        """Return for each case the variables, (T,), that say whether tasks that fail in it live."""
        known: dict[tuple[int, ...], int] = {}
        live = []
        for case, down in zip(self.problem.cases, self.sites.down, strict=True):
            variables = np.arange(self.problem.tasks)
            for task in np.flatnonzero(case.failed & self.usable).tolist() if down.any() else ():
                alive = [variable for s, variable in self.at[task].items() if not down[s]]
                if alive and len(alive) < len(self.at[task]):
                    if tuple(alive) not in known:
                        known[tuple(alive)] = variable = self._variable()
                        self.rows.append(([(variable, 1.0), *((k, -1.0) for k in alive)], 0.0))
                    variables[task] = known[tuple(alive)]
            live.append(variables)
        return live

    def _keep_room(self) -> None:
        by_row = [np.flatnonzero(self.usable & (self.candidates.row == k)) for k in range(len(self.sites.open))]
        for shared in self.sites.shared:
            tasks = [t for k in np.flatnonzero(shared.rows).tolist() for t in by_row[k].tolist()]
            for need, have in shared.needs:
                if float(need[tasks].sum()) > have:
                    self.rows.append(([(self.at[t][shared.site], float(need[t])) for t in tasks if need[t] > 0], have))

    def _limit_changes(self, most: int) -> None:
        """Count what starts and what stops; a replica on an unknown node stays wherever it is."""
        known = current_of(self.problem)
        site = self.sites.of(known)
        weight: dict[int, float] = {}
        for task in np.flatnonzero(self.usable).tolist():
            weight[task] = -1.0 if known[task] == ANYWHERE else 1.0
            if known[task] >= 0 and site[task] in self.at[task]:
                stays = self.at[task][int(site[task])]
                weight[stays] = weight.get(stays, 0.0) - 2.0
        self.rows.append((list(weight.items()), float(most - int((known != NOWHERE).sum()))))

    def _order(self, circuits: list[Circuit]) -> None:
        """Take heavier tasks first, and both or none of two that are of use only together: some optimum does.

        Tasks are alike but for their weight only where they fail in the same cases.
        """
        problem = self.problem
        failing = np.array([case.failed for case in problem.cases]).T
        last: dict[tuple[int, int, int, float, bytes], int] = {}
        for number, block in ((c, b) for c, each in enumerate(circuits) for b in each.blocks):
            for task in block.tasks.tolist():
                weight, cases = float(problem.weight[task]), failing[task].tobytes()
                key = (number, block.id, int(self.candidates.row[task]), weight, cases)
                if key in last:
                    self.rows.append(([(task, 1.0), (last[key], -1.0)], 0.0))
                last[key] = task
        if len(circuits) == 1:
            for task, other in enumerate(used_together(circuits[0], problem.tasks).tolist()):
                if task != other:
                    self.equal.append([(task, 1.0), (other, -1.0)])

    def relaxed(self, budget: Budget) -> JointRelaxation | None:
        """Solve the linear relaxation by GLOP; None where it is not ready in time. Raises :class:`OutOfTime`.

        The bound holds for any prices of the rows, so that the solver's tolerances do not matter: what the rows allow
        at their prices, and what each variable, between 0 and its upper limit, is worth beyond the prices it pays.
        """
        model, variables, rows = self._model(budget, 1.0, whole=0)
        answer = solve_program(model, "GLOP", budget, self.seed)
        prices = answer.prices(rows)
        if prices is None:
            budget.unfinished()
            return None
        support = answer.values(variables[: self.problem.tasks]) > SUPPORT
        return JointRelaxation(self._priced(prices), np.asarray(support, dtype=np.bool_))

    def _priced(self, price: FloatArray) -> float:
        """Return the bound that prices of the rows give, those of equations last."""
        price = np.where(np.arange(len(price)) < len(self.rows), np.maximum(price, 0.0), price)
        worth = np.zeros(len(self.upper))
        for k, weight in self.goal:
            worth[k] += weight
        entries = Entries.of([*(terms for terms, _ in self.rows), *self.equal])
        most = np.array([*(most for _, most in self.rows), *(0.0 for _ in self.equal)])
        return -entries.bound(-worth, np.array(self.upper), most, -price)

    def solved(
        self, budget: Budget, start: IntArray | None = None, scale: float = 1.0, only: BoolArray | None = None
    ) -> JointSolution:
        """Solve the program by HiGHS; exponential in the worst case.

        *start* is the site of each replica of a known solution, (T,); the solver's tolerances are relative to *scale*,
        about the optimum. Where *only* some tasks may have a replica, (T,), the bound is one for these.
        """
        model, variables, _ = self._model(budget, scale, self.whole)
        for task in np.flatnonzero(self.usable & ~only).tolist() if only is not None else ():
            variables[task].upper_bound = 0.0
        values = None if start is None else {variables[k]: value for k, value in self._hint(start).items()}
        answer = solve_program(
            model, "HIGHS", budget, self.seed, nodes_per_iteration=TREE_NODES_PER_ITERATION, start=values
        )
        bound = np.inf if answer.bound is None else answer.bound * scale
        return JointSolution(self._read(answer.values(variables[: self.whole])) if answer.found else None, bound)

    def _model(self, budget: Budget, scale: float, whole: int) -> tuple[mathopt.Model, list[Any], list[Any]]:
        """Return the model, its variables, the first *whole* of them binary, and its rows."""
        from ortools.math_opt.python import mathopt

        model = mathopt.Model()
        variables = [model.add_variable(lb=0.0, ub=u, is_integer=k < whole) for k, u in enumerate(self.upper)]
        rows = []
        sides = [*((terms, -np.inf, most) for terms, most in self.rows), *((terms, 0.0, 0.0) for terms in self.equal)]
        for terms, least, most in sides:
            budget.check()
            row = model.add_linear_constraint(lb=least, ub=most)
            for k, weight in terms:
                row.set_coefficient(variables[k], weight)
            rows.append(row)
        for k, weight in self.goal:
            model.objective.set_linear_coefficient(variables[k], weight / scale)
        model.objective.is_maximize = True
        return model, variables, rows

    def _hint(self, site: IntArray) -> dict[int, float]:
        """Return the values of whole variables from the site of each replica, (T,)."""
        values = dict.fromkeys(range(self.whole), 0.0)
        for task in np.flatnonzero(site != NOWHERE).tolist():
            if (variable := self.at[task].get(int(site[task]))) is not None:
                values[task] = values[variable] = 1.0
        return values

    def _read(self, values: FloatArray) -> IntArray:
        """Return the site of each replica, (T,), from the values of the whole variables."""
        site = np.full(self.problem.tasks, NOWHERE)
        for task in np.flatnonzero(values[: self.problem.tasks] > 0.5).tolist():
            site[task] = max(self.at[task], key=lambda s: values[self.at[task][s]])
        return site
