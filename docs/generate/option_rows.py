"""Options of a command as rows of a table that a phone can show: how one is written, what it means."""

from __future__ import annotations

import re
from dataclasses import dataclass

import click


@dataclass(frozen=True)
class Row:
    """An option: what click calls it, its flags, what follows them, its meaning."""

    name: str
    flags: tuple[str, ...]
    takes: str
    meaning: str


def row(parameter: click.Parameter, context: click.Context) -> Row | None:
    """Return the row of an option, None where it is an argument or hidden."""
    record = parameter.get_help_record(context)
    if record is None or not isinstance(parameter, click.Option):
        return None
    text, extras = _without_brackets(" ".join(record[1].split()))
    flags = tuple(sorted((*parameter.opts, *parameter.secondary_opts), key=lambda flag: flag.startswith("--")))
    choices = list(parameter.type.choices) if isinstance(parameter.type, click.Choice) else []
    takes = "" if parameter.is_flag or choices else parameter.make_metavar(context)
    words = [word.strip() for word in takes.split("|")]
    meaning = _explained(text, choices or words, bool(choices))
    said = " ".join(_extra(extra, flags) for extra in extras)
    meaning += f"{'<br>' if '<br>' in meaning else ' '}{said}" * bool(said)
    return Row(str(parameter.name), flags, ", ".join(words).replace("INTEGER RANGE", "N"), escaped(meaning))


def table(rows: list[Row]) -> str:
    """Return rows as a table of two columns."""
    lines = ["| option | what it means |", "|---|---|"]
    for item in rows:
        flags = ", ".join(f"`{flag}`" for flag in item.flags)
        lines.append(f"| {flags}{' ' * bool(item.takes)}{escaped(item.takes)} | {item.meaning} |")
    return "\n".join(lines)


def sentence(text: str) -> str:
    """Return a text that begins and ends as a sentence does."""
    return f"{text[0].upper()}{text[1:]}."


def escaped(text: str) -> str:
    """Return a text in which Markdown finds nothing of its own, with options as code."""
    flags = r"(?<![\w`/-])(--[a-z][\w-]*)(?![\w`-])"
    parts = re.split(r"(`[^`]*`|<br>)", re.sub(flags, r"`\1`", text))
    return "".join(part if i % 2 else _of_markdown(part) for i, part in enumerate(parts))


def _of_markdown(text: str) -> str:
    return re.sub(r"([*|\[\]])", r"\\\1", text.replace("<", "&lt;").replace(">", "&gt;"))


def _without_brackets(text: str) -> tuple[str, list[str]]:
    """Part a help text from what stands in brackets at its end: ``[default: 1; x>=1]``."""
    extras: list[str] = []
    while text.endswith("]"):
        depth, start = 1, len(text) - 1
        while depth:
            start -= 1
            depth += {"]": 1, "[": -1}.get(text[start], 0)
        extras.insert(0, text[start + 1 : -1])
        text = text[:start].rstrip()
    return text, extras


def _explained(text: str, words: list[str], are_all: bool) -> str:
    """Return a help text with each word that it explains on a line of its own, or with the words behind it.

    *are_all* says that an option takes these words and nothing else.
    """
    starts = {word: re.search(rf"(?:^|(?<=[ ;:.,])){re.escape(word)} = ", text) for word in words}
    cuts = sorted((found.start(), found.end(), word) for word, found in starts.items() if found)
    if are_all and len(cuts) < len(words) > 1:
        return f"{text} One of {', '.join(f'`{word}`' for word in words)}."
    if len(cuts) < 2:
        return text
    ends = [start for start, _, _ in cuts[1:]] + [len(text)]
    lines = [text[: cuts[0][0]].strip()]
    lines += [f"`{word}`: {text[end:stop].strip(' ;.,')}." for (_, end, word), stop in zip(cuts, ends, strict=True)]
    return "<br>".join(filter(None, lines))


def _extra(extra: str, flags: tuple[str, ...]) -> str:
    """Return what stood in brackets as sentences."""
    if extra == "required":
        return "Required."
    if limits := re.search(r"(?:^|; )(?:(\S+)<=?)?x(?:([<>])=?(\S+))?$", extra):
        least, way, most = limits.groups()
        said = f"From {least} to {most}." if least else f"At {'least' if way == '>' else 'most'} {most}."
        return " ".join(filter(None, (_extra(extra[: limits.start()], flags) if limits.start() else "", said)))
    if not extra.startswith("default: "):
        raise LookupError(f"what is {extra!r} of {flags[-1]}?")
    default = extra.removeprefix("default: ")
    default = f"--{default}" if f"--{default}" in flags else default
    return f"Default: `{default}`." if re.fullmatch(r"[^\s`]+", default) else f"Default: {default}."
