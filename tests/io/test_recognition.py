"""Which files are ftplan's: by what they state, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftplan.io.configuration import stated_format


@pytest.mark.parametrize(
    ("name", "text", "stated"),
    [
        ("a.yaml", "format: ftplan/topology\n", "ftplan/topology"),
        ("a.yml", "# a remark\nnodes: []\n'format' : \"ftplan/cluster\"\n", "ftplan/cluster"),
        ("a.yaml", "format: ftplan/topolgy\noperators: [\n", "ftplan/topolgy"),
        ("a.yaml", '{"format": "ftplan/failure"}', "ftplan/failure"),
        ("a.yaml", "data:\n  topology.yaml: |\n    format: ftplan/topology\n", None),
        ("a.yaml", "{{ if .Values.plan }}\nformat: png\n{{ end }} # ftplan/plan", None),
        ("a.json", '{"algorithm":"exact","format":"ftplan/plan"}', "ftplan/plan"),
        ("a.json", '{"format": "ftplan/plan",', "ftplan/plan"),
        ("a.json", '{"rows": [{"format": "ftplan/plan"}]}', None),
        ("a.json", '[{"format": "ftplan/plan"}]', None),
        ("a.json", "", None),
        ("a.txt", "format: ftplan/topology\n", None),
        ("ftplan.toml", "", "configuration"),
        ("pyproject.toml", "[inputs]\n", None),
    ],
)
def test_what_a_file_states(tmp_path: Path, name: str, text: str, stated: str | None) -> None:
    (tmp_path / name).write_text(text)
    assert stated_format(tmp_path / name) == stated


def test_what_cannot_be_read_states_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xff\xfe"format": "ftplan/plan"')
    assert stated_format(tmp_path / "a.json") == "ftplan/plan"  # broken: reading it says how
    assert stated_format(tmp_path / "none.json") is None
