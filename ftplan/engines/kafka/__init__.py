"""Apache Kafka: the disks of brokers as a log of state, and checkpoint allocations as a reassignment of partitions.

A key group is a partition of a changelog topic, APPLICATION-STORE-changelog; nodes are brokers.

::

    log_dirs    kafka-log-dirs.sh --describe, one snapshot or many: bytes of each partition, over time
    exporter    checkpoint copies as the JSON of kafka-reassign-partitions

Kafka does not know which operator a store belongs to: a topology that was imported from Kafka Streams says it. It says
nothing of records or cores.
"""
