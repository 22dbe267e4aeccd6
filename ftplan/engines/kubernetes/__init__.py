"""Kubernetes: patches for the workloads of standbys, from replicas and checkpoint copies.

Nothing is read from it. The ``exporter`` writes, an operator a document, on which hosts standby pods may run, how they
spread, and that they keep away from the pods of their operator. Pods of a workload are alike: Kubernetes cannot be told
which pod runs which task.
"""
