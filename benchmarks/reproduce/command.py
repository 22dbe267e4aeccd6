"""Makes rows of the registry and writes the report.

Run: ``python benchmarks/reproduce [NAME ...] [--quick] [-o DIR]``; all rows by default. Writes ``DIR/REPRODUCED.md``
and ``DIR/figures/NAME.svg``, DIR being ``benchmarks`` unless given, and prints how many claims hold; rows that are not
named keep the sections that the report has. ``--quick`` takes few and small instances, whose verdicts mean little, and
without ``-o`` prints only.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from ftplan.compiled import called_often
from reproduce.report import COLUMNS, section, summary, written
from reproduce.row import Row
from reproduce.rows import ROWS

HERE = Path(__file__).resolve().parents[1]


def made(row: Row, quick: bool, folder: Path | None) -> tuple[str, str]:
    """Return the summary and the section of a row, drawn into a folder where one is given."""
    with nullcontext() if quick else called_often():
        outcome = row.make(quick)
    verdicts = [claim.verdict(outcome.table) for claim in row.claims]
    if folder is not None:
        outcome.draw(folder / "figures" / f"{row.name}.svg")
    return summary(row, verdicts), section(row, outcome.table, verdicts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/reproduce", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(row.name for row in ROWS)}")
    parser.add_argument("--quick", action="store_true", help="few and small instances; prints unless -o is given")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where to write (default: benchmarks)")
    asked = parser.parse_args()
    if unknown := set(asked.names) - {row.name for row in ROWS}:
        parser.error(f"unknown {', '.join(sorted(unknown))}: choose from {', '.join(row.name for row in ROWS)}")
    folder = asked.output or (None if asked.quick else HERE)
    report = folder / "REPRODUCED.md" if folder else None
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        print(COLUMNS)
    for row in ROWS:
        if asked.names and row.name not in asked.names:
            continue
        begun = time.perf_counter()
        line, text = made(row, asked.quick, folder)
        if report is not None:
            report.write_text(written(report, {row.name: (line, text)}, [row.name for row in ROWS]))
        print(line if report else text, flush=True)
        print(f"{row.name}: {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
