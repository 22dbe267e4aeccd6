"""Key logs: what is read, and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ftplan.errors import FtplanError
from ftplan.io.key_log_file import load_key_log

ROWS = {"operator": ["b", "a", "a"], "key": ["x", "y", "007"], "records": [1.0, 2.5, 3.0], "other": [1, 2, 3]}


def read(path: Any) -> dict[str, tuple[list[Any], list[float]]]:
    log = load_key_log(path)
    return {name: (keyed.keys.to_pylist(), keyed.records.to_pylist()) for name, keyed in log.by_operator.items()}


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow", "pandas", "list"])
def test_all_forms_are_read_alike(tmp_path: Path, form: str) -> None:
    table, source = pa.table(ROWS), tmp_path / "keys"
    given: Any = source
    if form == "parquet":
        pq.write_table(table, source)
    elif form == "csv":
        source.write_text(pd.DataFrame(ROWS).to_csv(index=False))
    else:
        given = {"arrow": table, "pandas": pd.DataFrame(ROWS), "list": table.to_pylist()}[form]
    assert read(given) == {"a": (["y", "007"], [2.5, 3.0]), "b": (["x"], [1.0])}


def test_numbers_keep_their_width(tmp_path: Path) -> None:
    for kind, kept in ((pa.int64(), pa.int64()), (pa.int16(), pa.int32()), (pa.uint32(), pa.int64())):
        table = pa.table({"operator": ["a"], "key": pa.array([7], kind), "records": [1]})
        assert load_key_log(table).by_operator["a"].keys.type == kept


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"operator,key\na,x\n", "has no column 'records'; expected operator, key, records"),
        (b"operator,keys,records\na,x,1\n", "has no column 'key' (did you mean 'keys'?)"),
        (b"operator,key,records\na,x,-1\n", "row 1: records: is -1.0; expected a number from 0 up"),
        (b"operator,key,records\na,x,1\na,y,\n", "row 2: records: is None; expected a number from 0 up"),
        (b"operator,key,records\na,x,many\n", "records: Failed to parse string: 'many'"),
        (b"operator,key,records\n", "has no rows with an operator and a key"),
        (b"operator,key,records\na,x\n", "is no readable Parquet or CSV file"),
        (b"operator,key,records\na,\xff,1\n", "UTF8"),
        (b"PAR1 cut short", "is no readable Parquet or CSV file"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "keys.csv"
    path.write_bytes(content)
    with pytest.raises(FtplanError) as raised:
        load_key_log(path)
    message = str(raised.value)
    assert said in message
    assert "\n" not in message
    assert len(message) < 400


def test_other_types_are_refused() -> None:
    with pytest.raises(FtplanError, match="key: is of type double; expected text or whole numbers"):
        load_key_log(pa.table({"operator": ["a"], "key": [1.5], "records": [1]}))
