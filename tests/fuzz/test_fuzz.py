"""The first damaged documents; ``python -m tests.fuzz --documents 20000`` judges more of them, by hand."""

from __future__ import annotations

import pytest

from tests.effort import examples
from tests.fuzz.judge import judge

pytestmark = pytest.mark.usefixtures("few_random_orders")

#: Documents, and how many a test takes.
DOCUMENTS, AT_ONCE = examples(200), 20


@pytest.mark.parametrize("first", range(0, DOCUMENTS, AT_ONCE))
def test_only_answers_and_short_refusals(first: int, capfd: pytest.CaptureFixture[str]) -> None:
    """Work is bounded by iterations, and no time is measured: the same documents, the same answers."""
    for number in range(first, first + AT_ONCE):
        found = judge(number, every=False)
        assert found.faults == [], f"{number}: {found.document}"
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
