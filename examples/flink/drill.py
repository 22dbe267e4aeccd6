"""Kill task managers of a real Flink job, measure how it recovers, and hold what ftplan predicts to it.

Starts a cluster on loopback and a job, collects what its REST endpoint says, kills a task manager again and again at
several input rates and checkpoint intervals, imports the job, plans for it, fits the costs of recovery on every other
kill and predicts the rest. Everything ends with this process. Prints a table in Markdown; --output has the files.
"""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from cluster import FlinkCluster, StuckError, flink_home
from feed import Feed, Point
from kills import Kill, capacity, kill_and_measure, start_job, steady, stop_job

HERE = Path(__file__).resolve().parent
#: Records that are read at once to warm up, and to measure what the job can read.
BURST = 20_000
#: Jobs that are begun at an interval before the drill gives up.
ATTEMPTS = 3
#: Seconds from one poll of the REST endpoint to the next.
POLLS_S = 5


def main() -> None:
    """Carry the drill out."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = flink_home(asked.python)
    asked.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="flink-drill-", ignore_cleanup_errors=True) as folder:
        kills = _killed(asked, home, Path(folder))
        _log(Path(folder), asked.output / "jobmanager.log")
    _write_kills(asked.output / "fitted.csv", kills[::2])
    for command in commands():
        _run(command, asked.output)
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
    """Run the job at each interval, and kill its task managers at each rate.

    A job that stops reading (on a busy machine Flink loses a message at times, and checkpoints hang) is begun anew.
    """
    kills: list[Kill] = []
    most: float | None = None
    with FlinkCluster(home, folder) as cluster:
        for interval in asked.intervals:
            left = [share for share in asked.shares for _ in range(asked.kills)]
            for attempt in range(ATTEMPTS):
                source = folder / f"input-{interval:g}s-{attempt}"
                with Feed(source, folder / "logs", 500.0) as feed:
                    job = start_job(cluster, asked.python, feed.input, interval)
                    try:
                        most = most or _capacity(feed, cluster, job)
                        with collecting(cluster.url, asked.output / _name("collected", asked, interval)):
                            while left:
                                feed.rate = float(round(left[0] * most))
                                kills.append(kill_and_measure(cluster, feed, job, interval, len(kills)))
                                left.pop(0)
                                _say(f"kill {len(kills)}: {kills[-1].row()}")
                                _write_kills(asked.output / "recoveries.csv", kills)
                            steady(feed, cluster, job)
                            time.sleep(2 * POLLS_S)  # polls of a job that is whole again
                    except StuckError as error:
                        _say(f"{error}: another job")
                        cluster.restore()
                    stop_job(cluster, job)
                if not left:
                    _write_curve(asked.output / f"{_name('lag', asked, interval)}.csv", feed.points)
                    break
            else:
                sys.exit(f"{ATTEMPTS} jobs were stuck at an interval of {interval:g} s")
    return kills


def _capacity(feed: Feed, cluster: FlinkCluster, job: str) -> float:
    """Return what the job can read per second, once it is warm."""
    steady(feed, cluster, job)
    capacity(feed, cluster, BURST)
    most = capacity(feed, cluster, BURST)
    _say(f"the job reads up to {most:,.0f} records/s")
    return most


def _name(what: str, asked: argparse.Namespace, interval: float) -> str:
    """Return what a file of an interval is called; README has that of the first."""
    return what if interval == asked.intervals[0] else f"{what}-{interval:g}s"


@contextmanager
def collecting(url: str, folder: Path, every_s: float = POLLS_S) -> Iterator[None]:
    """Run ``ftplan collect`` while the block does."""
    command = ["ftplan", "collect", url, "--from", "flink", "--every", f"{every_s:g}s", "-o", str(folder)]
    process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.DEVNULL)
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
    """Write what was read in each second and what waited at its end; what is read a second time counts again."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("time", "throughput", "lag"))
        seconds = {int(point.time): point for point in points}
        for (_, before), (second, point) in pairwise(seconds.items()):
            writer.writerow((second, max(point.read - before.read, 0), point.written - point.read))


def _log(folder: Path, target: Path) -> None:
    """Keep the lines of the JobManager's log that tell of checkpoints, restarts and initialisations."""
    told = ("Reported span", "tasks will be restarted", "switched from state", "Restoring job")
    with target.open("w") as kept:
        for file in sorted((folder / "logs" / "jobmanager").glob("*.log*")):
            for line in file.read_text(errors="replace").splitlines():
                if any(words in line for words in told) and "TaskExecutor" not in line:
                    kept.write(line.replace(str(folder), "/srv/flink") + "\n")


def commands() -> list[str]:
    """Return the commands from import to plans, as README has them, each in one line, and the fit that is judged."""
    text = (HERE / "README.md").read_text().replace("\\\n", " ")
    return [*re.findall(r"^\$ (ftplan .*)$", text, re.MULTILINE), "ftplan calibrate fitted.csv -o fitted.yaml"]


def _run(command: str, folder: Path) -> None:
    """Run a line of ftplan in a folder; ends the drill where it fails."""
    _say(f"$ {command}")
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--force"], cwd=folder, check=False, stdout=subprocess.DEVNULL
    )
    if done.returncode:
        sys.exit(f"{command} ended with {done.returncode}")


def _table(folder: Path, kills: Sequence[Kill]) -> str:
    """Return predicted beside measured, for the kills that nothing was fitted on.

    Twice: from what is known before a failure, and from how long the job then stood still.
    """
    from ftplan.io.recovery_costs_file import load_recovery_costs
    from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time

    parameters = RecoveryParameters.of(load_recovery_costs(folder / "fitted.yaml").value)
    lines = [
        "| kill | records/s | interval | into it | halt s | measured s | predicted s | error | from halt s | error |",
        "|---:" * 10 + "|",
    ]
    errors: list[tuple[float, float]] = []
    for kill in kills[1::2]:
        predicted = recovery_time(parameters, kill.records_s, kill.checkpoint_interval_s)
        halted = RecoveryParameters(kill.down_s, replay_share=1.0, capacity_records_s=parameters.capacity_records_s)
        known = recovery_time(halted, kill.records_s, kill.since_checkpoint_s)
        times = [float(parts.total_s) for parts in (predicted, known)]
        errors.append((times[0] / kill.recovery_s - 1, times[1] / kill.recovery_s - 1))
        lines.append(
            f"| {kill.number + 1} | {kill.records_s:,.0f} | {kill.checkpoint_interval_s:g} | "
            f"{kill.since_checkpoint_s:.1f} | {kill.down_s:.1f} | {kill.recovery_s:.1f} | {times[0]:.1f} | "
            f"{errors[-1][0]:+.0%} | {times[1]:.1f} | {errors[-1][1]:+.0%} |"
        )
    medians = [statistics.median(map(abs, column)) for column in zip(*errors, strict=True)]
    return "\n".join(
        [
            *lines,
            "",
            f"{len(kills)} kills, costs fitted on {len(kills[::2])} of them. The {len(kills[1::2])} others: median "
            f"error {medians[0]:.0%} of what is predicted before a failure, {medians[1]:.0%} once it is known how long "
            "the job stood still and when its last checkpoint was.",
        ]
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
