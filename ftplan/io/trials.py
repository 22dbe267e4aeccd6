"""Reading and writing of files, for ``ftplan doctor``."""

from __future__ import annotations

import io


def documents() -> str:
    """Read a topology from YAML, and hold it to its model."""
    import pydantic
    import yaml

    from ftplan.io.parsers import parse_yaml
    from ftplan.io.topology_model import TopologyModel

    text = "{format: ftplan/topology, format_version: 1, name: one, operators: [{id: a, parallelism: 1}], edges: []}"
    TopologyModel.model_validate(parse_yaml(text, "trial"))
    return f"pydantic {pydantic.VERSION}, PyYAML {yaml.__version__}"


def tables() -> str:
    """Write a table as Parquet, and read it back."""
    import pandas as pd
    import pyarrow

    table = pd.DataFrame({"key_group": [0, 1], "records": [3.0, 4.0]})
    sink = io.BytesIO()
    table.to_parquet(sink, engine="pyarrow")
    if not pd.read_parquet(io.BytesIO(sink.getvalue()), engine="pyarrow").equals(table):
        raise ValueError("a table that was written reads differently")
    return f"pandas {pd.__version__}, pyarrow {pyarrow.__version__}"
