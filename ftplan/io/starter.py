"""Starter files: a small project that can be checked, planned and edited at once."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ftplan.io.starter_from_stats import files_from_stats

TOPOLOGY = """\
# The job: operators, their tasks, and the streams between them. `ftplan schema topology` tells all fields.
format: ftplan/topology
format_version: "1.0"
name: shop
operators:
  - id: orders              # a source
    parallelism: 2
    rate_out: 60.0          # records/s leaving each task
  - id: by-customer
    parallelism: 4
    key_groups: 16          # keyed state: its checkpoints are placed by key group
    state_bytes: 268435456  # per task
  - id: by-product
    parallelism: 4
    key_groups: 16
    state_bytes: 134217728
  - id: report
    parallelism: 1          # no outgoing edge: its task is an output
edges:
  - {from: orders, to: by-customer, partitioning: full}
  - {from: orders, to: by-product, partitioning: full}
  - {from: by-customer, to: report, partitioning: merge}
  - {from: by-product, to: report, partitioning: merge}
"""

CLUSTER = """\
# The machines, the zones in which they fail together, and what runs where now.
format: ftplan/cluster
format_version: "1.0"
nodes:
  - {id: n1, cpu: 4.0, memory_mb: 16384, zone: rack-a}
  - {id: n2, cpu: 4.0, memory_mb: 16384, zone: rack-a}
  - {id: n3, cpu: 4.0, memory_mb: 16384, zone: rack-b}
  - {id: n4, cpu: 4.0, memory_mb: 16384, zone: rack-b}
network: {bandwidth_mb_s: 100, delay_s: 0.001}
placement:                  # one node per task; key groups sit with their tasks
  tasks:
    orders: [n1, n3]
    by-customer: [n1, n2, n3, n4]
    by-product: [n4, n3, n2, n1]
    report: [n2]
"""

CONFIGURATION = """\
# Defaults of every ftplan command that runs in this folder or below. Paths are relative to this file.
#   ftplan check topology.yaml cluster.yaml
#   ftplan compute-stats            # reads the log, writes stats/ (needs: pip install 'ftplan[spark]')
#   ftplan allocate-checkpoints
#   ftplan recovery-schedule --fail zone:rack-a
[inputs]
topology = "topology.yaml"
cluster = "cluster.yaml"
stats = "stats"

[compute-stats]
logs = ["orders.csv"]       # your log: Parquet, CSV or JSON lines
output = "stats"
time-column = ["time"]
key = ["by-customer=customer", "by-product=product"]
window = "30m"

[allocate-checkpoints]
anti-affinity = "node"      # zone: no copy in its primary's zone
"""

_WINDOWS = 96  # of 30 minutes: two days
_CUSTOMERS = 24
_PRODUCTS = 16


def starter_files(stats: str | None = None, output: str | os.PathLike[str] = ".") -> dict[str, str]:
    """Return the starter files for the folder *output*, by name: topology, cluster and ``ftplan.toml``.

    From nothing they describe a small shop, with a made-up log beside; from the statistics folder *stats* they have
    its operators, key groups and nodes.

    Raises
    ------
    FtplanError
        If the statistics cannot be read.
    """
    if stats is not None:
        return files_from_stats(stats, output)
    log = "time,customer,product\n" + "".join(_log_lines())
    return {"topology.yaml": TOPOLOGY, "cluster.yaml": CLUSTER, "ftplan.toml": CONFIGURATION, "orders.csv": log}


def _log_lines() -> Iterator[str]:
    """Yield the rows of a made-up log: half of the customers buy by day, the other half by night."""
    order = 0
    for window in range(_WINDOWS):
        by_day = 16 <= window % 48 < 40
        for turn in range(8):
            order += 1
            half = by_day == (turn < 6)
            customer = (order * order * 7 + turn) % (_CUSTOMERS // 2) * 2 + half
            product = (order * 5 + customer * (3 if by_day else 7)) % _PRODUCTS
            minutes = window * 30 + turn * 3
            day, minute = divmod(minutes, 1440)
            yield f"2024-03-{4 + day:02d}T{minute // 60:02d}:{minute % 60:02d}:00Z,c{customer:02d},p{product:02d}\n"
