"""Units of files and options, and the measures of load that statistics may have. Importing this loads nothing else."""

from __future__ import annotations

from typing import Literal, get_args

Measure = Literal["records", "bytes", "cpu_ms"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


#: Bytes of what names with ``_mb`` count in.
MB = 2.0**20
#: Cpu milliseconds that a core has in a second.
MS_PER_CORE_SECOND = 1000.0
