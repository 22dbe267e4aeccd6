"""The job of the drill, sent to a cluster: run by the environment that has apache-flink, not by ftplan's own.

``python job.py HOST:PORT FOLDER INTERVAL_S JAR [totals]``: reads the files that appear in FOLDER, asks a service about
each order (``Priced`` in JAR), counts by customer, and prints how many orders it has read in all. With ``totals`` it
asks about the new total of each customer instead, in the tasks that keep these. A task asks the service for one after
the other: this, and not how busy the machine is, decides what the job can read.
"""

from __future__ import annotations

import sys

from pyflink.common import Configuration
from pyflink.table import EnvironmentSettings, TableEnvironment

#: By what the service is asked about.
QUERIES = {
    "orders": "SELECT customer, COUNT(*), SUM(priced(amount)), LAST_VALUE(note) FROM orders GROUP BY customer",
    "totals": "SELECT customer, orders, priced(total), note FROM (SELECT customer, COUNT(*) AS orders, "
    "SUM(amount) AS total, LAST_VALUE(note) AS note FROM orders GROUP BY customer)",
}


def main(address: str, folder: str, interval_s: float, jar: str, what: str = "orders") -> None:
    """Send the job, and print its id."""
    host, port = address.split(":")
    configuration = Configuration()
    for key, value in {
        "execution.target": "remote",
        "execution.attached": "false",
        "rest.address": host,
        "rest.port": port,
        "pipeline.name": "orders",
        "parallelism.default": "4",
        "execution.checkpointing.interval": f"{round(interval_s * 1000)} ms",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "200 ms",
        "table.exec.mini-batch.size": "5000",
    }.items():
        configuration.set_string(key, value)
    tables = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())
    tables.execute_sql(f"CREATE TEMPORARY FUNCTION priced AS 'Priced' LANGUAGE JAVA USING JAR 'file://{jar}'")
    tables.execute_sql(
        "CREATE TABLE orders (customer BIGINT, amount BIGINT, note STRING) WITH ('connector' = 'filesystem', "
        f"'path' = 'file://{folder}', 'format' = 'csv', 'source.monitor-interval' = '250 ms')"
    )
    tables.execute_sql(
        "CREATE TABLE customers (customer BIGINT, orders BIGINT, total BIGINT, note STRING) "
        "WITH ('connector' = 'blackhole')"
    )
    tables.execute_sql("CREATE TABLE progress (orders BIGINT) WITH ('connector' = 'print')")
    statements = tables.create_statement_set()
    statements.add_insert_sql(f"INSERT INTO customers {QUERIES[what]}")
    statements.add_insert_sql("INSERT INTO progress SELECT COUNT(*) FROM orders")
    print(statements.execute().get_job_client().get_job_id())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), *sys.argv[4:])
