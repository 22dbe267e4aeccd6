"""``python -m ftplan``: the same as ``ftplan``."""

from ftplan.cli.main import main

main()
