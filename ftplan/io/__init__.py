"""Files in and out: topology, cluster, failure, statistics, plans; their schemas and fingerprints."""
