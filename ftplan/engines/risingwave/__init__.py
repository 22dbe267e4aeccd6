"""RisingWave: fragment graphs, from ``EXPLAIN (DISTSQL)`` or ``stream_dist_plan`` of its planner's tests.

An operator is a fragment, which runs as actors; its state lies in virtual nodes, which are its key groups. A plan alone
has neither rates nor hosts nor the number of actors: ``--parallelism`` says that, and 256 virtual nodes are assumed.
There is an ``importer`` only.
"""
