"""Kill task managers of a real Flink job, measure how it recovers, and hold what ftplan predicts to it.

Starts a cluster on loopback and a job, collects what its REST endpoint says, kills a task manager again and again at
several input rates and checkpoint intervals, imports the job, plans for it, fits the costs of recovery on every other
kill and predicts the rest. Everything ends with this process. Prints a table in Markdown; --output has the files.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cluster import FlinkCluster, flink_home
from feed import Feed, Point
from kills import Kill, capacity, kill_and_measure, start_job, steady, stop_job

HERE = Path(__file__).resolve().parent
#: Records that are read at once to warm up, and to measure what the job can read.
BURST = 20_000


def main() -> None:
    """Carry the drill out."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = flink_home(asked.python)
    asked.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="flink-drill-", ignore_cleanup_errors=True) as folder:
        kills = _killed(asked, home, Path(folder))
        _log(Path(folder), asked.output / "jobmanager.log")
    _write_kills(asked.output / "recoveries.csv", kills)
    _write_kills(asked.output / "fitted.csv", kills[::2])
    _plan(asked.output)
    print(_table(asked.output, kills))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, metavar="PATH", help="Python of an environment with apache-flink")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="where files go")
    parser.add_argument("--intervals", type=_numbers, default=[5.0, 15.0], metavar="S,S", help="between checkpoints")
    parser.add_argument("--shares", type=_numbers, default=[0.2, 0.35, 0.5], metavar="X,X", help="rates over capacity")
    parser.add_argument("--kills", type=int, default=2, metavar="N", help="at each rate and interval")
    return parser.parse_args()


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _killed(asked: argparse.Namespace, home: Path, folder: Path) -> list[Kill]:
    """Run the job at each interval, and kill its task managers at each rate."""
    kills: list[Kill] = []
    points: list[Point] = []
    most = None
    with FlinkCluster(home, folder) as cluster:
        for interval in asked.intervals:
            with Feed(folder / f"input-{interval:g}s", folder / "logs", 500.0) as feed:
                job = start_job(cluster, asked.python, feed.input, interval)
                steady(feed, cluster, job)
                capacity(feed, cluster, BURST)  # warms up
                most = most or capacity(feed, cluster, BURST)
                _say(f"checkpoints every {interval:g} s; the job reads up to {most:,.0f} records/s")
                with _collecting(cluster.url, asked.output / f"collected-{interval:g}s"):
                    for share in (share for share in asked.shares for _ in range(asked.kills)):
                        feed.rate = float(round(share * most))
                        kills.append(kill_and_measure(cluster, feed, job, interval, len(kills)))
                        _say(f"kill {len(kills)}: {kills[-1].row()}")
                stop_job(cluster, job)
            points += feed.points
    _write_curve(asked.output / "lag.csv", points)
    return kills


@contextmanager
def _collecting(url: str, folder: Path) -> Iterator[None]:
    """Run ``ftplan collect`` while the block does."""
    command = [sys.executable, "-m", "ftplan", "collect", url, "--from", "flink", "--every", "5s", "-o", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (folder / "collection.json").exists():
        time.sleep(0.1)
    if process.poll() is not None:
        raise RuntimeError(f"ftplan collect ended with {process.returncode}")
    try:
        yield
    finally:
        process.terminate()
        code = process.wait()
    if code:
        raise RuntimeError(f"ftplan collect ended with {code}")


def _write_kills(path: Path, kills: Sequence[Kill]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(kills[0].row()))
        writer.writeheader()
        writer.writerows(kill.row() for kill in kills)


def _write_curve(path: Path, points: Sequence[Point]) -> None:
    """Write throughput and lag, a row a second."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("time", "written", "read", "lag"))
        second = 0
        for point in points:
            if int(point.time) > second:
                second = int(point.time)
                writer.writerow((second, point.written, point.read, point.written - point.read))


def _log(folder: Path, target: Path) -> None:
    """Keep the lines of the JobManager's log that tell of checkpoints, restarts and initialisations."""
    told = ("Reported span", "tasks will be restarted", "switched from state", "Restoring job")
    with target.open("w") as kept:
        for file in sorted((folder / "logs" / "jobmanager").glob("*.log*")):
            for line in file.read_text(errors="replace").splitlines():
                if any(words in line for words in told) and "TaskExecutor" not in line:
                    kept.write(line.replace(str(folder), "/srv/flink") + "\n")


def commands(collected: str) -> list[str]:
    """Return what is run on a collected folder: from import to plan."""
    return [
        f"import-topology {collected} --from flink -o topology.yaml --cluster-output cluster.yaml --force",
        f"compute-stats {collected} --input-format flink-rest --window 5s -o stats --force",
        "calibrate fitted.csv -o recovery.yaml --force",
        "replicate-tasks -t topology.yaml -c cluster.yaml -s stats --budget 2 -o replicas.json --force",
        "allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats -o checkpoints.json --force",
        "recovery-schedule -t topology.yaml -c cluster.yaml --fail node:127-0-0-11 --costs recovery.yaml -o "
        "schedule.json --force",
    ]


def _plan(folder: Path) -> None:
    """Import, compute statistics, calibrate and plan, each by its command."""
    collected = sorted(folder.glob("collected-*"))[0].name
    for command in commands(collected):
        _say(f"$ ftplan {command}")
        done = subprocess.run(
            [sys.executable, "-m", "ftplan", *shlex.split(command)],
            cwd=folder,
            check=False,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "COLUMNS": "200"},
        )
        if done.returncode:
            sys.exit(f"ftplan {command} ended with {done.returncode}")


def _table(folder: Path, kills: Sequence[Kill]) -> str:
    """Return predicted beside measured, for the kills that nothing was fitted on, with and without their moment."""
    from ftplan.io.recovery_costs_file import load_recovery_costs
    from ftplan.metrics.recovery_time import RecoveryParameters, recovery_time

    costs = load_recovery_costs(folder / "recovery.yaml").value
    parameters = RecoveryParameters.of(costs)
    lines = [
        "| kill | records/s | interval s | into it s | down s | measured s | predicted s | error | with its moment s |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    errors, with_moment = [], []
    for kill in kills[1::2]:
        size = 0 if costs.state == "local" else kill.restored_bytes
        predicted = float(recovery_time(parameters, kill.records_s, kill.checkpoint_interval_s, size).total_s)
        exact = parameters._replace(replay_share=1.0)
        known = float(recovery_time(exact, kill.records_s, kill.since_checkpoint_s, size).total_s)
        errors.append(abs(predicted - kill.recovery_s) / kill.recovery_s)
        with_moment.append(abs(known - kill.recovery_s) / kill.recovery_s)
        lines.append(
            f"| {kill.number + 1} | {kill.records_s:,.0f} | {kill.checkpoint_interval_s:g} | "
            f"{kill.since_checkpoint_s:.1f} | {kill.down_s:.1f} | {kill.recovery_s:.1f} | {predicted:.1f} | "
            f"{errors[-1]:.0%} | {known:.1f} |"
        )
    lines += [
        "",
        f"{len(kills)} kills; fitted on {len(kills[::2])}, the {len(kills[1::2])} others predicted: median error "
        f"{statistics.median(errors):.0%}, largest {max(errors):.0%}; where the moment of the kill within its interval "
        f"is known, median {statistics.median(with_moment):.0%}, largest {max(with_moment):.0%}.",
    ]
    return "\n".join(lines)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
