"""Where settings come from, without what is secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftplan.api.doctor.settings import HIDDEN, in_force

COMMANDS = {"check": ["strict"], "recovery-schedule": ["max_cpu"]}
KNOWN = ("FTPLAN_SEED", "FTPLAN_COLLECT_TOKEN", "FTPLAN_COLLECT_PASSWORD", "FTPLAN_WHAT_IF_MASTER")


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_no_file_is_no_error() -> None:
    settings = in_force(COMMANDS, KNOWN)
    assert (settings.file, settings.errors()) == (None, [])


def test_a_file_of_a_folder_above_is_named_with_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ftplan.toml").write_text('[inputs]\ntopology = "t.yaml"\n[recovery-schedule]\nmax-cpu = 0.5\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    settings = in_force(COMMANDS, KNOWN)
    assert (settings.file, settings.tables) == (str(tmp_path / "ftplan.toml"), ("inputs", "recovery-schedule"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[inputs\n", "ftplan.toml: line 1: "),
        ("[chekc]\n", "ftplan.toml: unknown table 'chekc' (did you mean 'check'?)"),
        ("[recovery-schedule]\nmax-cpus = 1\n", "unknown key 'max-cpus' (did you mean 'max-cpu'?)"),
    ],
)
def test_a_broken_file_is_an_error_whichever_command_reads_it(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "ftplan.toml").write_text(text)
    settings = in_force(COMMANDS, KNOWN)
    assert settings.file == str(tmp_path / "ftplan.toml")
    assert error in str(settings.error)


def test_variables_are_known_or_not_and_secrets_stay_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "FTPLAN_SEED": "7",
        "FTPLAN_COLLECT_TOKEN": "hunter2",
        "FTPLAN_COLLECT_PASSWORD": "hunter2",
        "FTPLAN_COLLECT_TOCEN": "hunter2",
        "FTPLAN_WHAT_IF_MASTER": "spark://me:hunter2@host:7077",
        "SPARK_REMOTE": "sc://host:443/;token=hunter2;user_id=me",
        "JAVA_HOME": "/usr/lib/jvm",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = in_force(COMMANDS, KNOWN)
    shown = {item.name: (item.known, item.value) for item in settings.variables if item.name in values}
    assert shown == {
        "FTPLAN_SEED": (True, "7"),
        "FTPLAN_COLLECT_TOKEN": (True, HIDDEN),
        "FTPLAN_COLLECT_PASSWORD": (True, HIDDEN),
        "FTPLAN_COLLECT_TOCEN": (False, HIDDEN),
        "FTPLAN_WHAT_IF_MASTER": (True, "spark://***@host:7077"),
        "SPARK_REMOTE": (None, "sc://host:443/;***"),
        "JAVA_HOME": (None, "/usr/lib/jvm"),
    }
    note = "unknown environment variable FTPLAN_COLLECT_TOCEN (did you mean 'FTPLAN_COLLECT_TOKEN'?) is ignored"
    assert note in list(settings.notes())
    assert "hunter2" not in str(settings)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://me:hunter2@host/x?token=hunter2#hunter2 b", "https://***@host/x?*** b"),
        ("https://me:hun/ter2@host", "https://***@host"),
        ("a://u@b,c://hunter2@d", "a://***@d"),
        ("file:///tmp/a?b", "file:///tmp/a?***"),
        ("/tmp/a;b@c", "/tmp/a;b@c"),
    ],
)
def test_what_is_secret_in_a_url_is_not_shown(value: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", value)
    (variable,) = (item for item in in_force(COMMANDS, KNOWN).variables if item.name == "SPARK_REMOTE")
    assert variable.value == shown
