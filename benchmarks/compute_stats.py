"""How fast ``compute-stats`` goes through plain logs, as a whole command, beside DuckDB, Polars and plain PySpark.

    python benchmarks/compute_stats.py --sizes 100MB,1GB --rounds 3

Each engine and peer runs in a process of its own on two cores, in turn, and the median of the rounds counts. ``start``
is the same command on ten rows of the log, so that it holds imports, the session and the plan. ``× DuckDB`` compares
whole processes, ``× PySpark`` what is left of either without its start, with the faster of two ways to write it; ``MB``
is text, unpacked. Every run's counts and rejected rows must equal DuckDB's: exit 1 where they differ.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import compute_stats_logs as logs
from compute_stats_logs import Log
from compute_stats_peers import PEERS
from compute_stats_runs import ENGINES, Run, run

CASES = ("csv", "jsonl", "regex", "gzip", "zstd", "small-files", "keys", "houston")
#: To reach: megabytes a second of the whole command on Sail, and after its start on Spark.
MB_S = {("flights", "sail"): 80, ("jsonl", "sail"): 40, ("access", "sail"): 40, ("flights", "spark"): 30}
HOUSTON_S = {"sail": 2, "spark": 12}
TIMES = {"sail": 3.0, "spark": 1.7}
MEMORY_GB, UNEVEN = 2.0, 1.2
#: What takes no longer than this after its start says nothing of growth, nor of the rate.
SHORTEST_S = 0.2
COLUMNS = ("log", "MB", "by", "s", "start, s", "MB/s", "MB/s after start", "× DuckDB", "× PySpark", "memory, GB")


def chosen(case: str, sizes: list[int]) -> Iterator[Log]:
    """Yield the logs of a case."""
    if case in ("csv", "jsonl", "regex"):
        rows = {"csv": "flights", "regex": "access"}.get(case, case)
        yield from (logs.repeated(case, rows, size) for size in sizes)
    elif case in ("gzip", "zstd"):
        yield logs.packed(logs.repeated("csv", "flights", sizes[0]), {"gzip": "gz", "zstd": "zst"}[case])
    else:
        yield {"small-files": logs.small_files, "keys": logs.users, "houston": logs.houston_packed}[case]()


def tools(log: Log, engines: list[str]) -> list[str]:
    """Return what reads the log: DuckDB first, since the others are compared with it."""
    peers = [name for name in PEERS if log.rows == "flights" or name == "duckdb"]
    return [*peers, *(["gzip -dc"] if log.name == "csv.gz" else []), *engines]


def to_reach(log: Log, tool: str, largest: bool, results: dict[str, Run]) -> str:
    """Return the marks that a row is held to."""
    if tool not in ENGINES:
        return ""
    marks = [f"≤ {MEMORY_GB:g} GB"]
    if log.name == "Houston":
        marks.append(f"≤ {HOUSTON_S[tool]} s")
    elif log.name == "csv.gz" and tool == "sail":
        marks.append(f"≤ {results['gzip -dc'].median:.1f} s after start")
    elif largest and (log.rows, tool) in MB_S:
        marks.append(f"≥ {MB_S[log.rows, tool]} MB/s{' after start' if tool == 'spark' else ''}")
        if log.rows == "flights":
            marks.append(f"≤ {TIMES[tool]:g} × {'DuckDB' if tool == 'sail' else 'PySpark'}")
    return ", ".join(marks)


def row(log: Log, tool: str, results: dict[str, Run], starts: dict[str, Run], mark: str) -> str:
    """Return a row of the table."""
    result = results[tool]
    if result.refused:
        return f"| {log.name} | {log.size / 1e6:,.0f} | {tool} | {'– | ' * 7}– | {result.refused} |"
    seconds, mb = result.median, log.size / 1e6
    after = {name: results[name].median - each.median for name, each in starts.items() if results[name].seconds}
    spark = [after[name] for name in after if name.startswith("pyspark") and after[name] >= SHORTEST_S]
    rate = f"{mb / after[tool]:.0f}" if after.get(tool, 0) >= SHORTEST_S else ""
    equal = "" if result.counted is None else "yes" if result.counted == results["duckdb"].counted else "**no**"
    cells = [
        log.name, f"{mb:,.0f}", tool, f"{seconds:.2f}", f"{starts[tool].median:.2f}" if tool in starts else "",
        f"{mb / seconds:.0f}", rate, f"{seconds / results['duckdb'].median:.2f}",
        f"{after[tool] / min(spark):.2f}" if spark and rate and tool == "spark" else "", f"{result.memory / 1e9:.2f}",
        equal, mark,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def linear(sizes: list[tuple[Log, dict[str, Run], dict[str, Run]]]) -> Iterator[str]:
    """Yield rows of how much longer a megabyte takes in a large log than in a small one, the start left out."""
    for (small, a, starts), (large, b, _) in pairwise(sizes):
        for tool in a:
            if small.name == large.name and tool in starts and a[tool].seconds and b[tool].seconds:
                begin = starts[tool].median
                if a[tool].median - begin < SHORTEST_S:
                    continue
                pair = [(r[tool].median - begin) / log.size * 1e9 for log, r in ((small, a), (large, b))]
                mark = f"≤ {UNEVEN:g}" if tool in ENGINES else ""
                shown = f"{small.size / 1e6:,.0f} to {large.size / 1e6:,.0f} MB | {pair[0]:.2f} | {pair[1]:.2f}"
                yield f"| {small.name} | {tool} | {shown} | {pair[1] / pair[0]:.2f} | {mark} |"


def bytes_of(text: str) -> int:
    """Return the bytes of a size such as ``100MB`` or ``1GB``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(MB|GB)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 100MB or 1GB")
    return int(float(found[1]) * {"MB": 1e6, "GB": 1e9}[found[2]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = {"type": lambda text: text.split(",")}
    parser.add_argument(
        "--sizes", type=lambda text: [bytes_of(part) for part in text.split(",")], default="100MB,1GB",
        help="of CSV, JSON lines and regex, the smallest first; gzip and zstd take the first",
    )  # fmt: skip
    parser.add_argument("--only", **listed, default=list(CASES), help=f"some of {','.join(CASES)}")
    parser.add_argument("--engines", **listed, default=list(ENGINES), help="some of sail,spark")
    parser.add_argument("--peers", **listed, default=list(PEERS), help=f"some of {','.join(PEERS)}; duckdb always")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name, known in (("only", CASES), ("engines", ENGINES), ("peers", tuple(PEERS))):
        if wrong := set(getattr(given, name)) - set(known):
            parser.error(f"--{name}: {', '.join(sorted(wrong))} is none of {', '.join(known)}")
    began: dict[str, dict[str, Run]] = defaultdict(lambda: defaultdict(Run))
    done: list[tuple[Log, dict[str, Run], dict[str, Run]]] = []
    lines = [f"| {' | '.join(COLUMNS)} | counts equal | to reach |", "|---" * (len(COLUMNS) + 2) + "|"]
    for case in given.only:
        for log in chosen(case, given.sizes):
            results: dict[str, Run] = defaultdict(Run)
            wanted = [t for t in tools(log, given.engines) if t not in PEERS or t in ("duckdb", *given.peers)]
            starts = began[log.rows]
            for _ in range(given.rounds):
                for tool in wanted:
                    if tool != "gzip -dc" and len(starts[tool].seconds) < given.rounds:
                        run(logs.first_rows(log), tool, starts[tool])
                    if not results[tool].refused:
                        run(log, tool, results[tool])
            done.append((log, results, starts))
            largest = case in ("csv", "jsonl", "regex") and log.size > 0.99 * max(given.sizes)
            known = {tool: starts[tool] for tool in wanted if tool in starts}
            lines += [row(log, tool, results, known, to_reach(log, tool, largest, results)) for tool in wanted]
    print("\n".join(lines))
    if uneven := list(linear(done)):
        print("\n| log | by | sizes | s/GB, smaller | s/GB, larger | ratio | to reach |\n|---|---|---|---|---|---|---|")
        print("\n".join(uneven))
    if different := [line for line in lines if "**no**" in line]:
        sys.exit("counts differ from DuckDB's:\n" + "\n".join(different))


if __name__ == "__main__":
    main()
