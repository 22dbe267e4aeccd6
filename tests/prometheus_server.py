"""Debian's Prometheus on loopback, with what it has measured before and with an exporter of this process."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from tests.spark_stats.cluster import daemon, free_port, wait_for

PROMETHEUS, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")
needs_prometheus = pytest.mark.skipif(
    PROMETHEUS is None or PROMTOOL is None, reason="no Prometheus: apt-get install prometheus"
)

Labels = tuple[tuple[str, str], ...]


def labels(**named: Any) -> Labels:
    return tuple(sorted((name, str(value)) for name, value in named.items()))


class Exporter:
    """Serves gauges, as Flink's reporter does: ``values[name][labels]`` is what it says now."""

    def __init__(self) -> None:
        self.values: dict[str, dict[Labels, float]] = {}
        self.lock = threading.Lock()

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        with self.lock:
            values = {name: dict(series) for name, series in self.values.items()}
        for name, series in values.items():
            keys = [key for key, _ in next(iter(series), ())]
            family = GaugeMetricFamily(name, name, labels=keys)
            for given, value in series.items():
                family.add_metric([text for _, text in given], value)
            yield family

    def say(self, values: Mapping[str, Mapping[Labels, float]]) -> None:
        with self.lock:
            self.values = {name: dict(series) for name, series in values.items()}


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def exporting(exporter: Exporter) -> Iterator[int]:
    from prometheus_client import CollectorRegistry, make_wsgi_app

    registry = CollectorRegistry()
    registry.register(exporter)
    server = make_server("127.0.0.1", 0, make_wsgi_app(registry), handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Prometheus:
    """A server that runs, asked over its API."""

    def __init__(self, url: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.url, self.process, self.log = url, process, log

    def ask(self, path: str, **query: Any) -> Any:
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urlencode(query)}") as reply:
            return json.load(reply)["data"]["result"]

    def value(self, promql: str, at: float | None = None) -> float | None:
        """Return the one value of a query, None where it has none."""
        result = self.ask("query", query=promql, **({} if at is None else {"time": at}))
        return float(result[0]["value"][1]) if result else None

    def wait_for(self, promql: str, value: float, step_s: float) -> float:
        """Wait until the query has the value at a time on the grid of steps, and return that time.

        It lies some steps back: a scrape that began before it may end after it, with what is said next.
        """
        while self.process.poll() is None:
            at = (time.time() // step_s - 3) * step_s
            if self.value(promql, at) == value:
                return at
            time.sleep(step_s / 4)
        raise AssertionError(f"Prometheus ended:\n{self.log.read_text(errors='replace')[-4000:]}")


@contextlib.contextmanager
def prometheus(place: Path, target: int, every_s: float, history: str) -> Iterator[Prometheus]:
    """Start a server that scrapes a port of loopback, and knows *history* (OpenMetrics with times) already."""
    data, config = place / "data", place / "prometheus.yml"
    assert PROMETHEUS is not None
    assert PROMTOOL is not None
    (place / "history.txt").write_text(history)
    command = [PROMTOOL, "tsdb", "create-blocks-from", "openmetrics", str(place / "history.txt"), str(data)]
    subprocess.run(command, check=True, capture_output=True)
    config.write_text(
        f"global: {{scrape_interval: {every_s * 1000:.0f}ms, scrape_timeout: {every_s * 1000:.0f}ms}}\n"
        f"scrape_configs: [{{job_name: flink, static_configs: [{{targets: ['127.0.0.1:{target}']}}]}}]\n"
    )
    with free_port() as port:
        pass
    command = [PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={data}", "--log.level=warn"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=10y"]
    with daemon(command, place / "prometheus.log") as process:
        wait_for(port, process, place / "prometheus.log")
        server = Prometheus(f"http://127.0.0.1:{port}", process, place / "prometheus.log")
        while process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{server.url}/-/ready") as reply:
                if reply.status == 200:
                    break
            time.sleep(0.05)
        yield server
