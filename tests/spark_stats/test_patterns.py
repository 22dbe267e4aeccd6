"""Text logs by a pattern: what both engines find is what Python's re.search finds."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.patterns import LONGEST_LINE, log_pattern
from ftplan.spark_stats.texts import with_groups
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


@pytest.mark.spark
def test_groups_are_those_of_python(session: Any) -> None:
    from pyspark.sql import functions as F

    random = Random(11)
    patterns = [random_pattern(random) for _ in range(16)]
    texts = ["".join(random.choices(LETTERS, k=random.randint(0, 12))) for _ in range(120)]
    frame = session.spark.createDataFrame(list(enumerate(texts)), "position int, value string")
    columns = []
    for i, pattern in enumerate(patterns):
        known = log_pattern(pattern)
        frame, found, groups = with_groups(frame, F.col("value"), known.whole, known.groups, f"groups{i}")
        columns.append(F.struct(found.alias("found"), *(g.alias(n) for n, g in groups.items())).alias(f"p{i}"))
    rows = {row["position"]: row for row in frame.select("position", *columns).collect()}
    folded = ("İ", "ß", "ẞ")  # letters whose case differs from one table to another
    for i, pattern in enumerate(patterns):
        for position, text in enumerate(texts):
            if "(?i" in pattern and any(letter in text for letter in folded):
                continue
            match, row = re.search(pattern, text), rows[position][f"p{i}"]
            expected = {n: g or "" for n, g in match.groupdict().items()} if match else None
            got = {n: row[n] for n in log_pattern(pattern).names} if row["found"] else None
            assert got == expected, (pattern, text, log_pattern(pattern).expression)


COMBINED = (
    r'^(?P<host>\S+) \S+ \S+ \[(?P<when>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?P<size>\d+|-)'
)
LINES = [
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?x=\\"1\\" HTTP/1.0" 200 2326 "-" "Mozilla/4.08"',
    '10.0.0.7 - - [10/Oct/2000:20:56:36 +0000] "POST /b HTTP/1.1" 503 -',
    "not a line of the log",
    '10.0.0.8 - ü [10/Oct/2000:20:57:01 +0000] "GET /ü HTTP/1.1" 200 17',
    f'10.0.0.9 - - [10/Oct/2000:20:57:02 +0000] "GET /{"x" * LONGEST_LINE} HTTP/1.1" 200 3',
]


@pytest.mark.spark
def test_an_access_log(run: Run, tmp_path: Path) -> None:
    """Times of the common log format are found by looking; what does not match is kept with the reason."""
    log = tmp_path / "access.log.zst"
    log.write_bytes(pyarrow.compress("\r\n".join(LINES).encode(), codec="zstd", asbytes=True))
    options: dict[str, Any] = {"input_format": "regex", "pattern": COMBINED, "operator": "requests"}
    options |= {"time_columns": ("when",), "key_columns": ("host",), "key_groups": 8, "max_rejects": 0.7}
    stats = run(log, **options, bytes_column="size")
    assert (stats.manifest["rows_read"], stats.manifest["rows_rejected"]) == (5, 3)
    rows = stats.rows("key_groups", "window_start", "bytes")
    assert sorted((start.isoformat(), size) for start, size in rows) == [
        ("2000-10-10T20:55:00+00:00", 2326.0),
        ("2000-10-10T20:57:00+00:00", 17.0),
    ]
    rejects = {row["reason"]: row["row"][:40] for row in stats.rejects()}
    reasons = ("not as --pattern says", f"longer than {LONGEST_LINE:,} characters", "size no number from 0 up")
    assert rejects == dict(zip(reasons, (line[:40] for line in (LINES[2], LINES[4], LINES[1])), strict=True))
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
        (r"(?P<x>a)\b", r"holds \b, which not all"),
        ("(?P<x>a)(?(x)b|c)", "a condition"),
        ("(?P<x>(?>a+))", "atomic group"),
        ("(?P<x>a)(?!)", "lookahead"),
        ("(a)", "names no group"),
        ("(?P<x>a{5000})", "more than 1,000 times"),
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
        again = again.replace(r"\z", r"\Z").replace("(?iu:", "(?i:")
        for line in ("", "a", "xé1", 'b"\\ 9', "(P<x>)[]{}"):
            first, second = re.search(text, line), re.search(again, line)
            assert (first and first.span()) == (second and second.span()), known.expression
