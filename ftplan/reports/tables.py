"""Tables of a page, from the records of any plan: columns, units and folding follow from the fields' names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.reports.numbers import NOTHING, count, is_number, label, number, shown

#: Rows that a table shows, rows above which it is folded, and names that a cell lists.
ROWS, FOLDED, NAMES = 200, 12, 12
#: Records within records that have tables of their own.
DEEPEST = 3

Record = Mapping[str, Any]


@dataclass(frozen=True)
class PageTable:
    """A table: its caption, columns as (heading, whether it holds numbers), rows of texts, and a note below.

    The first column names the rows. ``folded`` tables are shown on request.
    """

    caption: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    folded: bool = False


def table(
    caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], *, names: Sequence[str] = ()
) -> PageTable:
    """Return a table of values.

    Parameters
    ----------
    names
        The fields that the columns hold, for their units; a column without one holds plain values.
    """
    listed = list(rows)
    fields = [*names, *[""] * (len(headings) - len(names))]
    numeric = [
        any(is_number(row[i]) for row in listed) and all(row[i] is None or is_number(row[i]) for row in listed)
        for i in range(len(headings))
    ]
    note = f"The first {ROWS:,} of {len(listed):,}; the file has all." if len(listed) > ROWS else ""
    texts = tuple(tuple(shown(f, v) for f, v in zip(fields, row, strict=True)) for row in listed[:ROWS])
    columns = tuple(zip(headings, numeric, strict=True))
    return PageTable(caption, columns, texts, note, len(listed) > FOLDED)


def records(caption: str, items: Sequence[Record]) -> PageTable:
    """Return a table of records, a row each; an operator and a number are one name, lists are counted and begun."""
    items = [item for item in items if isinstance(item, Mapping)]
    keys = list(dict.fromkeys(key for item in items[:ROWS] for key in item if key not in ("operator", "index")))
    part = "key_group" if "key_group" in keys else "index"
    named = any("operator" in item for item in items[:ROWS])
    indexed = any(part in item for item in items[:ROWS])
    if named and part in keys:
        keys.remove(part)
    keys = [key for key in _ordered(keys) if any(item.get(key) is not None for item in items[:ROWS])]
    first = ["key group" if part == "key_group" else "task" if indexed else "operator"] if named else []
    rows = [([name_of(item)] if named else []) + [_simple(item.get(key)) for key in keys] for item in items]
    return table(caption, first + [label(key) for key in keys], rows, names=[*("" for _ in first), *keys])


#: Fields that stand first in a table of records, and those that stand last.
_FIRST = (
    *("step", "round", "phase", "event", "id", "name", "nodes", "zones", "at_s", "trigger", "duration_s", "node"),
    *("primary", "from", "to", "checkpoints", "priority", "budget", "value", "bound", "back_s"),
    *("capacity", "used", "objective"),
)
_LAST = ("queries_down", "moves", "recover", "restored", "steps", "reason")


def _ordered(keys: Sequence[str]) -> list[str]:
    """Return fields in the order in which a reader wants them; files have them in that of the alphabet."""
    middle = [key for key in keys if key not in _FIRST and key not in _LAST]
    return [key for key in _FIRST if key in keys] + middle + [key for key in _LAST if key in keys]


def name_of(item: Record) -> str:
    """Return the name of what an entry of a plan is about: ``join/3``, or the operator alone."""
    part = item.get("key_group", item.get("index"))
    return str(item.get("operator")) if part is None else f"{item.get('operator')}/{part}"


def records_in(value: Any) -> list[Record]:
    """Return the records in a list; nothing where it is none."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _simple(value: Any) -> Any:
    """Return a value for one cell of a table."""
    if isinstance(value, Mapping):
        if {"value", "bound"} <= set(value):  # an objective
            of = [value["value"], value["bound"]]
            return " of ".join(number(v) if is_number(v) else NOTHING for v in of)
        return shown("", value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        if any(isinstance(v, Mapping) and "operator" not in v for v in value):
            return count(len(value), "entry")
        names = [name_of(v) if isinstance(v, Mapping) and "operator" in v else shown("", v) for v in value]
        if len(names) <= 2:
            return ", ".join(names) or NOTHING
        more = f" and {len(names) - NAMES:,} more" if len(names) > NAMES else ""
        return f"{len(names):,}: {', '.join(names[:NAMES])}{more}"
    return value


def facts(caption: str, values: Record) -> PageTable:
    """Return a table of two columns: what is known, and its value."""
    rows = tuple((label(key), shown(key, value)) for key, value in values.items())
    return PageTable(caption, (("what", False), ("value", False)), rows, folded=len(rows) > FOLDED)


def comparison(caption: str, columns: Mapping[str, Record], first: str = "") -> PageTable:
    """Return the numbers of several records side by side, a row for each field that any of them has, *first* first."""
    listed = (
        key for figures in columns.values() for key, value in figures.items() if is_number(value) or value is None
    )
    keys = sorted(dict.fromkeys(listed), key=lambda key: key != first)
    kept = [key for key in keys if any(figures.get(key) is not None for figures in columns.values())]
    sizes = [key for key in kept if key in _SAMPLES]
    kept = [key for key in kept if key not in sizes]
    rows = tuple((label(key), *(shown(key, figures.get(key)) for figures in columns.values())) for key in kept)
    drawn = [
        f"{name}: mean of {number(figures[key])} {label(key)}"
        for key in sizes
        for name, figures in columns.items()
        if is_number(figures.get(key))
    ]
    note = f"{'; '.join(drawn).capitalize()}." if drawn else ""
    return PageTable(caption, (("figure", False), *((name, True) for name in columns)), rows, note)


#: Fields that say how many draws a mean is of.
_SAMPLES = ("orders", "choices", "samples")
#: Records of a summary, as the columns of the comparison call them.
_COLUMNS = {
    "before": "before",
    "step_by_step": "at each step alone",
    "after": "this plan",
    "even": "evenly spread",
    "most_fidelity": "most fidelity",
    "random": "at random",
    "virtual_nodes": "virtual nodes",
}


def summary_tables(summary: Record, before: str = "before", first: str = "") -> list[PageTable]:
    """Return the tables of a plan's summary: its figures beside others, each nested record, and what is left.

    Parameters
    ----------
    before
        What the figures of ``before`` are of.
    first
        The field that stands first.
    """
    beside = {text: summary[name] for name, text in _COLUMNS.items() if isinstance(summary.get(name), Mapping)}
    peers = summary.get("peers")
    if isinstance(peers, Mapping):  # what other tools do; one of them may be what would be done without a plan
        named = {label(name): figures for name, figures in peers.items() if isinstance(figures, Mapping)}
        beside |= {text: figures for text, figures in named.items() if text != before}
    if "before" in beside:
        beside = {before if text == "before" else text: figures for text, figures in beside.items()}
    made: list[PageTable] = []
    if beside:
        made.append(comparison("Figures of this plan beside others", beside, first))
        nested = dict.fromkeys(k for figures in beside.values() for k, v in figures.items() if isinstance(v, Mapping))
        for key in nested:
            columns = {text: figures[key] for text, figures in beside.items() if isinstance(figures.get(key), Mapping)}
            rows = dict.fromkeys(name for column in columns.values() for name in column)
            listed = [(name, *(column.get(name) for column in columns.values())) for name in rows]
            made.append(table(_title(key), (label(key).removeprefix("by "), *columns), listed))
    lists = {
        key: value
        for figures in (summary.get("after"), summary)
        if isinstance(figures, Mapping)
        for key, value in figures.items()
        if isinstance(value, list) and value and isinstance(value[0], Mapping)
    }
    made += [records(_title(key), value) for key, value in lists.items()]
    others = {k: v for k, v in summary.items() if k not in (*_COLUMNS, "peers") and k not in lists and v is not None}
    plain = {k: v for k, v in others.items() if not isinstance(v, Mapping) and not _drawn(v)}
    for key, value in others.items():
        if isinstance(value, Mapping):
            inner = {k: v for k, v in value.items() if isinstance(v, Mapping)}
            flat = {k: v for k, v in value.items() if k not in inner and v is not None}
            if inner:
                made.append(_nested(_title(key), inner, flat))
            elif flat:
                made.append(facts(_title(key), flat))
    return [*made, *([facts("What else the plan counts", plain)] if plain else [])]


def _drawn(value: Any) -> bool:
    """Return whether a value is a curve, which pictures show."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _nested(caption: str, inner: Mapping[str, Record], others: Record) -> PageTable:
    """Return records of one record as rows, their fields as columns, and the *others* as a note."""
    keys = list(dict.fromkeys(key for record in inner.values() for key in record))
    rows = tuple((label(name), *(shown(name, record.get(key)) for key in keys)) for name, record in inner.items())
    note = "; ".join(f"{label(key)}: {shown(key, value)}" for key, value in others.items())
    return PageTable(
        caption,
        (("figure", False), *((label(key), True) for key in keys)),
        rows,
        f"{note.capitalize()}." if note else "",
    )


def _title(key: str) -> str:
    return label(key).capitalize()


def _counted(caption: str, items: Sequence[Record]) -> PageTable:
    return records(f"{caption} ({count(len(items), 'row')})", items)


def _within(of: str, items: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """Return the records that stand in lists within records, and say more than names, with where they stand."""
    keys = dict.fromkeys(key for item in items for key, value in item.items() if isinstance(value, list))
    nested = []
    for key in keys:
        rows: list[Record] = []
        for i, item in enumerate(items):
            inner = records_in(item.get(key))
            where = {k: item[k] for k in ("step", "round", "id") if item.get(k) is not None}
            rows += [{**(where or {"entry": i}), **entry} for entry in inner]
        if any(set(row) - {"operator", "index", "step", "round", "id", "entry"} for row in rows):
            nested.append((f"{_title(of)}: {label(key)}", rows))
    return nested


def body_tables(body: Record, main: str) -> list[PageTable]:
    """Return a table for each list of records in a plan's body, the *main* one first, and one for what is no list."""
    lists = {k: records_in(v) for k, v in body.items() if records_in(v)}
    order = [key for key in (main, *sorted(lists)) if key in lists]
    made = []
    for key in dict.fromkeys(order):
        made.append(_counted(_title(key), lists[key]))
        made += [_counted(caption, rows) for caption, rows in _within(key, lists[key])]
    others = {key: value for key, value in body.items() if key not in lists and value not in (None, [], {})}
    plain = {key: value for key, value in others.items() if not isinstance(value, Mapping)}
    for key, value in others.items():
        made += _parts(_title(key), value) if isinstance(value, Mapping) else []
    return [*made, *([facts("Beside these", plain)] if plain else [])]


def _parts(caption: str, record: Record, deep: int = 0) -> list[PageTable]:
    """Return a table of a record's plain fields, and one for each list of records and each record in it."""
    lists = {key: records_in(value) for key, value in record.items() if records_in(value)}
    inner = {key: value for key, value in record.items() if isinstance(value, Mapping) and value}
    plain = {k: v for k, v in record.items() if k not in lists and k not in inner and v not in (None, [], {})}
    if deep == DEEPEST or not (lists or inner):
        return [facts(caption, record)]
    made = [facts(caption, plain)] if plain else []
    made += [_counted(f"{caption}: {label(key)}", value) for key, value in lists.items()]
    if len(inner) > 1 and len({tuple(value) for value in inner.values()}) == 1:
        return [*made, _nested(caption, inner, {})]
    return [
        *made,
        *(one for key, value in inner.items() for one in _parts(f"{caption}: {label(key)}", value, deep + 1)),
    ]
