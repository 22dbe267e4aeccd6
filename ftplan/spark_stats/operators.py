"""How many key groups each operator has, from the mapping and the topology, before anything is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ftplan.errors import FtplanError
from ftplan.model.names import slug
from ftplan.model.topology import Operator, Topology
from ftplan.spark_stats.mapping import LogMapping

_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")
_NO_LABEL = re.compile(r"[^A-Za-z0-9:_]")


@dataclass(frozen=True, slots=True)
class Operators:
    """What is known of the operators beforehand.

    ``counts`` maps operator id to its number of key groups (None: no keyed state); ``default`` holds for operators
    that are not in it. ``aliases`` maps the names under which the log may know an operator to its id. ``upstream`` is
    the operator whose tasks the upstream task column means; None where a column names it, or there are no substreams.
    """

    counts: Mapping[str, int | None]
    default: int | None
    aliases: Mapping[str, str]
    topology: Topology | None
    upstream: str | None
    of_engine: bool = False

    def count(self, operator: str) -> int | None:
        """Return the number of key groups of the operator with this id."""
        return self.counts.get(operator, self.default)

    @property
    def most_key_groups(self) -> int:
        """The largest number of key groups that any operator has, at least 1."""
        return max(1, self.default or 0, *(count or 0 for count in self.counts.values()))

    def resolve(self, names: Iterable[str]) -> dict[str, str]:
        """Return the id of each name in the log: an alias, or the name with what ids may not hold turned into ``-``.

        Names of an engine become the ids that ``import-topology`` gives them.

        Raises FtplanError if two names become one id.
        """
        ids: dict[str, str] = {}
        owner: dict[str, str] = {}
        for name in sorted(set(names)):
            operator = self.aliases.get(name) or (slug(name) if self.of_engine else as_id(name))
            if operator in owner and name not in self.aliases:
                raise FtplanError(f"operators {owner[operator]!r} and {name!r} of the log both become {operator!r}")
            owner.setdefault(operator, name)
            ids[name] = operator
        return ids


def as_id(name: str) -> str:
    """Return a name of the log as an id: what ids may not hold becomes ``-``."""
    return _NO_ID.sub("-", name).strip("-") or "-"


def known_operators(mapping: LogMapping, topology: Topology | None) -> Operators:
    """Return what mapping and topology together say; the topology's number of key groups wins.

    Raises FtplanError if they differ, an operator is not in the topology, a keyed operator has no number of key groups,
    or nothing tells whose tasks an upstream task column means.
    """
    named = [o for o in (mapping.operator, *(o for o, _ in mapping.keys)) if o is not None]
    given = dict(mapping.operator_key_groups)
    if topology is None:
        keyed = [o for o, _ in mapping.keys] + ([mapping.operator] if mapping.operator and mapping.key_columns else [])
        for operator in keyed:
            if given.get(operator, mapping.key_groups) is None:
                raise FtplanError(f"operator {operator!r}: no number of key groups; give --key-groups N or a topology")
        unknown = mapping.key_groups is None and not given and not mapping.from_engine
        if mapping.operator_column and mapping.key_columns and unknown:
            raise FtplanError("no number of key groups; give --key-groups N or a topology (-t)")
        aliases = {o: o for o in (*named, *given)}
        return Operators(
            dict(given), mapping.key_groups, aliases, None, _upstream_of(mapping, None), mapping.from_engine
        )
    ids = {o.id for o in topology.operators}
    names = {o.name: o.id for o in topology.operators if o.name and o.name not in ids}
    aliases = {**names, **{i: i for i in ids}}
    if mapping.from_engine:  # its log may know an operator by what its name becomes, and know more operators
        aliases = {**_as_labels(names), **aliases}
        given = {aliases[o]: count for o, count in given.items() if o in aliases}
    else:
        given = {aliases.get(o, o): count for o, count in given.items()}
    upstream = [mapping.upstream_operator] if mapping.upstream_operator else []
    for operator in dict.fromkeys((*named, *given, *upstream)):
        topology.operator(operator)
    keyed_here = set(named) if mapping.operator_column is None else {o.id for o in topology.operators}
    for o in topology.operators:
        _agree(o, given.get(o.id, mapping.key_groups if o.id in keyed_here and o.key_groups else None))
    for operator, columns in (*mapping.keys, *([(mapping.operator, mapping.key_columns)] if mapping.operator else [])):
        if columns and not topology.operator(operator).key_groups:
            raise FtplanError(f"operator {operator!r} has a key column, but no key_groups in the topology")
    counts = {o.id: o.key_groups for o in topology.operators}
    upstream_id = _upstream_of(mapping, topology)
    return Operators(counts, None, aliases, topology, upstream_id, mapping.from_engine)


def _as_labels(names: Mapping[str, str]) -> dict[str, str]:
    """Return the ids by the names that labels have where Flink's reporter keeps only letters, digits, ``:`` and ``_``.

    Names that look alike then are left out.
    """
    labels: dict[str, list[str]] = {}
    for name, operator in names.items():
        for text in (_NO_LABEL.sub("_", name), slug(name)):
            labels.setdefault(text, []).append(operator)
    return {label: operators[0] for label, operators in labels.items() if len(set(operators)) == 1}


def _agree(operator: Operator, count: int | None) -> None:
    if count is not None and count != operator.key_groups:
        raise FtplanError(
            f"--key-groups {count}: operator {operator.id!r} has {operator.key_groups or 'no'} key groups "
            "in the topology; leave the option out"
        )


def _upstream_of(mapping: LogMapping, topology: Topology | None) -> str | None:
    """Return the operator that sends to the mapping's one operator: as given, or its only one in the topology."""
    if mapping.upstream_task_column is None or mapping.upstream_operator_column is not None:
        return None
    if mapping.upstream_operator is not None:
        return mapping.upstream_operator
    if topology is not None and mapping.operator is not None:
        position = topology.position[mapping.operator]
        senders = {edge.source for edge in topology.edges if edge.target == position}
        if len(senders) == 1:
            return topology.operators[senders.pop()].id
    raise FtplanError(
        "--upstream-task-column: whose tasks are these? give --upstream-operator NAME or --upstream-operator-column"
    )
