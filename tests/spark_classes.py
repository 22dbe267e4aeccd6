"""Keep the classes of Spark as a JVM has them when it has read them: ``python -m tests.spark_classes FILE``.

A JVM that starts with such a file (class-data sharing) opens a session in half the processor time. A file that another
Java made, or one for another class path, is not used; without Java it is empty.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

#: Most of a short Spark run is compiling: the first compiler alone halves it. One thread is enough to collect garbage.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Where ``make`` keeps the file.
KEPT = Path(sys.prefix) / "spark-classes.jsa"


def options() -> str:
    """Return the options of the JVMs that tests start; a blank would end the name of the file."""
    usable = KEPT.exists() and KEPT.stat().st_size and " " not in str(KEPT)
    return f"{JAVA} -XX:SharedArchiveFile={KEPT} -Xlog:cds*=off" if usable else JAVA


def main(kept: Path) -> None:
    """Compute small statistics, and write the file where the JVM ends."""
    from ftplan.spark_stats.choice import LEAST_JAVA, java_version
    from ftplan.spark_stats.mapping import LogMapping
    from ftplan.spark_stats.pipeline import compute

    kept.unlink(missing_ok=True)  # the JVM makes it read-only
    kept.touch()
    if (java_version() or 0) < LEAST_JAVA:
        return
    part = kept.with_suffix(".part")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{JAVA} -XX:ArchiveClassesAtExit={part} -Xlog:cds*=off"
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with TemporaryDirectory() as name:
        folder, log = Path(name, "stats"), Path(name, "log.csv")
        folder.mkdir()
        log.write_text("at,key,task\n" + "".join(f"{at},k{at % 7},{at % 2}\n" for at in range(500)))
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        compute(LogMapping(time_columns=("at",), keys=(("op", ("key",)),), key_groups=16), [str(log)], folder=folder)
        process = SparkContext._gateway.proc
        spark.stop()
        process.stdin.close()
        process.wait()
    if part.exists():
        part.replace(kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
