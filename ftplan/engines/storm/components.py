"""Storm's components as operators, its groupings as partitionings, and what of both is not the user's."""

from __future__ import annotations

from ftplan.engines.importing.draft import Draft, DraftEdge, DraftOperator, ImportOptions
from ftplan.model.names import listed

#: What a grouping is, where all tasks of both sides meet but not as the topology has it.
_APPROXIMATE = {
    "all": ("ALL_GROUPING", "each record goes to every task, but the topology divides them"),
    "direct": ("DIRECT_GROUPING", "the code chooses the task; all are taken to meet, records evenly"),
    "custom": ("CUSTOM_GROUPING", "the code chooses the tasks; all are taken to meet, records evenly"),
    "local_or_shuffle": ("LOCAL_GROUPING", "tasks of one worker meet where there are some; all are taken to meet"),
    "global": ("GLOBAL_GROUPING", "all records go to the first task, but another input does not; evenly is taken"),
    "unknown": ("GROUPING_UNKNOWN", "the grouping is not told; all tasks are taken to meet, and no keys are known"),
}
_EXACT = ("fields", "shuffle", "none")


def grouping(name: str) -> str:
    """Return a grouping as this module calls it: Flux writes SHUFFLE, Thrift local_or_shuffle, custom_object."""
    plain = name.strip().lower().replace("-", "_").replace("localorshuffle", "local_or_shuffle")
    plain = {"null": "none", "partial_key": "custom"}.get(plain, plain)
    if plain.startswith("custom"):
        return "custom"
    return plain if plain in _EXACT or plain in _APPROXIMATE else "unknown"


def is_coordination(stream: str) -> bool:
    """Return whether a stream is Trident's (``$batch``, ``$coord-bg0``) or Storm's own (``__ack_init``)."""
    return stream.startswith(("$", "__"))


def is_system(component: str) -> bool:
    """Return whether a component is Storm's own (``__acker``) or coordinates Trident (``$mastercoord-bg0``)."""
    return component.startswith(("__", "$"))


def component(key: str, executors: int | None, tasks: int | None, percent: float | None) -> DraftOperator:
    """Return an operator of so many executors (None: not known) and Storm tasks, each executor with percent of a core.

    Storm runs no more executors than tasks.
    """
    if executors is not None and tasks:
        executors = min(executors, tasks)
    operator = DraftOperator(key, key, executors or 0, key_groups=tasks or executors or 1)
    operator.cpu = None if percent is None else percent / 100
    return operator


def connect(draft: Draft, streams: list[tuple[str, str, str]], options: ImportOptions) -> None:
    """Add the edges for streams (from, to, grouping), and what follows from their groupings for operators.

    A fields grouping makes its receiver keyed, over its Storm tasks (``key_groups`` of the draft's operators, which
    only keyed ones keep). A global grouping sends all to the first task.
    """
    operators = {operator.key: operator for operator in draft.operators}
    incoming: dict[str, set[str]] = {}
    approximate: dict[str, list[str]] = {}
    for source, target, kind in streams:
        draft.edges.append(DraftEdge(source, target))
        incoming.setdefault(target, set()).add(kind)
        one_task = target in operators and operators[target].parallelism == 1
        if kind in _APPROXIMATE and (kind == "unknown" or not one_task):
            approximate.setdefault(kind, []).append(f"{source} -> {target}")
    for key, operator in operators.items():
        kinds = incoming.get(key, set())
        if "fields" not in kinds:
            operator.key_groups = None
        if kinds == {"global"} and operator.parallelism > 1:
            operator.input_share = [1.0] + [0.0] * (operator.parallelism - 1)
            approximate["global"] = [edge for edge in approximate["global"] if not edge.endswith(f" -> {key}")]
    for kind, (code, text) in _APPROXIMATE.items():
        if approximate.get(kind):
            draft.assume(code, f"{listed(sorted(set(approximate[kind])))}: {text}")
    _tell_joins(draft, options)


def _tell_joins(draft: Draft, options: ImportOptions) -> None:
    """Note the bolts with several inputs: whether they join, Storm does not know."""
    senders: dict[str, set[str]] = {}
    for edge in draft.edges:
        senders.setdefault(edge.target, set()).add(edge.source)
    told = {*options.correlated, *options.independent}
    open_: list[DraftOperator] = [
        operator
        for operator in draft.operators
        if len(senders.get(operator.key, ())) > 1 and operator.key not in told and not operator.correlated
    ]
    if open_:
        names = listed([operator.key for operator in open_])
        draft.assume("INPUTS_UNKNOWN", f"{names}: several inputs, taken as independent; --correlated says of a join")
