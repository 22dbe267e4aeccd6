"""A REST endpoint over HTTP: timeouts, retries, TLS that is verified, gzip, and answers of a bounded size."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from ftplan.engines.collecting.reasons import LATE, reason_of
from ftplan.errors import FtplanError, shortened
from ftplan.io.documents import display_name

if TYPE_CHECKING:
    import urllib3

#: Where credentials come from: the environment alone.
TOKEN, USER, PASSWORD = "FTPLAN_COLLECT_TOKEN", "FTPLAN_COLLECT_USER", "FTPLAN_COLLECT_PASSWORD"

#: Answers of a proxy that stands before an endpoint which is out of reach.
_PASSING = (502, 503, 504)
_CHUNK = 2**16
_LONGEST_S = 1e6  # what systems can wait for
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Reply(NamedTuple):
    """What came of a request: a status and the JSON value, or an error; status None where nothing answered at all."""

    status: int | None
    value: Any
    error: str | None = None

    @property
    def reached(self) -> bool:
        """Whether the endpoint itself answered, if only to refuse."""
        return self.status is not None and self.status not in _PASSING


@dataclass(frozen=True, slots=True)
class Connection:
    """How an endpoint is asked."""

    #: Seconds from asking until the last byte of the answer is there, redirects and asking again included
    timeout_s: float = 10.0
    retries: int = 2  # how often a request that nothing answered is made again at most, after 0.5, 1, 2, ... s.
    ca_file: str | None = None  # certificates that signed the endpoint's own, beside those of the system
    max_answer_bytes: int = 64_000_000  # larger answers, unpacked, are left out


@dataclass
class Endpoint:
    """A REST endpoint; one request at a time, over connections that are kept.

    Credentials are read from :data:`TOKEN`, or :data:`USER` and :data:`PASSWORD`, of the environment. No other server
    gets them, also when the endpoint sends the request on, and no message holds them.
    """

    url: str
    connection: Connection = field(default_factory=Connection)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        self.url = checked_url(self.url)
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": "ftplan",
            **_authorization(self.environment),
        }
        from ftplan.engines.collecting.deadline import Deadline

        self._deadline = Deadline()
        self._pool = self._opened()

    def _opened(self) -> urllib3.PoolManager:
        import urllib3

        ca_file = self.connection.ca_file
        if ca_file is not None and not Path(ca_file).is_file():
            raise FtplanError(f"--ca-file: {display_name(ca_file)}: there is no such file")
        context = None
        if self.url.startswith("https:"):
            import ssl

            context = ssl.create_default_context()
            try:
                if ca_file is not None:
                    context.load_verify_locations(cafile=ca_file)
            except (ssl.SSLError, OSError) as error:
                name = display_name(ca_file or "")
                raise FtplanError(f"--ca-file: {name}: holds no certificates ({error})") from None
        redirects = urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=3)
        pool = urllib3.PoolManager(retries=redirects, ssl_context=context, maxsize=2)
        self._deadline.watch(pool)
        return pool

    @property
    def in_clear(self) -> bool:
        """Whether credentials go over the network unencrypted."""
        given = "Authorization" in self._headers
        return given and self.url.startswith("http:") and urlsplit(self.url).hostname not in _LOOPBACK

    def get(self, path: str, within_s: float = math.inf) -> Reply:
        """Ask for *path*, which begins with ``/`` and may have a query; never raises for what the endpoint does.

        It takes as long as the connection allows, and no longer than *within_s*.
        """
        until = time.monotonic() + min(self.connection.timeout_s, within_s, _LONGEST_S)
        reply = self._asked(path, until)
        for attempt in range(self.connection.retries):
            pause = 0.5 * 2**attempt
            if reply.reached or (reply.error or "").startswith("certificate") or time.monotonic() + pause >= until:
                break
            self.sleep(pause)
            reply = self._asked(path, until)
        return reply

    def _asked(self, path: str, until: float) -> Reply:
        left_s = max(until - time.monotonic(), 0.001)
        with self._deadline.within(left_s):
            reply = self._answered(path, left_s)
        return Reply(None, None, LATE) if self._deadline.over else reply

    def _answered(self, path: str, left_s: float) -> Reply:
        import urllib3

        wait = urllib3.Timeout(connect=left_s, read=left_s)
        try:
            response = self._pool.request(
                "GET", self.url + path, headers=self._headers, timeout=wait, preload_content=False
            )
        except (urllib3.exceptions.HTTPError, ValueError, OSError) as error:
            return Reply(None, None, reason_of(error))
        try:
            data = self._body(response)
        except _TooLargeError as error:
            response.close()
            return Reply(response.status, None, str(error))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            return Reply(None, None, reason_of(error))
        response.release_conn()
        return _reply(response.status, data)

    def _body(self, response: urllib3.BaseHTTPResponse) -> bytes:
        """Read an answer as long as it is not too large."""
        most = self.connection.max_answer_bytes
        parts, size = [], 0
        for part in response.stream(_CHUNK, decode_content=True):
            parts.append(part)
            size += len(part)
            if size > most:
                raise _TooLargeError(f"the answer is larger than {most:,} bytes (--max-answer)")
        return b"".join(parts)


class _TooLargeError(Exception):
    """An answer has more bytes than allowed."""


def checked_url(url: str) -> str:
    """Return a URL without what a path needs none of: no slash at its end.

    Raises FtplanError if it is no URL of HTTP, or holds credentials or a query, which would be stored with the answers.
    """
    if "@" in url:
        raise FtplanError(
            f"the URL holds credentials, which would be stored and shown: put them into {USER} and {PASSWORD}, or "
            f"{TOKEN}, of the environment"
        )
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError as error:
        raise FtplanError(f"the URL cannot be understood ({error}); expected one such as http://host:8081") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FtplanError(f"{shortened(repr(url))} is no URL of HTTP; expected one such as http://host:8081")
    if parts.query or parts.fragment:
        raise FtplanError("the URL has a query or a fragment, where tokens stand at times: give it without")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def _authorization(environment: Mapping[str, str]) -> dict[str, str]:
    from urllib3.util import make_headers

    given = {name: environment.get(name, "").strip() for name in (TOKEN, USER, PASSWORD)}
    for name, value in given.items():
        if not value.isprintable() or not value.isascii():
            raise FtplanError(f"{name}: holds characters that HTTP does not carry: only printable ASCII")
    if given[TOKEN]:
        if given[USER] or given[PASSWORD]:
            raise FtplanError(f"{TOKEN} and {USER} are both set: unset one of them")
        return {"Authorization": f"Bearer {given[TOKEN]}"}
    if bool(given[USER]) != bool(given[PASSWORD]):
        raise FtplanError(f"{USER} and {PASSWORD}: only one of them is set")
    if not given[USER]:
        return {}
    return {"Authorization": make_headers(basic_auth=f"{given[USER]}:{given[PASSWORD]}")["authorization"]}


def _reply(status: int, data: bytes) -> Reply:
    if status != 200:
        return Reply(status, None, _refusal(status, data))
    try:
        return Reply(status, json.loads(data))
    except (ValueError, RecursionError):
        return Reply(status, None, shortened(f"the answer is no JSON: {data[:60]!r}"))


def _refusal(status: int, data: bytes) -> str:
    """Return what a status says, and the first line of what the engine says of it."""
    import http

    phrase = next((item.phrase for item in http.HTTPStatus if item.value == status), "")
    if status in (401, 403):
        return f"{status} {phrase}: credentials come from {TOKEN}, or {USER} and {PASSWORD}"
    try:
        said = json.loads(data)
        errors = said.get("errors") or [said.get("errorMessage") or said.get("error") or ""]
        said_first = str(errors[0]).strip().splitlines()
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        said_first = []
    return shortened(f"{status} {phrase}" + (f": {said_first[0]}" if said_first else ""))
