"""The page of codes has each code that ftplan states, and no other."""

from __future__ import annotations

import re

import pytest

from docs.generate.codes import codes, listed, stated
from tests.places import ROOT


def test_every_code_has_a_meaning() -> None:
    explained = [code for group in listed().values() for code in group]
    assert len(explained) == len(set(explained))
    assert stated() == set(explained)


def test_every_group_is_on_the_page() -> None:
    page = (ROOT / "docs" / "files" / "codes.md").read_text("utf-8")
    for group in listed():
        assert f"<!-- generate codes: {group} -->" in page


def test_codes_that_commands_print_are_found() -> None:
    """What the tests of the command line have seen: a warning ends with its code."""
    golden = (ROOT / "tests" / "cli" / "golden").rglob("*.t")
    seen = {
        code for path in golden for code in re.findall(r"warning: .* \[([A-Z_]+)\]$", path.read_text("utf-8"), re.M)
    }
    assert len(seen) > 30
    assert seen <= {code for group in listed().values() for code in group}


def test_a_group_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="no group"):
        codes("warnings of nothing")
