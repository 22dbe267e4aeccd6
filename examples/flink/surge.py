"""Let the orders of a real Flink job grow until a bottleneck forms, and keep what its REST endpoint said meanwhile.

Starts a cluster on loopback and a job whose keyed tasks ask a slow service about each customer's new total; orders come
at a steady rate first, then at one that grows until these tasks cannot keep up. ``ftplan collect`` asks all the while.
Everything ends with this process. ``collected`` in --output has the answers.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from cluster import FlinkCluster, flink_home
from drill import collecting
from feed import Feed
from kills import start_job, steady, stop_job

#: Orders per second at first, and by how much they grow from one tick to the next, once they do.
FIRST, GROWTH, TICK_S = 500.0, 1.07, 10.0


def main() -> None:
    """Carry the surge out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, metavar="PATH", help="Python of an environment with apache-flink")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="where files go")
    parser.add_argument("--steady", type=int, default=18, metavar="N", help="ticks of ten seconds at the first rate")
    parser.add_argument("--growing", type=int, default=30, metavar="N", help="ticks in which orders grow")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = flink_home(asked.python)
    with tempfile.TemporaryDirectory(prefix="flink-surge-", ignore_cleanup_errors=True) as folder:
        _surge(asked, home, Path(folder))


def _surge(asked: argparse.Namespace, home: Path, folder: Path) -> None:
    with FlinkCluster(home, folder) as cluster, Feed(folder / "input", folder / "logs", FIRST) as feed:
        job = start_job(cluster, asked.python, feed.input, 10.0, "totals")
        steady(feed, cluster, job)
        with collecting(cluster.url, asked.output / "collected", TICK_S):
            for tick in range(asked.steady + asked.growing):
                if tick >= asked.steady:
                    feed.rate *= GROWTH
                time.sleep(TICK_S)
                point = feed.points[-1]
                print(f"{feed.rate:,.0f} orders/s, {point.written - point.read:,} wait", file=sys.stderr, flush=True)
        stop_job(cluster, job)


if __name__ == "__main__":
    main()
