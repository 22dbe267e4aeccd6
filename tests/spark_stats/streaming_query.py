"""A Structured Streaming query with an event log, in a process of its own: ``streaming_query.py FOLDER``.

It counts records by key, a thousand new ones in each batch, keeps its checkpoint and its event log in FOLDER, and goes
on until FOLDER has a file ``stop``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def main(folder: Path) -> None:
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    builder = SparkSession.builder.master("local[2]").appName("counts")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    source = spark.readStream.format("rate-micro-batch").options(rowsPerBatch=1000, numPartitions=2).load()
    counts = source.groupBy((F.col("value") % 50).alias("key")).count()
    sink = counts.writeStream.queryName("counts").outputMode("update").format("noop")
    query = sink.option("checkpointLocation", str(folder / "checkpoint")).start()
    while query.isActive and not (folder / "stop").exists():
        time.sleep(0.05)
    failure = query.exception()
    query.stop()
    spark.stop()
    if failure is not None:
        raise failure


if __name__ == "__main__":
    main(Path(sys.argv[1]))
