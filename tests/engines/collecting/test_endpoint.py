"""Requests over HTTP, against a server on loopback."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ftplan.engines.collecting.endpoint import PASSWORD, TOKEN, USER, Connection, Endpoint, Reply
from ftplan.errors import FtplanError
from tests.engines.collecting.server import Said, served


def ask(url: str, path: str = "/a", environment: dict[str, str] | None = None, **how: Any) -> Reply:
    slept: list[float] = []
    reply = Endpoint(url, Connection(**how), environment or {}, slept.append).get(path)
    assert len(slept) <= how.get("retries", 2)
    return reply


def test_answers_packed_or_not() -> None:
    with served({"/a": {"x": 1}, "/b?get=c,d": Said([1.5, "é"], packed=True)}) as endpoint:
        assert ask(endpoint.url) == (200, {"x": 1}, None)
        assert ask(f"{endpoint.url}/", "/b?get=c,d") == (200, [1.5, "é"], None)
        assert endpoint.asked[0][1]["Accept-Encoding"] == "gzip"


def test_refusals_have_the_engines_words() -> None:
    with served({"/a": Said({"errors": ["Job gone.\nat x.y.Z"]}, 404), "/b": Said(b"<html>", 200)}) as endpoint:
        assert ask(endpoint.url) == (404, None, "404 Not Found: Job gone.")
        assert ask(endpoint.url, "/b") == (200, None, "the answer is no JSON: b'<html>'")
        assert endpoint.paths == ["/a", "/b"], "an answer is not asked for again"


def test_passing_outages_are_asked_again() -> None:
    answers = iter([Said(status=503), Said(status=502), Said({"x": 1})])
    with served({"/a": lambda: next(answers)}) as endpoint:
        assert ask(endpoint.url).value == {"x": 1}
        endpoint.answers["/a"] = Said(status=503)
        assert not ask(endpoint.url, retries=0).reached


def test_nothing_listens() -> None:
    with served({}) as endpoint:
        url = endpoint.url
    slept: list[float] = []
    assert Endpoint(url, Connection(), {}, slept.append).get("/a") == (None, None, "connection refused")
    assert slept == [0.5, 1.0]


def test_no_such_host() -> None:
    assert ask("http://host.invalid", retries=0).error == "its host name is not known"


def test_a_server_that_hangs() -> None:
    with served({}) as endpoint:
        endpoint.answers["/a"] = lambda: endpoint.hanging.wait() and {}
        assert ask(endpoint.url, timeout_s=0.05, retries=0) == (None, None, "no answer in time (--timeout)")


@pytest.mark.parametrize("packed", [False, True])
def test_large_answers_are_left_out(packed: bool) -> None:
    with served({"/a": Said(["x" * 100_000] * 10, packed=packed)}) as endpoint:
        reply = ask(endpoint.url, max_answer_bytes=200_000)
        assert reply == (200, None, "the answer is larger than 200,000 bytes (--max-answer)")
        assert ask(endpoint.url).value is not None


def test_credentials_come_from_the_environment() -> None:
    with served({"/a": {}}) as endpoint:
        ask(endpoint.url)
        ask(endpoint.url, environment={TOKEN: "s3cret\n"})
        ask(endpoint.url, environment={USER: "Aladdin", PASSWORD: "open sesame"})
        sent = [headers.get("Authorization") for _, headers in endpoint.asked]
    assert sent == [None, "Bearer s3cret", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]  # the example of RFC 7617


def test_another_server_gets_no_credentials() -> None:
    with served({"/a": {"x": 1}}) as other, served({}) as endpoint:
        endpoint.answers["/a"] = Said(status=302, headers={"Location": f"{other.url}/a"})
        assert ask(endpoint.url, environment={TOKEN: "s3cret"}).value == {"x": 1}
        assert "Authorization" in endpoint.asked[0][1]
        assert "Authorization" not in other.asked[0][1]
        other.answers["/a"] = Said(status=302, headers={"Location": f"{endpoint.url}/a"})
        assert ask(endpoint.url, retries=0).error == "it sends the request on and on"


def test_what_a_wrong_password_says() -> None:
    with served({"/a": Said(status=401)}) as endpoint:
        said = ask(endpoint.url, environment={TOKEN: "s3cret"}).error
    assert said == f"401 Unauthorized: credentials come from {TOKEN}, or {USER} and {PASSWORD}"


@pytest.mark.parametrize(
    "environment",
    [{TOKEN: "s3\ncret"}, {TOKEN: "s3crét"}, {USER: "s3cret"}, {PASSWORD: "s3cret"}, {TOKEN: "s3cret", USER: "s3cret"}],
)
def test_unusable_credentials_are_not_shown(environment: dict[str, str]) -> None:
    with pytest.raises(FtplanError, match="FTPLAN_COLLECT_") as caught:
        Endpoint("http://host", environment=environment)
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://me:s3cret@host:8081", "holds credentials"),
        ("me:s3cret@host", "holds credentials"),
        ("http://host/?token=s3cret", "has a query or a fragment"),
        ("http://host/#s3cret", "has a query or a fragment"),
        ("ftp://host", "is no URL of HTTP"),
        ("host:8081", "is no URL of HTTP"),
        ("http://host:s3cret", "cannot be understood"),
        ("http://[host", "cannot be understood"),
        ("", "is no URL of HTTP"),
    ],
)
def test_urls_that_are_refused(url: str, said: str) -> None:
    with pytest.raises(FtplanError, match=said) as caught:
        Endpoint(url, environment={})
    assert "s3cret@" not in str(caught.value)


def test_nothing_shows_credentials() -> None:
    environment = {TOKEN: "s3cret"}
    endpoint = Endpoint("http://host", environment=environment)
    assert "s3cret" not in repr(endpoint)
    assert endpoint.in_clear
    assert not Endpoint("https://host", environment=environment).in_clear
    assert not Endpoint("http://localhost:1", environment=environment).in_clear


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl (Debian: apt-get install openssl)")
def test_certificates_are_verified(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with served({"/a": {"x": 1}}, context) as endpoint:
        assert ask(endpoint.url, ca_file=str(certificate)).value == {"x": 1}
        refused = ask(endpoint.url)
        assert (refused.status, refused.value) == (None, None)
        assert str(refused.error).startswith("certificate not accepted: self-signed certificate")
    with pytest.raises(FtplanError, match="holds no certificates"):
        Endpoint("https://host", Connection(ca_file=str(key)), {})
    with pytest.raises(FtplanError, match="there is no such file"):
        Endpoint("https://host", Connection(ca_file="gone.pem"), {})


def test_deep_answers_do_no_harm() -> None:
    with served({"/a": Said(b"[" * 100_000), "/b": Said(json.dumps({"errors": {}}).encode(), 500)}) as endpoint:
        assert str(ask(endpoint.url).error).startswith("the answer is no JSON")
        assert ask(endpoint.url, "/b").error == "500 Internal Server Error"
