"""The formats of logs, by the names of ``--input-format``; the command line takes them from here, without numpy."""

from __future__ import annotations

from typing import Literal, get_args

InputFormat = Literal[
    "auto", "parquet", "csv", "jsonl", "regex",
    "spark-eventlog", "flink-rest", "flink-slf4j", "kafka-log-dirs", "prometheus",
]  # fmt: skip

INPUT_FORMATS: tuple[str, ...] = get_args(InputFormat)
#: Formats whose columns the user names; all others are engines' logs, whose columns ftplan knows.
NAMED_COLUMNS = ("auto", "parquet", "csv", "jsonl", "regex")
