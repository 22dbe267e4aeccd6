"""How much of a query's answer do replicas save when all other tasks fail, and which measure predicts it?

Two queries of [SuZhou2016], section VI-B, really run on PySpark (``ftplan.spark_stats.tentative``): the commonest keys
of a log, and a join of made-up traffic with reported incidents. One run measures the rates, from which planners choose
replicas (``replica_sets``); a second one drops what passes a task without a replica, for all sets together. Accuracy is
the part of the entries of all windows that is left; output fidelity, key-aligned fidelity and internal completeness are
ranked by how well they predict it, by rank correlation and by error.

``simulate`` prepares the ``scene`` (the query, its tasks and lanes, and as a topology), starts the query, and judges
the sets; ``outcome`` has accuracy and the ranking of measures.

Held against: counting by hand, other engines, and figures 12 and 13 of the paper (``benchmarks/tentative_output.py``).
"""
