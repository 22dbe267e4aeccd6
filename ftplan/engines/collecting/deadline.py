"""A deadline for answers as a whole: a socket's own timeout begins anew with each byte that comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection


class Deadline:
    """Cuts all connections of a pool when the time is over, whatever they wait for: a header, a body, a redirect.

    Only the system says how long the name of a host is looked up.
    """

    def __init__(self) -> None:
        self.over = False
        self._sockets: list[socket.socket] = []

    def watch(self, pools: PoolManager) -> None:
        """Cut the connections that *pools* makes from now on."""
        deadline = self

        class Plain(HTTPConnection):
            def connect(self) -> None:
                super().connect()
                deadline._add(self.sock)

        class Encrypted(HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                deadline._add(self.sock)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(HTTPSConnectionPool):
            ConnectionCls = Encrypted

        pools.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Let the block take so many seconds; ``over`` says whether that was too few."""
        self.over = False
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # it must not cut what comes after

    def _add(self, sock: socket.socket | None) -> None:
        """Remember a connection that was made."""
        self._sockets = [one for one in (*self._sockets, sock) if one is not None and one.fileno() >= 0]
        if self.over:
            raise TimeoutError

    def _cut(self) -> None:
        self.over = True
        for sock in self._sockets:
            with suppress(OSError):  # it has ended
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # that of TLS waits for an answer, or spoils a read
