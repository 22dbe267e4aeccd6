"""Lines of pages that another test runs: they need an environment, a cluster or a browser of their own."""

from __future__ import annotations

import re

#: What begins so is run by the test that is named.
ELSEWHERE: dict[str, str] = {
    r"make ": "tests/docs/test_pages.py::test_targets_of_make_exist",
    r"spark-submit ": "tests/spark_stats/test_session.py::test_under_spark_submit",
    r"python drill\.py ": "tests/live/flink/test_drill.py::test_every_kill_was_recovered_from",
    r"ftplan (?:compute-stats|what-if) .*--master spark://": (
        "tests/spark_stats/test_session.py::test_a_standalone_cluster_of_two_workers"
    ),
}


def runs_elsewhere(command: str) -> bool:
    """Return whether another test runs a line."""
    return any(re.match(pattern, command) for pattern in ELSEWHERE)
