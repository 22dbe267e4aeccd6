"""``python benchmarks/reproduce [NAME ...] [--quick] [-o DIR]``: see command.py."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # benchmarks/, where this package and the scripts stand

from reproduce.command import main  # noqa: E402

main()
