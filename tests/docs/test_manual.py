"""Man pages: one a command, roff that says what the help says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from docs.generate.manual import installed_files, page, write
from ftplan.cli.main import COMMANDS
from ftplan.cli.simulate import SUBCOMMANDS
from tests.places import ROOT


def test_every_command_has_a_page() -> None:
    names = {place.removeprefix("man/man1/").removesuffix(".1") for place in installed_files() if place[-2:] == ".1"}
    assert {"ftplan", *(f"ftplan-{name}" for name in COMMANDS)} <= names
    assert {f"ftplan-simulate-{name}" for name in SUBCOMMANDS} <= names


def test_the_build_of_a_wheel_needs_click_alone() -> None:
    """``build-system.requires`` has no more; whatever a command imports before it is called would be missing there."""
    code = (
        "import sys; before = {*sys.modules}; from docs.generate.manual import installed_files; installed_files(); "
        "files = {n.partition('.')[0]: getattr(m, '__file__', None) or '' for n, m in sys.modules.items() "
        "if n not in before}; print(*(name for name, file in files.items() if 'site-packages' in file))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["click"]


def test_what_roff_would_take_for_orders_is_text() -> None:
    @click.command(epilog=".so is at the start of a line")
    @click.option("--path", help="'quoted' first, a \\backslash after it.")
    def command() -> None:
        """Do it.

        .hidden files first.

        \b
        lines     stay
        as they   are
        """

    text = page(click.Context(command, info_name="do"))
    body = text[text.index(".SH DESCRIPTION") : text.index(".SH EXIT STATUS")].split("\n")
    assert r"\&.hidden files first." in body
    assert r"\&.so is at the start of a line" in body
    assert r"\&\(aqquoted\(aq first, a \ebackslash after it." in body
    start = body.index(".nf")
    assert [line.strip() for line in body[start : start + 4]] == [".nf", "lines     stay", r"as they   are", ".fi"]
    assert r"\fB\-\-path TEXT\fR" in body


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not here")
def test_man_renders_lists_paragraphs_and_options(tmp_path: Path) -> None:
    write(tmp_path)
    done = subprocess.run(
        ["man", "-l", str(tmp_path / "man" / "man1" / "ftplan-import-topology.1")],
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "ftplan import-topology [OPTIONS] FILE|FOLDER|URL..." in lines
    assert "flink          /jobs/:id and what lies below it" in lines
    assert "$ ftplan import-topology wordcount.yaml --from storm -o topology.yaml" in lines
    assert lines[lines.index("--from [flink|storm|kafka-streams|spark|risingwave]") + 1].startswith("Whose answers")
