"""The command line: click and rich, no logic."""
