"""Time and memory of ``calibrate``, ``collect`` and ``what-if`` by size of their inputs: whole commands, linear or not.

Run: ``python benchmarks/size_of_inputs.py [--quick] [NAME ...]``. Each input comes in three sizes, ten times as large
as the one before. "to linear" is the time over that of the size before, by ten: at most 1.2 is to reach. Prometheus is
a server of this process that has a value of each series at every step, so its own time is in that of ``collect``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

STORM = Path(__file__).resolve().parent.parent / "examples" / "storm-recovery"
FTPLAN = [sys.executable, "-m", "ftplan"]
TIMES, LIMIT = 10, 1.2
#: Series of each of ten queries, and where the range ends.
SERIES, END = 4, "2026-01-01T00:00:00Z"


def write_curves(folder: Path, failures: int) -> None:
    """Write a curve with a sample in 5 s and a failure each 2,000 s."""
    import numpy as np
    import pandas as pd

    draw = np.random.default_rng(0)
    second = np.arange(failures * 400) * 5.0
    since = second % 2000 - 600 - draw.integers(0, 300, failures).repeat(400)
    catching_up = (since >= 60) & (since < 240)
    throughput = np.where((since >= 0) & (since < 60), 0.0, np.where(catching_up, 1500.0, 1000.0))
    lag = np.interp(since, [-5, 0, 60, 240], [100, 1000, 60000, 100]) + draw.normal(0, 2, len(second))
    columns = {"time_s": second, "throughput": throughput + draw.normal(0, 1, len(second)).clip(0), "lag": lag}
    pd.DataFrame(columns).to_parquet(folder / "curves.parquet")


def write_recoveries(folder: Path, count: int) -> None:
    """Write recoveries at two rates and one interval, so that single ones are held out."""
    import numpy as np
    import pandas as pd

    draw = np.random.default_rng(0)
    rate = draw.choice([1000.0, 3000.0], count)
    stopped = 20 + 5 * draw.random(count) + 30 * rate / 6000
    columns = {"recovery_s": stopped / (1 - rate / 6000), "records_s": rate, "checkpoint_interval_s": 60.0}
    pd.DataFrame(columns).to_csv(folder / "recoveries.csv", index=False)


def write_cases(folder: Path, count: int) -> None:
    """Write cases in each of which the job has another load."""
    document = {
        "format": "ftplan/what-if",
        "format_version": "1.0",
        "inputs": {name: str(STORM / f"{name}.yaml") for name in ("topology", "cluster", "failure")},
        "run": {
            "command": "recovery-schedule",
            "algorithm": "best-density",
            "options": {"objective": "priority", "iterations": 0},
        },
        "measures": ["objective", "bound"],
        "cases": [{"id": f"case-{i}", "traffic": 0.5 + i / count} for i in range(1, count + 1)],
    }
    (folder / "cases.json").write_text(json.dumps(document))


class Prometheus(BaseHTTPRequestHandler):
    """Answers a range query with a value a step."""

    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

    def do_GET(self) -> None:
        given = parse_qs(urlsplit(self.path).query)
        start, end, step = (int(given[name][0]) for name in ("start", "end", "step"))
        values = ",".join(f'[{at},"{at % 10_000_000}"]' for at in range(start, end + 1, step))
        series = (f'{{"metric":{{"task_name":"a","subtask_index":"{i}"}},"values":[{values}]}}' for i in range(SERIES))
        result = f'{{"resultType":"matrix","result":[{",".join(series)}]}}'
        data = f'{{"status":"success","data":{result}}}'.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def measured(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the seconds of a command, and the peak MB of its largest process."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return time.perf_counter() - began, used.ru_maxrss / 1024


#: What is read, the unit of its size, the smallest size, what writes it, and the commands, each with a title.
Row = tuple[str, str, int, Callable[[Path, int], None], dict[str, list[str]]]


def inputs(url: str) -> list[Row]:
    collect = ["collect", url, "--from", "prometheus", "--every", "60s", "--section", "flink", "-o", "year"]
    return [
        ("curves", "failures", 100, write_curves, {"calibrate, curves": ["calibrate", "curves.parquet"]}),
        ("recoveries", "recoveries", 300, write_recoveries, {"calibrate, table": ["calibrate", "recoveries.csv"]}),
        (
            "prometheus", "hours", 87, lambda folder, hours: None,
            {"collect": collect, "collect, all is there": collect},
        ),
        ("cases", "cases", 100, write_cases, {"what-if": ["what-if", "cases.json", "-o", "rows.csv"]}),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="curves, recoveries, prometheus, cases; all without")
    parser.add_argument("--quick", action="store_true", help="a smoke run: the two smaller sizes")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rows = [row for row in inputs(f"http://127.0.0.1:{server.server_port}") if row[0] in (options.names or row[:1])]
    if options.write:
        rows[0][3](Path(options.write[0]), int(options.write[1]))
        return
    print("| command | size | s | to linear | to reach | peak memory (MB) |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, unit, smallest, _, commands in rows:
        before: dict[str, float] = {}
        for size in [smallest * TIMES**i for i in range(2 if options.quick else 3)]:
            with tempfile.TemporaryDirectory() as place:
                # Written by another process: a child's peak memory begins at that of the process that starts it.
                subprocess.run([sys.executable, __file__, name, "--write", place, str(size)], check=True)
                for title, command in commands.items():
                    spanned = ["--to-time", END, "--for", f"{size}h"] if command[0] == "collect" else []
                    seconds, peak = measured([*FTPLAN, *command, *spanned, "-q"], Path(place))
                    ratio = f"{seconds / before[title] / TIMES:.2f}" if title in before else ""
                    reach = f"≤ {LIMIT}" if ratio else ""
                    print(f"| {title} | {size:,} {unit} | {seconds:.1f} | {ratio} | {reach} | {peak:.0f} |", flush=True)
                    before[title] = seconds
    server.shutdown()


if __name__ == "__main__":
    main()
