"""Statistics from logs with PySpark: sessions, passes over a log, and the folder of tables.

The way of a log (``pipeline.py``): ``inputs.py`` finds its files, ``choice.py`` and ``session.py`` open Spark, Spark
Connect or Sail, ``readers.py`` reads one frame with a column for each field that ``mapping.py`` maps (an engine's own
format is read in ``engines/``), ``records.py`` makes records of rows or rejects them with a reason (``rejects.py``).
``passes.py`` sums records up by window, a pass for each table; ``tables.py`` makes the tables of these sums on the
driver, ``writers.py`` writes them: same input, same bytes. Only small aggregates leave the engine.

Times are ``times.py`` with ``time_formats.py``, keys and their groups ``key_groups.py`` with ``hashing.py``.
"""
