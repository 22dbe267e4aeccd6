"""The measures of load that statistics may have. Importing this loads nothing else."""

from __future__ import annotations

from typing import Literal, get_args

Measure = Literal["records", "bytes", "cpu_ms"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
