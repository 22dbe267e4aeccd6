"""Lines of pages that another test runs: they need an environment, a cluster or a browser of their own."""

from __future__ import annotations

import re

#: Whole lines, and the test that runs them; options and names in them are held to what there is.
ELSEWHERE: dict[str, str] = {
    r"pip .*": "tests/install/test_page.py::test_pip_installs_it",
    r"(pipx|uv) .*": "tests/install/test_page.py::test_tools_install_it",
    r"uvx .*": "tests/install/test_page.py::test_uvx_runs_it",
    r"git clone .*": "tests/install/test_page.py::test_a_clone_has_what_builds_the_wheel",
    r'eval "\$\(_FTPLAN_COMPLETE=bash_source ftplan\)"': "tests/install/test_tools.py::test_bash_completes",
    r'eval "\$\(_FTPLAN_COMPLETE=zsh_source ftplan\)"': "tests/install/test_tools.py::test_zsh_completes",
    r"_FTPLAN_COMPLETE=fish_source ftplan \| source": "tests/install/test_tools.py::test_fish_completes",
    r"man ftplan-recovery-schedule": "tests/install/test_tools.py::test_man_finds_the_pages",
    r'export MANPATH="\$\(uv tool dir\)/ftplan/share/man:"': "tests/install/test_tools.py::test_man_finds_the_pages",
    r"make [a-z-]+": "tests/docs/test_pages.py::test_targets_of_make_exist",
    r"spark-submit --master yarn \S+/ftplan_job\.py compute-stats [^|;&]*": (
        "tests/spark_stats/test_clusters.py::test_under_spark_submit"
    ),
    r"python drill\.py [^|;&]*": "tests/live/flink/test_drill.py::test_every_kill_was_recovered_from",
    r"ftplan compute-stats [^|;&]*--master spark://[^|;&]*": (
        "tests/spark_stats/test_clusters.py::test_a_standalone_cluster_of_two_workers"
    ),
}


def runs_elsewhere(command: str) -> bool:
    """Return whether another test runs a line."""
    return any(re.fullmatch(pattern, command) for pattern in ELSEWHERE)
