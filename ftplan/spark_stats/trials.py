"""A small job on each engine, for ``ftplan doctor``."""

from __future__ import annotations

from ftplan.spark_stats.choice import Engine, java_version
from ftplan.spark_stats.session import open_session


def spark() -> str:
    """Count on Apache Spark, in a JVM of this machine."""
    return f"{_counted('spark', 'local[1]')}, Java {java_version()}"


def sail() -> str:
    """Count on Sail, in this process."""
    return _counted("sail", None)


def _counted(engine: Engine, master: str | None) -> str:
    with open_session(engine, master) as session:
        found = session.spark.range(10).filter("id % 2 = 0").count()
        if found != 5:
            raise ArithmeticError(f"there are 5 even numbers below 10, it counts {found}")
        return session.engine
