"""The job of the drill, sent to a cluster: run by the environment that has apache-flink, not by ftplan's own.

``python job.py HOST:PORT FOLDER INTERVAL_S``: reads the files that appear in FOLDER, asks a service about each order,
counts by customer, and prints how many orders it has read in all.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyflink
from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udf

#: Seconds that the service takes for an order. A task asks for one after the other, so that this, and not how busy the
#: machine is, decides what the job can read: 4 tasks read up to 4,000 orders/s.
SERVICE_S = 0.001


@udf(result_type="BIGINT")
def priced(amount: int) -> int:
    """Ask the service for the price of an order."""
    import time

    time.sleep(SERVICE_S)
    return amount * 2


def main(address: str, folder: str, interval_s: float) -> None:
    """Send the job, and print its id."""
    os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112  # so that it is not this process
    host, port = address.split(":")
    jar = next((Path(pyflink.__file__).parent / "opt").glob("flink-python-*.jar"))
    configuration = Configuration()
    for key, value in {
        "execution.target": "remote",
        "execution.attached": "false",
        "rest.address": host,
        "rest.port": port,
        "pipeline.name": "orders",
        "pipeline.jars": jar.as_uri(),
        "parallelism.default": "4",
        "execution.checkpointing.interval": f"{round(interval_s * 1000)} ms",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "200 ms",
        "table.exec.mini-batch.size": "5000",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "python.execution-mode": "thread",
    }.items():
        configuration.set_string(key, value)
    tables = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())
    tables.create_temporary_function("priced", priced)
    tables.execute_sql(
        "CREATE TABLE orders (customer BIGINT, amount BIGINT, note STRING) WITH ('connector' = 'filesystem', "
        f"'path' = 'file://{folder}', 'format' = 'csv', 'source.monitor-interval' = '250 ms')"
    )
    tables.execute_sql(
        "CREATE TABLE customers (customer BIGINT, orders BIGINT, total BIGINT, note STRING) "
        "WITH ('connector' = 'blackhole')"
    )
    tables.execute_sql("CREATE TABLE progress (orders BIGINT) WITH ('connector' = 'print')")
    tables.execute_sql("CREATE VIEW priced_orders AS SELECT customer, priced(amount) AS price, note FROM orders")
    statements = tables.create_statement_set()
    statements.add_insert_sql(
        "INSERT INTO customers SELECT customer, COUNT(*), SUM(price), LAST_VALUE(note) FROM priced_orders "
        "GROUP BY customer"
    )
    statements.add_insert_sql("INSERT INTO progress SELECT COUNT(note) FROM priced_orders")
    print(statements.execute().get_job_client().get_job_id())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
