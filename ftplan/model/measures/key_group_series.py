"""From tables of statistics to the matrix of key-group loads; and what it would be with fewer key groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import KeyGroupSeries, window_numbers
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology
from ftplan.model.units import MEASURES, Measure

#: Largest matrix, in numbers of 8 bytes.
MAX_CELLS = 2_000_000_000


def merged(series: KeyGroupSeries, key_groups: int) -> KeyGroupSeries:
    """Return the series of every operator with *key_groups* key groups: fine group g becomes g mod *key_groups*.

    Exact where an engine takes a hash modulo the number of key groups and the new number divides the old one, as
    Flink (max parallelism), Spark (shuffle partitions) and Kafka (partitions) do: h mod N mod n = h mod n. Loads and
    states add up. Cost O(W K).

    Raises
    ------
    FtplanError
        If the number does not divide what some operator has.
    """
    for number, name in enumerate(series.operators):
        have = int((series.operator == number).sum())
        if key_groups < 1 or have % key_groups:
            fits = [str(n) for n in range(1, have + 1) if have % n == 0]
            raise FtplanError(
                f"--sweep-key-groups: {key_groups} does not divide the {have} key groups that the statistics have of "
                f"{name!r}: one of {', '.join(fits)}"
            )
    count = len(series.operators)
    column = series.operator * key_groups + series.key_group % key_groups
    loads = np.zeros((series.loads.shape[0], count * key_groups))
    for member, target in enumerate(column.tolist()):
        loads[:, target] += series.loads[:, member]
    state = np.zeros(count * key_groups)
    np.add.at(state, column, series.state_bytes)
    estimated = np.bincount(series.operator, series.estimated, minlength=count) > 0
    return replace(
        series,
        operator=np.repeat(np.arange(count, dtype=np.int64), key_groups),
        key_group=np.tile(np.arange(key_groups, dtype=np.int64), count),
        loads=loads,
        state_bytes=state,
        estimated=np.repeat(estimated, key_groups),
    )


def key_group_series(stats: StatsTables, measure: Measure, topology: Topology | None = None) -> KeyGroupSeries:
    """Return the loads of all key groups over all windows of the manifest's range.

    Groups of all operators with statistics, sorted by (operator id, key group). A window without a row means 0.
    How many groups an operator has is the topology's to say where it has the operator, else the manifest's.
    Cost: linear in the rows plus the size of the matrix; vectorised.

    Raises
    ------
    FtplanError
        If the statistics do not have the measure, or not for one of the operators; if the topology does not know an
        operator, has it without key groups or with another number; if two rows are for one group and window.
    """
    if measure not in stats.manifest.measures:
        there = ", ".join(stats.manifest.measures)
        near = suggestion(measure, MEASURES) if measure not in MEASURES else ""
        raise FtplanError(f"the statistics have no {measure!r}{near}: there is {there}")
    table = stats.tables["key_groups"]
    encoded = table["operator"].dictionary_encode().combine_chunks()
    named = [str(name) for name in encoded.dictionary.to_pylist()]
    group = table["key_group"].to_numpy().astype(np.int64)
    counts = _counts(stats, named, topology, group, encoded.indices.to_numpy())
    operators = tuple(sorted(counts))
    sizes = np.array([counts[name] for name in operators], dtype=np.int64)
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    position = {name: i for i, name in enumerate(operators)}
    rank = np.array([position[name] for name in named], dtype=np.int64)
    windows, groups = stats.manifest.windows, int(begin[-1])
    if windows * groups > MAX_CELLS:
        raise FtplanError(f"{groups:,} key groups x {windows:,} windows do not fit into memory: use longer windows")
    column = begin[rank[encoded.indices.to_numpy()]] + group if len(group) else group
    number, _ = window_numbers(table["window_start"], stats.manifest)
    cell = number * groups + column
    loads = np.zeros(windows * groups)
    loads[cell] = _filled(stats, measure, named)
    if len(cell):
        _refuse_duplicates(cell, windows * groups, operators, begin, stats)
    operator = np.repeat(np.arange(len(operators), dtype=np.int64), sizes)
    key_group = np.arange(groups, dtype=np.int64) - np.repeat(begin[:-1], sizes)
    state = np.full(groups, -np.inf)
    if table["state_bytes"].null_count < table.num_rows:
        np.maximum.at(state, column, table["state_bytes"].fill_null(-np.inf).to_numpy())
    by_operator = [name in stats.manifest.operators and stats.manifest.operators[name].estimated for name in operators]
    estimated = np.repeat(np.array(by_operator, dtype=np.bool_), sizes)
    estimated[column[table["estimated"].to_numpy().astype(np.bool_)]] = True
    return KeyGroupSeries(
        operators=operators,
        operator=operator,
        key_group=key_group,
        loads=loads.reshape(windows, groups),
        measure=measure,
        window_s=stats.manifest.window_s,
        state_bytes=np.where(np.isneginf(state), np.nan, state),
        estimated=estimated,
    )


def of_operators(series: KeyGroupSeries, operators: Sequence[Operator]) -> KeyGroupSeries:
    """Return the series with all key groups of keyed operators, sorted by id, and no others.

    A group that the statistics do not know has load 0 and unknown state. Cost O(W K).

    Raises
    ------
    FtplanError
        If the statistics have a key group that its operator does not have.
    """
    sizes = np.array([operator.key_groups or 0 for operator in operators], dtype=np.int64)
    begin = np.cumsum(sizes) - sizes
    total, windows = int(sizes.sum()), series.loads.shape[0]
    loads, state = np.zeros((windows, total)), np.full(total, np.nan)
    estimated = np.zeros(total, dtype=np.bool_)
    for first, operator in zip(begin.tolist(), operators, strict=True):
        if operator.id not in series.operators:
            continue
        known = np.flatnonzero(series.operator == series.operators.index(operator.id))
        group, count = series.key_group[known], operator.key_groups or 0
        if group.size and (group.min() < 0 or group.max() >= count):
            raise FtplanError(
                f"operator {operator.id!r}: the statistics have key group {int(group.max())}, the topology only "
                f"{count} key groups: compute them with the same number of key groups"
            )
        loads[:, first + group] = series.loads[:, known]
        state[first + group] = series.state_bytes[known]
        estimated[first + group] = series.estimated[known]
    return replace(
        series,
        operators=tuple(operator.id for operator in operators),
        operator=np.repeat(np.arange(len(operators), dtype=np.int64), sizes),
        key_group=np.arange(total, dtype=np.int64) - np.repeat(begin, sizes),
        loads=loads,
        state_bytes=state,
        estimated=estimated,
    )


def _counts(
    stats: StatsTables, named: list[str], topology: Topology | None, group: IntArray, code: IntArray
) -> Mapping[str, int]:
    """Return the number of key groups of each operator with statistics of key groups."""
    manifest = stats.manifest
    keyed = {name for name, item in manifest.operators.items() if item.key_groups is not None}
    counts: dict[str, int] = {}
    maxima = np.full(len(named), -1, dtype=np.int64)
    np.maximum.at(maxima, code, group)
    largest = dict(zip(named, maxima.tolist(), strict=True))
    for name in sorted(keyed | set(named)):
        item = manifest.operators.get(name)
        count = item.key_groups if item is not None else None
        if topology is not None:
            count = stated_key_groups(known_operator(name, topology), count)
        highest = largest.get(name, -1)
        if count is not None and highest >= count:
            raise beyond_key_groups(name, count, highest)
        counts[name] = highest + 1 if count is None else count
    return counts


def known_operator(name: str, topology: Topology) -> Operator:
    """Return the operator that statistics name; the topology has to have it."""
    if name not in topology.position:
        near = suggestion(name, topology.position)
        raise FtplanError(f"the statistics have an operator {name!r}, which the topology does not know{near}")
    return topology.operator(name)


def stated_key_groups(operator: Operator, counted: int | None) -> int:
    """Return the topology's number of key groups; what the statistics *counted*, if they did, has to be the same."""
    if operator.key_groups is None:
        raise FtplanError(
            f"the statistics have key groups of operator {operator.id!r}, which has none in the topology: "
            f"give it 'key_groups: {counted or '…'}'"
        )
    if counted is not None and counted != operator.key_groups:
        raise FtplanError(
            f"operator {operator.id!r} has {operator.key_groups} key groups in the topology, but {counted} in the "
            "statistics: make them equal, or compute the statistics again with the topology"
        )
    return operator.key_groups


