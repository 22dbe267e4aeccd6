"""Damaged inputs: an import is an answer that the readers take, or one line of at most 400 characters."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.engines.spark.log_files import event_lines, find_event_logs
from tests.engines.importing.cases import DATA, KAFKA, SPARK, accepted, nexmark
from tests.engines.storm.cases import pages
from tests.fuzz.mutations import mutated

_JUNK = ("", "}", "[", '"', ": ", "- ", "\n", "\t", "\0", "é", "-1", "1e999", "null", "Fragment 0", "(", "--> x", "]] ")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str, str]]:
    """Engine, ending and text of inputs that are text."""
    plans = nexmark(tmp_path_factory.mktemp("plans")).read_text()
    (log,) = find_event_logs([str(SPARK)])
    few = [line for line in event_lines(log) if b"SQLExecution" not in line[:60]][:60]
    production = (DATA / "storm" / "production" / "largeCluster01-TopologyName00034.json").read_text()
    kafka = {name: (KAFKA / f"{name}.txt").read_text() for name in ("topology", "log-dirs", "members")}
    return {
        "flux": ("storm", "yaml", (DATA / "storm" / "flux" / "kafka_spout.yaml").read_text()),
        "production": ("storm", "json", production),
        "nexmark": ("risingwave", "yaml", plans[: plans.index("- id: nexmark_q5")]),
        "spark": ("spark", "log", b"".join(few).decode()),
        **{f"kafka {name}": ("kafka-streams", "txt", text) for name, text in kafka.items()},
    }


def judged(source: Any, engine: str) -> None:
    said = None
    try:
        accepted(ftplan.import_topology(source, engine, break_cycles=True))
    except ftplan.FtplanError as error:
        said = str(error)
    assert said is None or 0 < len(said) <= 400
    assert "\n" not in (said or "")


def damaged(text: str, random: Random) -> str:
    """Cut a text, or drop, double, move or overwrite a piece of it."""
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((1, 5, 40, 400)))
        piece = text[start:end]
        kind = random.randrange(6)
        if kind == 0:
            text = text[:start]
        elif kind == 1:
            text = text[:start] + text[end:]
        elif kind == 2:
            text = text[:end] + piece + text[end:]
        elif kind == 3:
            text = text[:start] + random.choice(_JUNK) + text[start:]
        elif kind == 4:
            text = text[:start] + random.choice(_JUNK) + text[end:]
        else:
            lines = text.splitlines(keepends=True)
            random.shuffle(lines) if random.random() < 0.2 else lines.reverse()
            text = "".join(lines)
    return text


@settings(max_examples=150)
@given(name=st.integers(0, 6), seed=st.integers(0, 2**32))
def test_damaged_texts(
    texts: dict[str, tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory, name: int, seed: int
) -> None:
    engine, ending, text = texts[sorted(texts)[name]]
    path = _folder(tmp_path_factory) / f"input.{ending}"
    path.write_text(damaged(text, Random(seed)), "utf-8", errors="replace")
    if engine == "kafka-streams" and not sorted(texts)[name].endswith("topology"):
        whole = path.with_name("topology.txt")
        whole.write_text(texts["kafka topology"][2])
        judged([whole, path], engine)
    else:
        judged(path, engine)


def _folder(factory: pytest.TempPathFactory) -> Path:
    folder = factory.getbasetemp() / "fuzzed"
    folder.mkdir(exist_ok=True)
    return folder


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_damaged_pages(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Values of the UI's pages that are missing, of another kind, or out of all bounds."""
    random = Random(seed)
    folder = _folder(tmp_path_factory) / "pages"
    folder.mkdir(exist_ok=True)
    answers = mutated(pages(), random)[0]
    for i in range(len(pages()) + 3):
        (folder / f"{i}.json").unlink(missing_ok=True)
    for i, value in enumerate(answers.values()):
        (folder / f"{i}.json").write_text(json.dumps(value, default=str))
    judged(folder, "storm")
