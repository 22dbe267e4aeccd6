"""From the entries of a what-if file to what each case changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.documents import Document
from ftplan.io.failure_file import read_failure_log
from ftplan.io.plan_file import load_plan
from ftplan.io.what_if_cases import (
    EACH,
    PROBABILITIES,
    AddModel,
    AxisModel,
    CaseModel,
    FailureSourceModel,
    SeedsModel,
    TrafficModel,
)
from ftplan.model.cluster import Cluster
from ftplan.model.names import natural_key
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.what_if.axes import CaseAxis, drawn, in_step, listed, seeded, text_of
from ftplan.what_if.delta import Delta, FieldChange
from ftplan.what_if.draws import BurstDraws, Entries, ProbableDraws, bursts_of
from ftplan.what_if.inputs import Reader
from ftplan.what_if.named_parts import require_selector
from ftplan.what_if.question import CaseQuestion

ROLES = ("topology", "cluster", "stats", "failure")


class _UnreadBaseError(FtplanError):
    """The inputs of the base could not be read, and somebody has said why."""

    def __init__(self) -> None:
        super().__init__("the inputs could not be read")
        self.messages = ()


class Expansion:
    """Makes deltas and axes of the entries of a what-if file.

    Parameters
    ----------
    reader
        Reads the files that entries name.
    problem
        The base, in which ``each zone`` and the like are looked up, and onto which failures are drawn; None where it
        could not be read.
    question
        The command: whose options, whether it evaluates a plan.
    """

    def __init__(self, reader: Reader, problem: Problem | None, question: CaseQuestion) -> None:
        self._reader, self._base, self._question = reader, problem, question
        self.fingerprints: list[str] = []  # of the failure logs that were read
        self.plans: list[Document] = []  # that are evaluated in some case

    def delta(self, case: CaseModel) -> Delta:
        """Return what a case changes.

        Raises FtplanError if an entry can mean nothing, or a file that it names is wrong.
        """
        given = dict(case.options or {})
        if case.seed is not None:
            given["seed"] = case.seed
        return Delta(
            inputs={role: self._reader.read(role, source) for role, source in _files(case.inputs)},
            plan=None if case.plan is None else self._plan(case.plan),
            remove=_many(case.remove),
            add=_many(case.add),
            set=tuple(_changes(case.set, "set")),
            scale=tuple(_changes(case.scale, "scale")),
            traffic=() if case.traffic is None else (_traffic(case.traffic),),
            failures=None if case.failures is None else self._draws(case.failures)(case.failures.draw),
            fail=None if case.fail is None else _many(case.fail),
            algorithm=None if case.algorithm is None else self._algorithm(case.algorithm),
            options=self._taken(given),
        )

    def axis(self, axis: AxisModel, taken: Collection[str]) -> CaseAxis:
        """Return what varies along an axis; *taken* are names of columns that are there.

        Raises FtplanError if an entry can mean nothing, or a file that it names is wrong.
        """
        return in_step([*self._of_files(axis), *self._of_changes(axis), *self._of_run(axis, taken)], axis.name, taken)

    def _of_files(self, axis: AxisModel) -> Iterator[CaseAxis]:
        if axis.cases is not None:
            if axis.name is None:
                raise FtplanError("name: is missing: what is the column of the cases called?")
            yield listed(axis.name, [(case.id, self.delta(case)) for case in axis.cases])
        for role, sources in _files(axis.inputs):
            read = [Delta(inputs={role: self._reader.read(role, source)}) for source in sources]
            yield listed(role, zip(map(_shown, sources), read, strict=True))
        if axis.plan is not None:
            yield listed("plan", [(_shown(source), Delta(plan=self._plan(source))) for source in axis.plan])

    def _of_changes(self, axis: AxisModel) -> Iterator[CaseAxis]:
        if axis.remove is not None:
            yield listed("remove", [(_names(some), Delta(remove=some)) for some in self._alternatives(axis.remove)])
        if (added := axis.add) is not None:
            each = [AddModel(node=added.node, id=added.id, zones=added.zones, count=count) for count in added.count]
            yield listed("added", [(item.count, Delta(add=(item,))) for item in each])
        for change in _changes(axis.set, "set"):
            varied = [(v, Delta(set=(FieldChange(change.selector, change.field, v),))) for v in change.value]
            yield listed(f"{change.selector}.{change.field}", varied)
        for change in _changes(axis.scale, "scale"):
            varied = [(v, Delta(scale=(FieldChange(change.selector, change.field, v),))) for v in change.value]
            yield listed(f"{change.selector}.{change.field} factor", varied)
        if axis.traffic is not None:
            factors = [_traffic(item) for item in axis.traffic]
            alike = len({item.cpu for item in factors}) == 1
            shown = [item.factor if alike or item.cpu else f"{text_of(item.factor)}, same cpu" for item in factors]
            yield listed("traffic", [(text, Delta(traffic=(f,))) for text, f in zip(shown, factors, strict=True)])

    def _of_run(self, axis: AxisModel, taken: Collection[str]) -> Iterator[CaseAxis]:
        if axis.failures is not None:
            yield drawn(self._draws(axis.failures), axis.failures.draws)
        if axis.fail is not None:
            yield listed("fail", [(_names(some), Delta(fail=some)) for some in self._alternatives(axis.fail)])
        if axis.algorithm is not None:
            yield listed("algorithm", [(name, Delta(algorithm=self._algorithm(name))) for name in axis.algorithm])
        for name, values in (axis.options or {}).items():
            each_option = [(_shown(value), Delta(options=self._taken({name: value}))) for value in values]
            yield listed(f"options.{name}" if name in taken else name, each_option)
        if isinstance(axis.seed, SeedsModel):
            yield seeded(axis.seed.first, axis.seed.count)
        elif axis.seed is not None:
            yield listed("seed", [(seed, Delta(options={"seed": seed})) for seed in axis.seed])

    def _plan(self, source: Any) -> Document:
        if not self._question.evaluates:
            raise FtplanError(f"plan: {self._question.command} makes a plan; give it where the command is evaluate")
        plan = self._reader.read("plan", source)
        assert isinstance(plan, Document)
        kind = load_plan(plan).value.kind
        if kind != self._question.kind:
            raise FtplanError(f"plan: {plan.name} is a {kind}, and run.plan a {self._question.kind}: make two files")
        self.plans.append(plan)
        return plan

    def _algorithm(self, name: str) -> str:
        if self._question.evaluates:
            raise FtplanError("algorithm: evaluate has none: leave it out")
        try:
            return registry.row(self._question.kind, name).name
        except FtplanError as error:
            raise FtplanError(f"algorithm: {str(error).removeprefix('--algorithm: ')}") from None

    def _taken(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return self._question.taken(options, self._reader)
        except FtplanError as error:
            raise FtplanError(f"options: {error}") from None

    def _alternatives(self, given: Any) -> Iterator[tuple[str, ...]]:
        """Yield the selectors of each alternative; ``each zone`` and the like are as many as there are."""
        for item in _many(given):
            if item in EACH:
                yield from ((name,) for name in self._each(item))
            elif isinstance(item, list) and any(name in EACH for name in item):
                raise FtplanError(f"{next(name for name in item if name in EACH)!r} stands for itself, not with others")
            else:
                yield _many(item)

    @property
    def _problem(self) -> Problem:
        if self._base is None:
            raise _UnreadBaseError
        return self._base

    def _each(self, what: str) -> Iterator[str]:
        kind = what.removeprefix("each ")
        cluster, topology = self._problem.cluster, self._problem.topology
        if kind in ("zone", "node"):
            if cluster is None:
                raise FtplanError(f"{what}: there is no cluster")
            names = [node.id for node in cluster.nodes] if kind == "node" else _zones(cluster)
            yield from (f"{kind}:{name}" for name in names)
            return
        if topology is None:
            raise FtplanError(f"{what}: there is no topology")
        for operator in topology.operators:
            if kind == "operator":
                yield f"operator:{operator.id}"
            else:
                yield from (f"task:{operator.id}/{i}" for i in range(operator.parallelism))

    def _draws(self, model: FailureSourceModel) -> Callable[[int], Entries]:
        """Return what draws failures; a log is read."""
        cluster = self._problem.cluster
        if cluster is None:
            raise FtplanError("failures: are drawn onto a cluster, and there is none")
        if model.source == PROBABILITIES:
            return ProbableDraws.of(cluster, may_be_none=model.may_be_none, seed=model.seed)
        columns = model.columns
        log = read_failure_log(self._reader.path(model.source), **columns.model_dump())
        self.fingerprints.append(log.sha256)
        bursts = bursts_of(log, model.window_s, model.at_least)
        together = model.timing == "together"
        return BurstDraws.onto(cluster, bursts, zoned=columns.zone is not None, together=together, seed=model.seed)


def _zones(cluster: Cluster) -> list[str]:
    names = dict.fromkeys(node.zone for node in cluster.nodes if node.zone is not None)
    if not names:
        raise FtplanError("each zone: no node of the cluster has a zone")
    return sorted(names, key=natural_key)


def _files(inputs: Any) -> Iterator[tuple[str, Any]]:
    """Yield the role and source of each file that is given."""
    for role in ROLES:
        source = None if inputs is None else getattr(inputs, role)
        if source is not None:
            yield role, source


def _many(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (list, tuple)) else () if given is None else (given,)


def _names(selectors: tuple[str, ...]) -> str:
    return ", ".join(selectors) or "nothing"


def _shown(value: Any) -> Any:
    """Return what a column holds for a file or an option: a plan or an input that stands in the file by its kind."""
    return f"({value['format']})" if isinstance(value, Mapping) and "format" in value else value


def _traffic(given: float | TrafficModel) -> TrafficModel:
    return given if isinstance(given, TrafficModel) else TrafficModel(factor=given, cpu=True)


def _changes(given: Mapping[str, Mapping[str, Any]] | None, key: str) -> Iterator[FieldChange]:
    for selector, fields in (given or {}).items():
        for name, value in fields.items():
            try:
                require_selector(selector, name)
            except FtplanError as error:
                raise FtplanError(f"{key}: {selector}: {error}") from None
            yield FieldChange(selector, name, value)
