"""Lines and bars of a table, as SVG whose text is text and whose bytes depend on the table alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from reproduce.row import Table

WIDTH, HEIGHT = 4.6, 3.6


def lines(
    table: Table, x: str, ys: Sequence[str], by: str | None = None, panel: str | None = None, label: str = ""
) -> Callable[[Path], None]:
    """Return what draws columns *ys* over *x*: a line style for each value of *by*, a panel for each of *panel*."""
    return partial(_panels, table, x, ys, by, panel, label, False)


def bars(table: Table, x: str, ys: Sequence[str], panel: str | None = None, label: str = "") -> Callable[[Path], None]:
    """Return what draws columns *ys* as groups of bars over the values of *x*."""
    return partial(_panels, table, x, ys, None, panel, label, True)


def _panels(
    table: Table, x: str, ys: Sequence[str], by: str | None, panel: str | None, label: str, as_bars: bool, file: Path
) -> None:  # one argument each for what a drawing may have, bound by the two functions above
    parts: list[dict[str, Any]] = [{panel: key} for key in table.keys(panel)] if panel else [{}]
    figure, axes = _canvas(file.stem, len(parts))
    for axis, where in zip(axes, parts, strict=True):
        draw_part = _bars if as_bars else _lines
        draw_part(axis, table, x, ys, by, where)
        axis.set(xlabel=x.replace("_", " "), title=", ".join(str(value) for value in where.values()))
        axis.grid(alpha=0.3)
        axis.legend(fontsize="x-small")
    axes[0].set_ylabel(label)
    save(figure, file)


def save(figure: Any, file: Path) -> None:
    """Write a figure of matplotlib as a small SVG."""
    written = StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(compact(written.getvalue()), "utf-8")


def compact(svg: str) -> str:
    """Return an SVG that looks the same: a line for each axis and legend, places to a hundredth of a point."""
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[svg.index("<svg ") :], flags=re.DOTALL)
    svg = re.sub(r"\s+", " ", svg.strip()).replace("> <", "><")
    svg = re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r"([;:,]) (?=[^\"<>]*\")", r"\1", svg)  # within attributes
    svg = re.sub(r"'DejaVu Sans',[^;\"]*sans-serif", "'DejaVu Sans',sans-serif", svg)
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", svg)
    return re.sub(r'(?=<g id="(?:axes|matplotlib\.axis|legend)_)', "\n", svg) + "\n"


def _canvas(salt: str, panels: int) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = salt  # the same figure is the same file
    matplotlib.rcParams["svg.fonttype"] = "none"  # text, not outlines
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH * panels, HEIGHT), layout="constrained")
    return figure, figure.subplots(1, panels, sharey=True, squeeze=False)[0]


def _lines(axis: Any, table: Table, x: str, ys: Sequence[str], by: str | None, where: dict[str, Any]) -> None:
    styles = ("-", "--", ":", "-.")
    keys: list[dict[str, Any]] = [{by: key} for key in table.keys(by)] if by else [{}]
    for style, key in enumerate(keys):
        at = table.column(x, **where, **key)
        for colour, y in enumerate(ys):
            name = ", ".join([y.replace("_", " "), *map(str, key.values())])
            look = {"color": f"C{colour if len(ys) > 1 else style}", "marker": "." if len(at) < 50 else None}
            axis.plot(at, table.column(y, **where, **key), styles[style % 4], label=name, **look)


def _bars(axis: Any, table: Table, x: str, ys: Sequence[str], _: str | None, where: dict[str, Any]) -> None:
    names = [str(value) for value in table.column(x, **where)]
    width = 0.8 / len(ys)
    for k, y in enumerate(ys):
        at = [i + (k - (len(ys) - 1) / 2) * width for i in range(len(names))]
        axis.bar(at, [value or 0.0 for value in table.column(y, **where)], width, label=y.replace("_", " "))
    axis.set_xticks(range(len(names)), names)
