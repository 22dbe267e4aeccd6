"""Text logs by a pattern: what RE2 finds, on both engines, is what Python's re.search finds."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.patterns import log_pattern
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.texts import groups_of, with_groups
from tests.spark_stats.conftest import Run

#: Parts of patterns, without groups that have names.
PARTS = (
    "a", "b", "é", "ß", "[ ]", r"\d", r"\w", r"\s", r"\S", r"\D", r"\W", ".", "[ab]", "[^a]", r"[\w-]", r"[^\s\]]",
    r"[a-é]", r"[\d.]", r"[^\W\d]", r"[^\D]", r"\.", r"\[", r"\"", "(?:a|b)", "(?:ab|a)", "(?:a|bc|)", "(x)", "٣",
    r"(?:[^\"\\]|\\.)", r"\x41", r"\u00e9", "(?i:aé)", "^", "$", r"\A", r"\Z",
)  # fmt: skip
REPEATS = ("", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{,2}", "{2,}?")
LETTERS = 'aabbbcéÉßẞxA019٣ \t.-[]"\\_\u00a0\u2028İкС/:'


def random_pattern(random: Random) -> str:
    """Return a pattern with one or two named groups."""
    body = []
    for name in ("x", "y")[: random.choice((1, 2, 2))]:
        inner = "".join(_part(random) for _ in range(random.randint(1, 3)))
        body += [
            *(_part(random) for _ in range(random.randint(0, 2))),
            f"(?P<{name}>{inner})" + random.choice(("", "", "?")),
        ]
    flags = random.choice(("", "", "", "(?i)", "(?a)", "(?x)", "(?s)"))
    return flags + "".join(body)


def _part(random: Random) -> str:
    part = random.choice(PARTS)
    return part if part in ("^", "$", r"\A", r"\Z") else part + random.choice(REPEATS)


def groups_in(pattern: str, texts: list[str]) -> list[dict[str, str] | None]:
    """Return what is found in each text by the function that the engines call."""
    known = log_pattern(pattern)
    found = groups_of(known, tuple(known.groups.values()))(pa.array(texts, pa.string()))
    return [row and dict(zip(known.names, row.values(), strict=True)) for row in found.to_pylist()]


def groups_of_python(pattern: str, texts: list[str]) -> list[dict[str, str] | None]:
    matches = [re.search(pattern, text) for text in texts]
    return [m and {n: g or "" for n, g in m.groupdict().items()} for m in matches]


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_those_of_python(seed: int) -> None:
    """A batch of which all is ASCII is read by an expression of its own."""
    random = Random(seed)
    folded = set("İßẞ")  # letters whose case differs from one table to another
    for _ in range(60):
        pattern = random_pattern(random)
        texts = ["".join(random.choices(LETTERS, k=random.randint(0, 12))) for _ in range(60)]
        texts = [text for text in texts if "(?i" not in pattern or not folded & set(text)]
        for batch in (texts, [text for text in texts if text.isascii()]):
            assert groups_in(pattern, batch) == groups_of_python(pattern, batch), (pattern, batch)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("(?P<x>(?:a+)+)$", None), ("(?P<x>a*a*a*a*)b", "a" * 100_000), ("(?P<x>.*.*.*)=", None),
     ("((a|aa)+)(?P<x>c)", None), ("(?P<x>(?:a|b|ab)*)!", "a" * 100_000 + "b")],
)  # fmt: skip
def test_patterns_that_explode_elsewhere(pattern: str, found: str | None) -> None:
    """Ambiguous repeats take linear time, on long lines too; on short ones they find what Python finds."""
    short = ["a" * n + end for n in (0, 3, 9) for end in ("", "b", "c", "=", "!")]
    assert groups_in(pattern, short) == groups_of_python(pattern, short)
    long = "a" * 100_000 + "b!"
    assert groups_in(pattern, [long]) == groups_in(pattern, [long, "ü"])[:1] == [found and {"x": found}]


@pytest.mark.spark
def test_the_engines_find_the_same(session: Session) -> None:
    from pyspark.sql import functions as F

    texts = ["a" * 30 + "b", "xa", "üa", "", None, "a" * 1_000_000, "b" + "a" * 1_000_000 + "c"]
    frame = session.spark.createDataFrame(list(enumerate(texts)), "position int, value string")
    known = log_pattern("(?P<x>b)?(?P<y>(a+)+)$")
    frame, found, groups = with_groups(frame, F.col("value"), known, known.groups, "groups")
    rows = frame.select("position", found, groups["x"], groups["y"]).orderBy("position").collect()
    nothing = (False, None, None)
    assert [tuple(row)[1:] for row in rows] == [
        nothing, (True, "", "a"), (True, "", "a"), nothing, nothing, (True, "", texts[5]), nothing
    ]  # fmt: skip


@pytest.mark.slow
def test_spark_takes_lines_that_are_not_utf8(run: Run, session: Session, tmp_path: Path) -> None:
    if session.kind == "sail":
        pytest.skip("refused by Sail")
    log = tmp_path / "a.log"
    log.write_bytes(b"2024-01-01T00:00:00Z a\n2024-01-01T00:00:01Z \xff\n2024-01-01T00:00:02Z \xc3\xbc\n")
    options: dict[str, Any] = {"time_columns": ("t",), "key_columns": ("k",), "operator": "o", "key_groups": 8}
    stats = run(log, input_format="regex", pattern=r"^(?P<t>\S+) (?P<k>.+)", max_rejects=0.4, **options)
    assert stats.manifest["rows_read"] == 3
    assert [row["reason"] for row in stats.rejects()] == ["not UTF-8"]


@pytest.mark.spark
def test_a_log_of_lines_that_explode(run: Run, tmp_path: Path) -> None:
    """Neither the engine nor the look at the first line for its time tries what Python's own engine would."""
    log = tmp_path / "a.log"
    log.write_text(f"{'a' * 30}b\n" * 3 + "2024-01-01T00:00:00Z aaa\n")
    options: dict[str, Any] = {"time_columns": ("t",), "key_columns": ("k",), "operator": "o", "key_groups": 8}
    stats = run(log, input_format="regex", pattern="^(?P<t>[0-9TZ:-]* ?)(?P<k>(a+)+)$", max_rejects=0.8, **options)
    assert (stats.manifest["rows_read"], stats.manifest["rows_rejected"]) == (4, 3)


