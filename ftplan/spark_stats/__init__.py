"""Statistics from logs with PySpark: the only part that knows Spark."""
