"""Two queries of Su & Zhou (ICDE 2016), section VI-B, run on PySpark without the tasks that have no replica.

``top_k`` finds the commonest keys of a log, ``incidents`` joins made-up traffic with reported incidents. One run
measures the rates, from which planners choose replicas; a second one drops what passes a task without a replica, for
all sets of replicas together. Accuracy is the part of the entries of all windows that is left; ``judging`` compares it
with output fidelity, key-aligned fidelity and internal completeness. ``lanes`` has what both queries share.
"""