def beyond_key_groups(name: str, count: int, key_group: int) -> FtplanError:
    """Return the error of a key group that an operator does not have."""
    return FtplanError(
        f"operator {name!r} has {count} key groups in the topology, but the statistics have key group {key_group}"
    )


def _filled(stats: StatsTables, measure: str, named: list[str]) -> FloatArray:
    """Return the measure's column with 0 for absent values; an operator without any value is refused."""
    table = stats.tables["key_groups"]
    values = table[measure]
    if values.null_count:
        known = values.is_valid()
        having = set(table.filter(known)["operator"].unique().to_pylist())
        for name in sorted(named):
            if name not in having:
                raise FtplanError(f"the statistics have no {measure!r} of operator {name!r}")
        values = values.fill_null(0.0)
    return np.asarray(values.to_numpy(), dtype=np.float64)


def _refuse_duplicates(
    cell: IntArray, cells: int, operators: tuple[str, ...], begin: IntArray, stats: StatsTables
) -> None:
    met = np.zeros(cells, dtype=np.bool_)
    met[cell] = True
    if int(np.count_nonzero(met)) == len(cell):
        return
    ordered = np.sort(cell)
    twice = int(ordered[1:][ordered[1:] == ordered[:-1]][0])
    window, column = divmod(twice, int(begin[-1]))
    operator = int(np.searchsorted(begin, column, side="right")) - 1
    raise FtplanError(
        f"key_groups: two rows for key group {operators[operator]}/{column - int(begin[operator])} in window {window} "
        f"(of {stats.manifest.windows})"
    )