COMBINED = (
    r'^(?P<host>\S+) \S+ \S+ \[(?P<when>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?P<size>\d+|-)'
)
LINES = [
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?x=\\"1\\" HTTP/1.0" 200 2326 "-" "Mozilla/4.08"',
    '10.0.0.7 - - [10/Oct/2000:20:56:36 +0000] "POST /b HTTP/1.1" 503 -',
    "not a line of the log",
    '10.0.0.8 - ü [10/Oct/2000:20:57:01 +0000] "GET /ü HTTP/1.1" 200 17',
    f'10.0.0.8 - - [10/Oct/2000:20:57:02 +0000] "GET /{"x" * 20_000} HTTP/1.1" 200 3',
]


@pytest.mark.spark
def test_an_access_log(run: Run, tmp_path: Path) -> None:
    """Times of the common log format are found by looking; what does not match is kept with the reason."""
    log = tmp_path / "access.log.zst"
    log.write_bytes(pa.compress("\r\n".join(LINES).encode(), codec="zstd", asbytes=True))
    options: dict[str, Any] = {"input_format": "regex", "pattern": COMBINED, "operator": "requests"}
    options |= {"time_columns": ("when",), "key_columns": ("host",), "key_groups": 8, "max_rejects": 0.5}
    stats = run(log, **options, bytes_column="size")
    assert (stats.manifest["rows_read"], stats.manifest["rows_rejected"]) == (5, 2)
    rows = stats.rows("key_groups", "window_start", "bytes")
    assert sorted((start.isoformat(), size) for start, size in rows) == [
        ("2000-10-10T20:55:00+00:00", 2326.0),
        ("2000-10-10T20:57:00+00:00", 20.0),
    ]
    rejects = {row["reason"]: row["row"][:40] for row in stats.rejects()}
    reasons = ("not as --pattern says", "size no number from 0 up")
    assert rejects == dict(zip(reasons, (line[:40] for line in (LINES[2], LINES[1])), strict=True))
    assert stats.manifest.get("warnings") is None


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?P<x>a", "missing ), unterminated subpattern at character 1"),
        ("(?P<x>a)[b-a]", "bad character range b-a at character 10"),
        ("(?P<x>a)*+", "possessive repeat"),
        ("(?P<x>a)(?=b)", "lookahead"),
        ("(?<!a)(?P<x>b)", "lookbehind"),
        ("(?P<x>a)(?P=x)", "reference to a group"),
        (r"(?P<x>a)\b", r"holds \b: RE2"),
        ("(?P<x>a)(?(x)b|c)", "a condition"),
        ("(?P<x>(?>a+))", "atomic group"),
        ("(?P<x>a)(?!)", "lookahead"),
        ("(a)", "names no group"),
        ("(?P<x>a{5000})", "more than 1,000 times"),
        ("(?P<x>(a{500}){3})", "RE2, which reads the lines, does not take '(?P<x>(a{500}){3})': invalid repetition"),
        (r"(?P<x>\w{1000})", "pattern too large"),
        ("(?P<x>a)(?P<x>b)", "redefinition of group name 'x'"),
        (r"(?P<x>\d)(?a:\d)", "holds for a part only"),
        ("(" * 5000, "nested too deeply"),
    ],
)
def test_what_no_engine_takes_is_one_line(pattern: str, said: str) -> None:
    with pytest.raises(FtplanError) as caught:
        LogMapping(input_format="regex", pattern=pattern, time_columns=("x",), operator="o")
    assert said in str(caught.value)
    assert str(caught.value).startswith("--pattern")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"input_format": "regex"}, "--input-format regex needs --pattern"),
        ({"input_format": "csv", "pattern": "(?P<x>a)"}, "--pattern is for --input-format regex"),
        ({"input_format": "regex", "pattern": "(?P<y>a)"}, "no group 'x'; it has y"),
        ({"input_format": "regex", "pattern": "(?P<xx>a)"}, "no group 'x' (did you mean 'xx'?)"),
        ({"year": 0}, "--year: 0"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], said: str) -> None:
    with pytest.raises(FtplanError) as caught:
        LogMapping(time_columns=("x",), operator="o", **options)
    assert said in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='(?P<x>)[]{}|*+-^$\\dwsbB.:=!,019aé"i', max_size=24))
def test_any_text_is_a_pattern_or_one_line(text: str) -> None:
    """What is written for the engines is an expression of Python too, which finds the same."""
    try:
        known = log_pattern(text)
    except FtplanError:
        return
    again = re.sub(r"\\x\{([0-9a-f]+)\}", lambda m: f"\\U{int(m[1], 16):08x}", known.expression)
    if "\\p" not in again and "\\P" not in again:
        again = again.replace(r"\z", r"\Z")
        for line in ("", "a", "xé1", 'b"\\ 9', "(P<x>)[]{}"):
            first, second = re.search(text, line), re.search(again, line)
            assert (first and first.span()) == (second and second.span()), known.expression
