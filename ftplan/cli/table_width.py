"""Tables within the width of a terminal: what tells rows apart is not cut away.

Numbers stay whole and words wrap. A word that is too long, such as a task, a case or a node, keeps the parts in which
it differs from the others of its column. A table with too many columns is shown in parts, each of which begins with the
columns that tell its rows apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from ftplan.reports.answer import Table, cell, stands_right

#: Characters between two columns.
GAP = 2
#: Characters that a long word of a column gets at least, the first of them that tells all words apart.
LEAST = (16, 24, 32, 40)
CUT = "…"


@dataclass(frozen=True, slots=True)
class TablePart:
    """Columns of a table that stand beside each other: headings, widths, whether numbers; and texts, a row each."""

    columns: tuple[str, ...]
    widths: tuple[int, ...]
    right: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def parts_of(table: Table, width: int) -> list[TablePart]:
    """Return a table as parts of at most so many characters, one where it fits: words wrap within a column."""
    texts = [tuple(map(cell, row)) for row in table.rows]
    columns = list(zip(*texts, strict=True)) or [() for _ in table.columns]
    right = [
        bool(table.rows) and all(stands_right(row[i]) or row[i] is None for row in table.rows)
        for i in range(len(table.columns))
    ]
    whole = [max(map(_longest_line, (name, *column))) for name, column in zip(table.columns, columns, strict=True)]
    least = [_least(name, column, number) for name, column, number in zip(table.columns, columns, right, strict=True)]
    least = [min(pair) for pair in zip(whole, least, strict=True)]
    made = []
    groups = _groups(whole, least, columns, width)
    for i in set.intersection(*map(set, groups)) if len(groups) > 1 else ():
        whole[i] = least[i]  # a name reads alike in all parts
    for chosen in groups:
        widths = _widened([whole[i] for i in chosen], [least[i] for i in chosen], width)
        fitted = [_fitted(columns[i], right[i], w) for i, w in zip(chosen, widths, strict=True)]
        made.append(
            TablePart(
                tuple(table.columns[i] for i in chosen),
                tuple(widths),
                tuple(right[i] for i in chosen),
                tuple(zip(*fitted, strict=True)),
            )
        )
    return made


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _least(name: str, column: Sequence[str], number: bool) -> int:
    """Return the least width of a column: that of its numbers, or of words that are shortened and stay distinct."""
    if number:
        return max(map(cell_len, (*name.split(), *column)), default=1)
    heading = max(map(cell_len, name.split()), default=1)
    words = _words(column)
    longest = max(map(cell_len, words), default=1)
    enough = next((w for w in LEAST if w >= longest or distinct(words, w) is not None), LEAST[0])
    return max(heading, min(longest, enough))


def _words(column: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for text in column for word in text.split()))


def distinct(words: Sequence[str], width: int) -> dict[str, str] | None:
    """Return words as at most *width* characters, by those that are longer; None where two would read alike.

    They lose their middle, as much of the end staying as tells them apart; or what all of them begin with.
    """
    long = [word for word in words if cell_len(word) > width]
    taken = {word for word in words if cell_len(word) <= width}
    if not long:
        return {}
    room = width - 1
    first, last = min(long), max(long)
    begin = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    tails = sorted(range(1, room + 1), key=lambda tail: abs(tail - room // 2))
    ends = [(0, room - tail, tail) for tail in tails]
    ends += [(max(begin - context, 0), room - 1, 0) for context in (4, 2, 0)]
    for start, head, tail in ends:
        short = {word: _cut(word, start, head, tail) for word in long}
        read = set(short.values())
        if len(read) == len(long) and not read & taken and all(cell_len(text) <= width for text in read):
            return short
    return None


def _cut(word: str, start: int, head: int, tail: int) -> str:
    """Return so many characters from *start* on, and so many of the end."""
    return (CUT if start else "") + word[start : start + head] + CUT + word[len(word) - tail :]


def _groups(whole: Sequence[int], least: list[int], columns: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Return which columns stand together: all, or groups that begin with those that tell the rows apart.

    The least widths of these are raised then, to a third of the terminal together.
    """
    numbers = range(len(whole))
    if sum(least) + GAP * (len(least) - 1) <= width:
        return [list(numbers)]
    rows = len(columns[0]) if columns else 0
    keys = next((k for k in numbers if k and len(set(zip(*columns[:k], strict=True))) == rows), 1)
    while keys > 1 and sum(least[:keys]) + GAP * keys > width // 2:
        keys -= 1
    least[:keys] = [min(w, max(few, width // (3 * keys))) for w, few in zip(whole[:keys], least[:keys], strict=True)]
    groups: list[list[int]] = []
    room = 0
    for i in numbers[keys:]:
        if not groups or room < least[i] + GAP:
            groups.append(list(range(keys)))
            room = width - sum(least[:keys]) - GAP * (keys - 1)
        groups[-1].append(i)
        room -= least[i] + GAP
    return groups or [list(numbers)]


def _widened(whole: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return widths that share out what is left, the columns that lack least first; never above *width* in sum."""
    widths = list(least)
    left = width - sum(widths) - GAP * (len(widths) - 1)
    lacking = sorted(range(len(widths)), key=lambda i: whole[i] - widths[i])
    for place, i in enumerate(lacking):
        more = min(whole[i] - widths[i], max(left, 0) // (len(lacking) - place))
        widths[i] += more
        left -= more
    if left < 0:  # one column, or its key, is wider than the terminal: it is folded
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] = max(1, widths[widest] + left)
    return widths


def _fitted(column: Sequence[str], number: bool, width: int) -> Sequence[str]:
    """Return the texts of a column with words that fit; they are folded where they would read alike."""
    short = None if number else distinct(_words(column), width)
    if not short:
        return column
    return [" ".join(short.get(word, word) for word in text.split(" ")) for text in column]
