"""Frozen data: topology, cluster, statistics, failure, plan. Numpy inside, no input or output."""
