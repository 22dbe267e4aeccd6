"""Answers that come in drops end with the time that an answer has, whatever drips."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ftplan.engines.collecting.asking import recognised
from ftplan.engines.collecting.endpoint import Connection, Endpoint, Reply
from ftplan.errors import FtplanError
from tests.engines.collecting.server import Said, served

LATE = Reply(None, None, "no answer in time (--timeout)")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n"
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 300\r\n\r\n"


class Dripping:
    """Answers each request with some bytes at once and 300 more in drops, for 3 s if nobody leaves before."""

    def __init__(self, at_once: bytes, drop: bytes) -> None:
        self.at_once, self.drop, self.asked = at_once, drop, 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                with self._socket.accept()[0] as connection, suppress(ConnectionError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        self.asked += bool(connection.recv(2**16))
        connection.sendall(self.at_once)
        for _ in range(300):
            connection.sendall(self.drop)
            time.sleep(0.01)

    def close(self) -> None:
        """End the server, after whoever is answered now."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@contextmanager
def dripping(at_once: bytes, drop: bytes) -> Iterator[Dripping]:
    server = Dripping(at_once, drop)
    try:
        yield server
    finally:
        server.close()


@pytest.mark.parametrize(
    ("at_once", "drop"),
    [
        (HEAD, b" "),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"A: 1\r\n"),
        (b"", b"HTTP"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"1"),  # a body that ends with the connection, valid as far as it came
        (CHUNKS, b"1\r\n1\r\n"),
        (REDIRECT, b" "),
    ],
)
def test_what_drips_ends_with_the_time_of_an_answer(at_once: bytes, drop: bytes) -> None:
    """It is asked once: asking again has the same time."""
    slept: list[float] = []
    with dripping(at_once, drop) as server:
        endpoint = Endpoint(server.url, Connection(timeout_s=0.2, retries=5), {}, slept.append)
        assert endpoint.get("/a") == LATE
        assert (server.asked, slept) == (1, [])


def test_a_redirect_to_what_drips_shares_its_time() -> None:
    with dripping(HEAD, b" ") as server, served({}) as endpoint:
        endpoint.answers["/a"] = Said(status=302, headers={"Location": f"{server.url}/b"})
        asking = Endpoint(endpoint.url, Connection(timeout_s=0.2, retries=5), {})
        assert asking.get("/a") == LATE
        assert (server.asked, endpoint.paths) == (1, ["/a"])
        endpoint.answers["/a"] = {"x": 1}
        assert asking.get("/a").value == {"x": 1}, "the next answer has its own time"


def test_recognising_ends_with_what_drips(tmp_path: Path) -> None:
    with dripping(HEAD, b" ") as server:
        with pytest.raises(FtplanError, match=r"no answer in time \(--timeout\); --from says"):
            recognised(Endpoint(server.url, Connection(timeout_s=0.2), {}), tmp_path / "new")
        assert server.asked == 1


def test_an_answer_has_no_longer_than_is_left() -> None:
    with dripping(HEAD, b" ") as server:
        assert Endpoint(server.url, Connection(), {}).get("/a", 0.2) == LATE


def test_connections_are_kept() -> None:
    with served({"/a": {"x": 1}}) as endpoint:
        asking = Endpoint(endpoint.url, Connection(timeout_s=1e15), {})
        assert [asking.get("/a").value for _ in range(3)] == [{"x": 1}] * 3
        assert len(asking._deadline._sockets) == 1
