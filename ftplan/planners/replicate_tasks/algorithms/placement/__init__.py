"""On which node each replica runs."""
