"""Kill task managers of a running job and measure how it recovers."""

from __future__ import annotations

import random
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from cluster import FlinkCluster
from feed import Feed, Point

#: The lag counts as normal within this many seconds' worth of records above what it was before.
SLACK_S = 0.5
#: A recovery that takes longer is given up.
GIVEN_UP_S = 300.0


@dataclass(frozen=True)
class Kill:
    """A killed task manager and what came of it; times in seconds, all from the kill on.

    Attributes
    ----------
    time
        Of the kill (Unix).
    since_checkpoint_s
        How long before the kill the checkpoint had begun that the job went on from.
    down_s
        Until the job read something again.
    recovery_s
        Until no more waits to be read than before.
    capacity_records_s
        What the job read per second while it caught up; None where that took less than 2 s.
    checkpoint_size
        Bytes of that checkpoint: a few MB, fetched in a tenth of a second.
    """

    number: int
    time: float
    taskmanager: str
    checkpoint_interval_s: float
    records_s: float
    since_checkpoint_s: float
    down_s: float
    recovery_s: float
    capacity_records_s: float | None
    checkpoint_size: int

    def row(self) -> dict[str, object]:
        """Return the values by column."""
        return asdict(self)


def start_job(cluster: FlinkCluster, python: str, source: Path, interval_s: float, *what: str) -> str:
    """Send the job, which reads the folder *source*, and return its id when all its tasks run; *what*: see job.py."""
    script = Path(__file__).with_name("job.py")
    address = cluster.url.removeprefix("http://")
    jar = cluster.compiled(script.with_name("Priced.java"))
    command = [python, str(script), address, str(source.resolve()), str(interval_s), str(jar), *what]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"the job could not be sent: {done.stderr[-2000:]}")
    job = done.stdout.split()[-1]
    cluster.wait_for(lambda: all_running(cluster, job), "the tasks of the job")
    return job


def stop_job(cluster: FlinkCluster, job: str) -> None:
    """Cancel a job and wait for its end."""
    cluster.send("PATCH", f"/jobs/{job}?mode=cancel")
    cluster.wait_for(lambda: (cluster.get(f"/jobs/{job}") or {}).get("state") == "CANCELED", "the end of the job")


def all_running(cluster: FlinkCluster, job: str) -> bool:
    """Return whether all tasks of a job run."""
    said = cluster.get(f"/jobs/{job}") or {}
    return said.get("state") == "RUNNING" and all(vertex["status"] == "RUNNING" for vertex in said["vertices"])


def capacity(feed: Feed, cluster: FlinkCluster, records: int) -> float:
    """Return what a job can read per second: many records at once, the middle of the time that they take."""
    begun, before = time.time(), feed.points[-1].read
    feed.write(records)
    cluster.wait_for(lambda: feed.lag < records * 0.05, "the job to read what came at once")
    points = [p for p in feed.points if p.time > begun and 0.2 < (p.read - before) / records < 0.9]
    return (points[-1].read - points[0].read) / (points[-1].time - points[0].time)


def steady(feed: Feed, cluster: FlinkCluster, job: str) -> None:
    """Wait until a job keeps up with what arrives, and has a complete checkpoint."""
    cluster.wait_for(lambda: feed.lag < 2 * feed.rate, "the job to keep up")
    number = _checkpoint(cluster, job, "completed")
    cluster.wait_for(lambda: _checkpoint(cluster, job, "completed") > number, "a checkpoint")
    begun = time.time()
    cluster.wait_for(lambda: time.time() - begun > 5 and feed.lag < 2 * feed.rate, "the job to keep up")


def kill_and_measure(cluster: FlinkCluster, feed: Feed, job: str, interval_s: float, number: int) -> Kill:
    """Kill a task manager at a random moment of a checkpoint interval, measure, and start it again."""
    steady(feed, cluster, job)
    draw = random.Random(number)
    time.sleep(draw.uniform(0, interval_s))
    hosts = _hosts(cluster, job)
    victim = draw.choice(hosts)
    begun = time.time()
    cluster.kill(victim)
    normal = statistics.median(p.written - p.read for p in feed.points if p.time > begun - 5)
    back = normal + SLACK_S * feed.rate
    cluster.wait_for(lambda: _caught_up(feed.points, begun, back) is not None, "the recovery", GIVEN_UP_S)
    end = _caught_up(feed.points, begun, back)
    assert end is not None
    first = _read_again(feed.points, begun, end.time)
    triggered, size = _restored(cluster, job)
    cluster.start_taskmanager(int(victim.rpartition("-")[2]))
    cluster.wait_for_taskmanagers()
    return Kill(
        number,
        round(begun, 3),
        victim,
        interval_s,
        feed.rate,
        round(begun - triggered, 3),
        round(first.time - begun, 3),
        round(end.time - begun, 3),
        _speed([p for p in feed.points if first.time + 1 <= p.time <= end.time]),
        size,
    )


def _read_again(points: list[Point], begun: float, end: float) -> Point:
    """Return the point at which the longest halt in a time ended."""
    during = [p for p in points if begun < p.time <= end]
    halts = [(during[0].time, during[0])]
    for before, point in pairwise(during):
        if point.read != before.read:
            halts.append((point.time, point))
    longest = max(pairwise(halts), key=lambda pair: pair[1][0] - pair[0][0])
    return longest[1][1]


def _caught_up(points: list[Point], begun: float, back: float) -> Point | None:
    """Return the first point after a fall of the throughput from which on no more waits than *back*, for a second."""
    after = [p for p in points[-3000:] if p.time > begun]
    worst = next((n for n, p in enumerate(after) if p.written - p.read > 2 * back), None)
    if worst is None:
        return None
    tail = after[worst:]
    for number, point in enumerate(tail):
        if point.written - point.read <= back:
            rest = [p for p in tail[number:] if p.time <= point.time + 1]
            if tail[-1].time > point.time + 1 and all(p.written - p.read <= 2 * back for p in rest):
                return point
    return None


def _speed(points: list[Point]) -> float | None:
    if len(points) < 2 or points[-1].time - points[0].time < 2:
        return None
    return round((points[-1].read - points[0].read) / (points[-1].time - points[0].time), 1)


def _hosts(cluster: FlinkCluster, job: str) -> list[str]:
    """Return the task managers that run tasks of a job."""
    vertices = (cluster.get(f"/jobs/{job}") or {}).get("vertices", [])
    answers = (cluster.get(f"/jobs/{job}/vertices/{vertex['id']}") or {} for vertex in vertices)
    return sorted({task["taskmanager-id"] for answer in answers for task in answer.get("subtasks", [])})


def _checkpoint(cluster: FlinkCluster, job: str, kind: str) -> int:
    """Return the number of the newest checkpoint that was completed, or restored; what REST says is up to 3 s old."""
    latest = (cluster.get(f"/jobs/{job}/checkpoints") or {}).get("latest") or {}
    return int((latest.get(kind) or {}).get("id", 0))


def _restored(cluster: FlinkCluster, job: str) -> tuple[float, int]:
    """Return when the checkpoint began (Unix) that a job went on from, and its bytes."""
    number = _checkpoint(cluster, job, "restored")
    said = cluster.get(f"/jobs/{job}/checkpoints/details/{number}") or {}
    return said.get("trigger_timestamp", 0) / 1000, said.get("state_size", 0)
