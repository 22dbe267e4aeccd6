"""Topologies, clusters, statistics and failures made from a few knobs and a seed, as the papers' experiments make them."""
