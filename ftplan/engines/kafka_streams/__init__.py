"""Kafka Streams: ``Topology.describe()`` and Kafka's tools; and the properties that peer rings become.

An operator is a sub-topology, whose processors run as one task for each partition that it reads; tasks are key groups
too, since its stores are divided in the same way. Repartition topics are the edges.

::

    importer    a description, and beside it sizes of changelogs and the members of the group
    tools       what describe(), kafka-log-dirs and kafka-streams-groups print
    exporter    num.standby.replicas and rack.aware.assignment.*, with the tag of each instance

A description has neither numbers of partitions nor rates: ``--partitions`` or the tools say the first, nothing the
second. State is what changelogs take on brokers' disks. Sizes over time are a log of :mod:`ftplan.engines.kafka`.
Kafka Streams assigns tasks itself; it cannot be told which instance runs which.
"""
