"""Statistics from logs with PySpark: sessions, passes over a log, and the folder of tables."""
