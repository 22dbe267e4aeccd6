"""The result of what-if cases: their rows with what they say together, as a document, a table or a frame."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn, canonical_json
from ftplan.reports.answer import csv_cell
from ftplan.version import __version__
from ftplan.what_if.annotations import ANNOTATIONS, union
from ftplan.what_if.runner import CaseRows
from ftplan.what_if.summary import SummaryRequest, summary, unmet_limits

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ftplan.what_if.cases import WhatIfCases

Form = Literal["json", "csv", "parquet"]
FORMS: dict[str, Form] = {"": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}

_DTYPES = {"number": "float64", "whole": "Int64", "flag": "boolean", "text": "object"}


def form_of(output: str | os.PathLike[str]) -> Form:
    """Return how a file is written, by the end of its name; without one, and on standard output, as JSON.

    Raises FtplanError if it is another one.
    """
    name = os.fspath(output)
    form = FORMS.get(os.path.splitext(name)[1].lower())
    if form is None:
        raise FtplanError(f"-o {name}: expected a name that ends in .json, .csv or .parquet")
    return form


@dataclass(frozen=True)
class WhatIfResult:
    """The rows of what-if cases, and what was asked of them."""

    cases: WhatIfCases
    rows: CaseRows
    asked: SummaryRequest = field(default_factory=SummaryRequest)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the rows say together, see :func:`ftplan.what_if.summary.summary`."""
        return summary(self.cases, self.rows.rows, self.asked)

    @cached_property
    def unmet(self) -> tuple[str, ...]:
        """A sentence for each limit that a case misses."""
        return unmet_limits(self.cases, self.rows.rows, self.asked.limits)

    @property
    def missing(self) -> tuple[str, ...]:
        """The ids of the cases that were not done in time."""
        return tuple(self.cases.case(number).id for number in self.rows.missing)

    @property
    def warnings(self) -> tuple[Warn, ...]:
        """What deserves a second look in the what-if file, and what the answers of cases warn of."""
        return (*self.cases.warnings, *(Warn(entry["code"], entry["message"]) for entry in self.together["warnings"]))

    @cached_property
    def together(self) -> dict[str, list[dict[str, Any]]]:
        """What the answers of all rows state beside their figures, by field: each code once."""
        names = [str(row["case"]) for row in self.rows.rows]
        return {
            field: union(zip(names, (said.get(field, ()) for said in self.rows.annotations), strict=True), sentence)
            for field, sentence in ANNOTATIONS.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the document of format ``ftplan/what-if-result``."""
        return {
            "format": "ftplan/what-if-result",
            "format_version": "1.0",
            "tool_version": __version__,
            "name": self.cases.name,
            "command": self.cases.command,
            "kind": self.cases.kind,
            "fingerprint": self.cases.fingerprint,
            "base": self.cases.case(0).id,
            "measures": list(self.cases.measures),
            "swept": list(self.cases.swept),
            "columns": [asdict(column) for column in self.cases.columns],
            "rows": list(self.rows.rows),
            "missing": list(self.missing),
            "summary": self.summary,
            "unmet": list(self.unmet),
            "warnings": [*(warning.to_dict() for warning in self.cases.warnings), *self.together["warnings"]],
            "row_warnings": [list(said.get("warnings", ())) for said in self.rows.annotations],
            "assumptions": self.together["assumptions"],
            "row_assumptions": [list(said.get("assumptions", ())) for said in self.rows.annotations],
        }

    def to_json(self) -> str:
        """Return the document as text: equal cases, equal text."""
        return canonical_json(self.to_dict())

    def to_csv(self) -> str:
        """Return the rows as CSV with a header; a value that is missing is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [column.name for column in self.cases.columns]
        writer.writerow(map(csv_cell, names))
        writer.writerows([csv_cell(_shown(row[name])) for name in names] for row in self.rows.rows)
        return text.getvalue()

    def to_arrow(self) -> pa.Table:
        """Return the rows as a table, a column each of :attr:`WhatIfCases.columns`."""
        import pyarrow as pa

        types = {"number": pa.float64(), "whole": pa.int64(), "flag": pa.bool_(), "text": pa.string()}
        schema = pa.schema([(column.name, types[column.type]) for column in self.cases.columns])
        return pa.Table.from_pylist(list(self.rows.rows), schema=schema)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame, a column each of :attr:`WhatIfCases.columns`, the base first."""
        import pandas as pd

        columns = {
            column.name: pd.Series([row[column.name] for row in self.rows.rows], dtype=_DTYPES[column.type])
            for column in self.cases.columns
        }
        return pd.DataFrame(columns)

    def data(self, form: Form) -> bytes:
        """Return what a file of a form holds: the rows, in JSON with all that is said of them."""
        if form == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            sink = pa.BufferOutputStream()
            pq.write_table(self.to_arrow(), sink)
            return bytes(sink.getvalue())
        return (self.to_csv() if form == "csv" else self.to_json()).encode()


def _shown(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
