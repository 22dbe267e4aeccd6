"""How much do spare nodes help when a rack fails, and do they still at a quarter more traffic?

Run: ``python spare_nodes.py``. Asks the same question of examples/storm-recovery in 30 cases, on all cores, and prints
how long it takes until every query is back, the worst rack first.
"""

from __future__ import annotations

from pathlib import Path

import ftplan

STORM = Path(__file__).resolve().parent.parent / "storm-recovery"

QUESTION = {
    "format": "ftplan/what-if",
    "format_version": "1.0",
    "name": "spare nodes",
    "inputs": {"topology": str(STORM / "topology.yaml"), "cluster": str(STORM / "cluster.yaml")},
    "run": {"command": "recovery-schedule", "fail": "zone:rack-a", "options": {"objective": "priority"}},
    "measures": [
        {"name": "summary.after.last_back_s", "sense": "min", "unit": "s"},
        {"name": "summary.after.priority_time", "sense": "min", "unit": "s"},
    ],
    "grid": [
        {"name": "spares", "add": {"count": [0, 1, 2, 3, 4], "node": {"cpu": 4, "memory_mb": 32768}, "zones": "all"}},
        {"name": "rack", "fail": "each zone"},
        {"name": "traffic", "traffic": [1.0, 1.25]},
    ],
}


def main() -> None:
    """Ask, and print two tables."""
    frame = ftplan.what_if(QUESTION)
    cases = frame.drop(index=0)  # the base, in which nothing differs
    print(f"{len(cases):,} cases, {(cases['status'] == 'error').sum()} failed")
    # A query that never comes back has no time, and neither has the worst rack then.
    back = cases.groupby(["spares", "traffic"])["summary.after.last_back_s"].agg(lambda times: times.max(skipna=False))
    print("\nseconds until every query is back, after the worst rack:")
    print(back.unstack().round(0).to_string())
    lost = cases.pivot_table(index="rack", columns="spares", values="summary.after.priority_time")
    print("\npriority x seconds down, mean over the traffic:")
    print(lost.sort_values(0, ascending=False).round(0).to_string())


if __name__ == "__main__":
    main()
