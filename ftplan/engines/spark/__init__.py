"""Spark Structured Streaming: event logs, as a topology and as a log of load.

An operator is a stage, a task a partition; partitions of a shuffle are its key groups. Stages have new numbers in every
micro-batch: :mod:`.stages` gives what is the same stage one name, for importer and statistics alike.

::

    log_files   which files are one application, in which order; their lines, decompressed
    stages      one name for a stage over all batches
    importer    means over the time that the log covers
    event_log   a row for each operator, partition and batch, read with PySpark

An event log does not say whether a stage with several inputs joins them (its name may), and a partition has no place of
its own: where it ran last is taken. Logs that snappy or lzf packed are not read.
"""
