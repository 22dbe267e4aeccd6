"""No page says by hand what was measured: numbers come from the files that measurements wrote."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate.measures import claims, over, reproduced, said, selection, verdicts
from docs.generate.pages import ROOT

PAGES = sorted(path for folder in ("how-good", "methods") for path in (ROOT / "docs" / folder).rglob("*.md"))
#: What does not say what was measured: what is generated, code, where a link leads.
ELSEWHERE = re.compile(
    r"<!-- generate .*?<!-- end -->|^ *```.*?^ *```$|`[^`\n]*`|\]\([^)]*\)|^\[\w+\]: [^\n]*", re.DOTALL | re.MULTILINE
)
ENDS = re.compile(r"(?<=[.:;?!|])\s+|\n\s*\n|\n(?=[-*|#] )")
KEY = re.compile(r"\[[A-Z]\w*(?:(?:19|20)\d\d|TR)\]")
#: How large an input is has not been measured.
SIZE = re.compile(
    r"\d[\d,]* (?:× \d[\d,]*|(?:key )?groups|nodes|zones|operators|tasks|queries|edges|vertices|"
    r"rows|windows|recoveries)"
)
MEASURED = re.compile(
    r"\d+[.,]\d+|\d+ ?(?:%|×|percent|times|ms|s|min|h|seconds?|minutes?|hours?|(?:[KMG]i?)?B)\b|\d ?%|× ?\d|\d+ ?×"
)


def sentences(text: str) -> list[str]:
    return [" ".join(part.split()) for part in ENDS.split(ELSEWHERE.sub(" ", text))]


def typed(page: Path) -> list[str]:
    """Return the sentences of a page with a number that looks measured, neither generated nor of a paper they name."""
    parts = sentences(page.read_text("utf-8"))
    return [part for part in parts if MEASURED.search(SIZE.sub("", part)) and not KEY.search(part)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_no_measured_number_is_typed(page: Path) -> None:
    assert typed(page) == []


def test_numbers_are_told_from_words(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "It took 3 s. It took <!-- generate figure: a :: b :: c -->3 s<!-- end -->, two tries.\n"
        "They say 5 % [Young1974].\n"
        "\n```text\n7.5 s\n```\n\n- a gain of 1.9\n- `0.5` of it\n- three times, on 2,048 nodes\n"
    )
    assert typed(page) == ["It took 3 s.", "- a gain of 1.9"]


def test_every_drawing_that_is_kept_is_shown_and_small() -> None:
    pages = "".join(path.read_text("utf-8") for path in [*(ROOT / "benchmarks").glob("*.md"), *PAGES])
    for drawing in (ROOT / "benchmarks" / "figures").iterdir():
        assert f"figures/{drawing.name}" in pages, f"no page shows {drawing.name}"
        assert drawing.read_text("utf-8").count("\n") < 40, f"{drawing.name} is not as compact as reproduce writes it"


def test_columns_are_summed_up() -> None:
    rings = ("Largest load on rings", "exact")
    assert over(*rings, "least to most", "nodes=1,000 & cores=2 to 31") == "1.0015"
    assert over(*rings, "count", "nodes=10 & cores=equal") == "5"
    assert over("Recoveries of a real Flink job", "interval", "mean", "kill=2") == "5"
    head, _, *rows = selection(rings[0], "loads & exact", "nodes=10 & cores!or & loads~edits").split("\n")
    assert head == "| loads | exact |"
    assert rows == ["| Wikipedia edits by page | 1.0002 |"]
    with pytest.raises(LookupError, match="no rows"):
        selection(*rings, "nodes=11")
    with pytest.raises(LookupError, match="no number"):
        over(*rings, "mean", "nodes=11")
    with pytest.raises(ValueError, match="no way 'middle'"):
        over(*rings, "middle")


def test_claims_are_counted() -> None:
    assert verdicts("recovery-theorem") == "1 holds, 0 hold partly, 1 does not hold"
    assert "holds: 1, does not hold: 1" in reproduced("recovery-theorem")
    assert claims("recovery-theorem", "does not hold").count("\n") == 2
    with pytest.raises(LookupError, match="begins with"):
        verdicts("nothing")
    assert said("Replicas on random topologies: figure 14", "structure-aware below greedy: … of 480 runs") == "0"
