"""A REST endpoint on loopback that answers what a test says, and remembers what it was asked."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Said:
    """One answer: its status, its value as JSON (bytes as they are), headers, and whether it is packed."""

    value: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    packed: bool = False


class FakeEndpoint:
    """Answers by path; a path without an answer is 404. ``asked`` are the paths and headers of all requests."""

    def __init__(self, answers: Mapping[str, Any], context: ssl.SSLContext | None = None) -> None:
        self.answers: dict[str, Any] = dict(answers)
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self.hanging = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self.url = f"{'http' if context is None else 'https'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def said(self, path: str) -> Said:
        """Return the answer to a path."""
        answer = self.answers.get(path, Said({"errors": ["Not found."]}, 404))
        if callable(answer):
            answer = answer()
        return answer if isinstance(answer, Said) else Said(answer)

    @property
    def paths(self) -> list[str]:
        """Return the paths that were asked."""
        return [path for path, _ in self.asked]

    def close(self) -> None:
        """End the server; whoever hangs is let go."""
        self.hanging.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # an answer in one piece

            def do_GET(self) -> None:
                with suppress(ConnectionError):  # who asks may have gone
                    self._answer()

            def _answer(self) -> None:
                endpoint.asked.append((self.path, dict(self.headers)))
                said = endpoint.said(self.path)
                data = said.value if isinstance(said.value, bytes) else json.dumps(said.value).encode()
                if said.packed:
                    data = gzip.compress(data)
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                if said.packed:
                    self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@contextmanager
def served(answers: Mapping[str, Any], context: ssl.SSLContext | None = None) -> Iterator[FakeEndpoint]:
    """Serve answers while the block runs."""
    endpoint = FakeEndpoint(answers, context)
    try:
        yield endpoint
    finally:
        endpoint.close()


class FakeTime:
    """A clock that moves when somebody sleeps, and when a test says that something took its time."""

    def __init__(self, begun: datetime = datetime(2026, 11, 22, 7, 59, 30, tzinfo=UTC)) -> None:
        self.begun, self.passed = begun, 0.0
        self.wakes: list[float] = []
        self.on_sleep: Callable[[], None] = lambda: None

    def seconds(self) -> float:
        """Return seconds that never go back."""
        return self.passed

    def now(self) -> datetime:
        """Return the time of day."""
        return self.begun + timedelta(seconds=self.passed)

    def sleep(self, seconds: float) -> None:
        """Pass the time."""
        self.passed += seconds
        self.wakes.append(self.passed)
        self.on_sleep()
